"""``scrapy crawl``, which ends with a summary and with an exit code that says whether the crawl went well."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.utils.log import get_scrapy_root_handler

from focused.files import check_room
from focused.running.command import program

logger = logging.getLogger(__name__)

_OURS = "focused"
_FAILED = 1


class Command(ScrapyCrawl):
    """Scrapy's own command; after a crawl with a topic it says what came of it."""

    requires_project = False

    def syntax(self) -> str:
        return "[options] [SPIDER]"

    def short_desc(self) -> str:
        return "Run a spider; by default 'focused', which collects the pages on a topic"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.usage = f"{program()} crawl {self.syntax()}"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse a log for which there is no room: what it should say would be said nowhere."""
        super().process_options(args, opts)
        assert self.settings
        name = self.settings["LOG_FILE"]
        if name and self.settings["LOG_ENABLED"]:
            try:
                check_room(Path(name))
            except OSError as error:
                raise UsageError(f"LOG_FILE: {error}", print_help=False) from error

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        process = self.crawler_process
        assert process
        names = process.spider_loader.list()
        if len(args) > 1:
            raise UsageError(f"name one spider, not {len(args)}: {' '.join(args)}", print_help=False)
        name = args[0] if args else _OURS
        if name not in names:
            raise UsageError(f"there is no spider {name!r} (available: {', '.join(names)})", print_help=False)
        crawler = process.create_crawler(name)
        process.crawl(crawler, **opts.spargs)
        process.start()
        self.exitcode = _FAILED if process.bootstrap_failed else self._report(crawler)

    def _report(self, crawler: Crawler) -> int:
        """The reason in the last line; a code that says whether it went well."""
        from focused.extensions.progress import summary
        from focused.outputs import NOT_WRITTEN
        from focused.running.ending import failure_of
        from focused.starting import refusal_of, topic_of

        if topic_of(crawler) is None and not refusal_of(crawler):
            return 0
        stats = crawler.stats
        reason = stats.get_value("finish_reason")
        if reason is None:
            when = "twice, before everything was written" if stats.get_value("start_time") else "before it had begun"
            return self._end(_FAILED, f"interrupted {when}: run the same command again")
        code, words = failure_of(crawler)
        if refusal_of(crawler) and _log_ends_with_errors():
            return code
        if code:
            return self._end(code, words)
        print(summary(stats.get_stats()), file=sys.stderr)
        return _FAILED if stats.get_value(NOT_WRITTEN) else 0

    def _end(self, code: int, words: str) -> int:
        if self.settings and self.settings["LOG_FILE"] and code == _FAILED:
            # Who reads the log alone, as on scrapyd, must find the reason there.
            logger.error("%s", words)
        print(words, file=sys.stderr)
        return code


def _log_ends_with_errors() -> bool:
    """Has the user seen the error of a refused crawl, and nothing after it? (At DEBUG much comes after it.)"""
    handler = get_scrapy_root_handler()
    if not isinstance(handler, logging.StreamHandler):
        return False
    return handler.stream is sys.stderr and logging.DEBUG < handler.level <= logging.ERROR
