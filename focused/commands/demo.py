"""``scrapy demo WEB``: write a generated web as WARC, with the files that go with it, or serve it on loopback."""

from __future__ import annotations

import argparse
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from focused.lab.demo.web import GeneratedWeb


class Command(ScrapyCommand):
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        from focused.lab.demo.webs import WEBS

        return f"[options] {'|'.join(WEBS)}"

    def short_desc(self) -> str:
        return "Make a small web to try things on: write it as WARC, or serve it"

    def long_desc(self) -> str:
        return (
            "Makes a web that is invented from a seed: demo (hosts, topics, navigation bars, redirects, traps), hard "
            "(only the place of a word tells what a link leads to) or bulk (many large pages). --out writes the WARC, "
            "and beside it labels, examples, topics and a topic file for `scrapy crawl focused -a topic=FILE.toml`."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--out", type=Path, metavar="FILE.warc.gz", help="write the web, and what goes with it")
        parser.add_argument("--serve", action="store_true", help="serve it, as a proxy for all its hosts, until Ctrl-C")
        parser.add_argument("--port", type=int, default=0, help="port to serve it on (default: any free one)")
        parser.add_argument("--pages", type=int, default=0, help="about how many pages (default: the web's own size)")
        parser.add_argument("--seed", type=int, default=0, help="another number gives another web (default: 0)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.lab.demo.files import write_web
        from focused.lab.demo.webs import WEBS, make_web

        if len(args) != 1 or args[0] not in WEBS:
            given = " ".join(args) or "nothing"
            raise UsageError(f"which web? Choose one of {', '.join(WEBS)} (given: {given})")
        if not (opts.out or opts.serve):
            raise UsageError("nothing to do: --out FILE.warc.gz writes the web, --serve serves it")
        if opts.out and not opts.out.name.endswith((".warc", ".warc.gz")):
            raise UsageError(f"--out {str(opts.out)!r}: a name that ends in .warc.gz (or .warc) is wanted")
        if opts.pages < 0:
            raise UsageError(f"--pages {opts.pages}: a number above 0 is wanted")
        if not 0 <= opts.port <= 65535:
            raise UsageError(f"--port {opts.port}: give a number up to 65535, or 0 for any free port", print_help=False)
        web = make_web(args[0], pages=opts.pages, seed=opts.seed)
        if opts.out:
            try:
                print("\n".join(map(str, write_web(web, opts.out))))
            except OSError as error:
                raise UsageError(f"--out {str(opts.out)!r}: {error.strerror}", print_help=False) from error
        if opts.serve:
            try:
                _serve(web, opts.port)
            except OSError as error:
                raise UsageError(f"--port {opts.port}: {error.strerror}", print_help=False) from error


def _serve(web: GeneratedWeb, port: int) -> None:
    from focused.testing.site import SiteServer

    with SiteServer(web.pages, port=port) as site:
        first = next(iter(web.classes))
        try:
            # Whoever reads this line may end us before print is through.
            print(f"http_proxy={site.url} serves {len(web.pages)} addresses, such as {first}", flush=True)
            Event().wait()
        except KeyboardInterrupt:
            print(f"{len(site.visits)} requests answered")
