"""``scrapy crawl``, which says in one line what is wrong with a topic, and teaches its critic first if need be."""

from __future__ import annotations

import argparse
import logging
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_BAD_USE, _FAILED = 2, 1
# A crawl that ends for one of these reasons has not done what it was asked for.
_FAILURES = {"store_broken": _FAILED, "archive_broken": _FAILED, "job_refused": _BAD_USE, "start_error": _FAILED}


class Command(ScrapyCrawl):
    """Scrapy's own command for other spiders; for ours, checks before and an exit code after."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.frontier.store import StoreAway
        from focused.spiders.focused import FocusedSpider
        from focused.teaching.first import TeachingCrawler, topic_to_teach

        if args != [FocusedSpider.name]:
            self._run_other(args, opts)
            return
        assert self.crawler_process
        assert self.settings is not None
        try:
            topic = topic_to_teach(opts.spargs, self.settings)
        except ValueError as error:
            # A supervisor may try again when what is wrong is not what it was told to do.
            self._end(_FAILED if isinstance(error, StoreAway) else _BAD_USE, str(error))
            return
        process = self.crawler_process
        if topic:
            crawler: Crawler = TeachingCrawler(process.settings, topic, process, opts.spargs.get("critic", ""))
        else:
            crawler = process.create_crawler(FocusedSpider)
        process.crawl(crawler, **opts.spargs)
        process.start()
        self._report(crawler)

    def _run_other(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.crawler_process
        names = self.crawler_process.spider_loader.list()
        if len(args) == 1 and args[0] not in names:
            raise UsageError(f"there is no spider {args[0]!r}; there is: {', '.join(names)}", print_help=False)
        super().run(args, opts)

    def _report(self, crawler: Crawler) -> None:
        """The reason in the last line; a code that says whether it went well."""
        from focused.extensions.progress import summary

        failure = getattr(crawler, "failure", "")
        if failure:
            self._end(_FAILED, failure)
            return
        stats = crawler.stats
        reason = stats.get_value("finish_reason")
        if reason is None and not (self.crawler_process and self.crawler_process.bootstrap_failed):
            self._end(_FAILED, "interrupted before it had begun: the same command begins it, or goes on with it")
            return
        words = str(stats.get_value("focused/stopped_by") or reason)
        if reason in _FAILURES:
            self._end(_FAILURES[reason], words)
        elif reason == "finished" and not (
            stats.get_value("focused/job/pages") or stats.get_value("item_scraped_count")
        ):
            self._end(_FAILED, f"nothing was fetched: {_why_nothing(stats.get_stats())}")
        elif self.crawler_process and self.crawler_process.bootstrap_failed:
            self.exitcode = _FAILED
        else:
            print(summary(stats.get_stats()), file=sys.stderr)

    def _end(self, code: int, words: str) -> None:
        self.exitcode = code
        if self.settings and self.settings["LOG_FILE"]:
            # Who reads the log alone, as on scrapyd, must find the reason there.
            logger.error("%s", words)
        print(words, file=sys.stderr)


def _why_nothing(stats: dict[str, Any]) -> str:
    ends = {name.rpartition("/")[2]: count for name, count in stats.items() if name.startswith("focused/outcome/")}
    if not ends:
        return "no seed was admitted"
    told = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
    return f"no seed could be reached ({told}; the log says why)"
