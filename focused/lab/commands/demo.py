"""``scrapy demo WEB``: write a generated web as WARC, with the files that go with it, or serve it on loopback."""

from __future__ import annotations

import argparse
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.running import command

if TYPE_CHECKING:
    from focused.lab.demo.web import GeneratedWeb


class Command(command.Command):
    """Generate a web."""

    usage = "[options] demo|hard|bulk"
    summary = "Generate a small web to try things on: write it as WARC, or serve it"
    details = (
        "Generates a web from a seed: demo (hosts, topics, navigation bars, redirects, traps), hard (only the position "
        "of a word says where a link leads) or bulk (many large pages). --out writes the WARC file, and beside it "
        "labels, examples, topics and a topic file for 'scrapy crawl focused -a topic=FILE.toml'."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--out", type=_warc, metavar="FILE.warc.gz", help="write the web, and the files that belong to it")
        add("--serve", action="store_true", help="serve the web, as a proxy for all its hosts, until Ctrl-C")
        add("--port", type=command.port, default=0, help="port to serve it on (default: a free one)")
        pages = "number of pages, roughly (default: the web's usual size)"
        add("--pages", type=command.whole_number(0), default=0, metavar="N", help=pages)
        add("--seed", type=int, default=0, metavar="N", help="another seed gives another web (default: 0)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.lab.demo.files import write_web
        from focused.lab.demo.webs import WEBS, make_web

        if len(args) != 1 or args[0] not in WEBS:
            given = " ".join(args) or "nothing"
            raise UsageError(f"which web? Choose one of {', '.join(WEBS)} (given: {given})")
        if not (opts.out or opts.serve):
            raise UsageError("nothing to do: --out FILE.warc.gz writes the web, --serve serves it")
        web = make_web(args[0], pages=opts.pages, seed=opts.seed)
        if opts.out:
            try:
                print("\n".join(map(str, write_web(web, opts.out))))
            except OSError as error:
                raise ValueError(f"--out {str(opts.out)!r}: {error.strerror}") from error
        if opts.serve:
            try:
                _serve(web, opts.port)
            except OSError as error:
                raise ValueError(f"--port {opts.port}: {error.strerror}") from error


def _warc(text: str) -> Path:
    if not text.endswith((".warc", ".warc.gz")):
        raise argparse.ArgumentTypeError(f"{text!r}: give a name that ends in .warc.gz or .warc")
    return Path(text)


def _serve(web: GeneratedWeb, port: int) -> None:
    from focused.lab.site.server import SiteServer

    with SiteServer(web.pages, port=port) as site:
        first = next(iter(web.classes))
        try:
            # Whoever reads this line may end us before print is through.
            print(f"http_proxy={site.url} serves {len(web.pages)} addresses, such as {first}", flush=True)
            Event().wait()
        except KeyboardInterrupt:
            print(f"{len(site.visits)} requests answered")
