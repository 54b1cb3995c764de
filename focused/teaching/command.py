"""What ``scrapy teach`` and ``scrapy judge`` share: pages are fetched as politely as in a crawl, or are recorded."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from scrapy.exceptions import UsageError

from focused.registry import UnknownName, check_name
from focused.running import command
from focused.running.loop import run_to_end
from focused.running.progress import page_progress, quieten

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from focused.pages.fetched import Fetched

T = TypeVar("T")


class PagesCommand(command.Command):
    """A command that needs pages."""

    requires_crawler_process = True
    default_settings: ClassVar[dict[str, Any]] = {}

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        critics = "combined, naive-bayes, logistic, keywords, lexical, or a dotted path (default: as the topic says)"
        parser.add_argument("--critic", default="", metavar="NAME", help=critics)
        parser.add_argument("--web", default="", metavar="WEB.warc.gz", help="take pages from a recorded web")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        quieten(self.settings)
        if opts.critic:
            try:
                check_name("critic", opts.critic)
            except UnknownName as error:
                raise UsageError(f"--critic: {error}", print_help=False) from error
            self.settings.set("FOCUSED_CRITIC", opts.critic, priority="cmdline")

    def run_crawls(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs crawls; Stopped if it was interrupted."""
        found = run_to_end(self.crawler_process, coroutine)
        # Scrapy's handler waits for a second Ctrl-C; there is no crawl any more that could end in good order.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return found

    def fetch(self, urls: Sequence[str], settings: Settings, *, web: str, what: str) -> Fetched:
        """Pages of a recorded web, or else of the network."""
        from focused.pages.fetched import Fetched  # noqa: PLC0415  # commands are listed without what is heavy
        from focused.responses import limits_of  # noqa: PLC0415
        from focused.spiders.examples import fetch_pages  # noqa: PLC0415
        from focused.teaching.gathering import pages_of_web  # noqa: PLC0415

        if not urls:
            return Fetched()
        if web:
            return pages_of_web(urls, web, limits_of(settings))
        with page_progress(what) as progress:
            return self.run_crawls(fetch_pages(urls, settings, runner=self.crawler_process, progress=progress))
