"""Ends the crawl when it has what was asked for, or when it has dried up, and says why.

Pages are counted over all starts of a job, so that the same command goes on to the same end.
"""

from __future__ import annotations

import logging
from collections import deque

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import _schedule_coro

from focused import signals
from focused.critics.base import RELEVANT
from focused.defaults import read
from focused.frontier.beside import store_of
from focused.frontier.scheduler import frontier_of
from focused.frontier.store import Outcome, PageRecord
from focused.parts import Component
from focused.report.text import counted
from focused.schema import Dry
from focused.starting import close_before_start

logger = logging.getLogger(__name__)


class LimitsExtension(Component):
    """Watches the verdicts. Reasons for closing: ``pages``, ``found``, ``dry``; else Scrapy's own."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._pages: int = read(settings, "FOCUSED_STOP_PAGES")
        self._found: int = read(settings, "FOCUSED_STOP_FOUND")
        self._dry: Dry | None = read(settings, "FOCUSED_STOP_DRY") or None
        self._recent: deque[float] = deque(maxlen=self._dry.pages if self._dry else 0)
        self._closing = False
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.page_judged, signals.page_judged)
        crawler.signals.connect(self.spider_idle, scrapy_signals.spider_idle)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    def spider_opened(self) -> None:
        """Take up the counts of an earlier start."""
        store, frontier = store_of(self.crawler), frontier_of(self.crawler)
        if store is None:
            return
        if frontier is not None:
            frontier.most_pages, frontier.most_found = self._pages, self._found
        standing = store.standing()
        if self._pages and standing.pages >= self._pages:
            self._refuse("pages", f"the job has {counted(standing.pages, 'page')} already")
        elif self._found and standing.found >= self._found:
            self._refuse("found", f"the job has {counted(standing.found, 'relevant page')} already")

    def page_judged(self, record: PageRecord) -> None:
        """Count a page, and close when a limit is reached."""
        if record.outcome is Outcome.PAGE:
            self._recent.append(record.relevance)
        if record.outcome is Outcome.PAGE and record.relevance >= RELEVANT:
            self.crawler.stats.inc_value("focused/page/found")
        if not self._close_with_enough() and self._is_dry():
            mean = sum(self._recent) / len(self._recent)
            self._close("dry", f"dried up: harvest {mean:.3f} over the last {len(self._recent)} pages")

    def spider_idle(self) -> None:
        """There is nothing to do: the last pages may have been fetched by other workers."""
        self._close_with_enough()

    def _close_with_enough(self) -> bool:
        store = self.parts.store
        if store is None:
            return self._closing
        standing = store.standing()
        if self._pages and standing.pages >= self._pages:
            self._close("pages", f"{counted(self._pages, 'page')} fetched")
        elif self._found and standing.found >= self._found:
            self._close("found", f"{counted(self._found, 'relevant page')} found")
        return self._closing

    def spider_closed(self, reason: str) -> None:
        """Say why it ended."""
        stats = self.crawler.stats
        if not stats.get_value("focused/stopped_by"):
            stats.set_value("focused/stopped_by", self._reason(reason))
        logger.info("The crawl ended: %s", stats.get_value("focused/stopped_by"))

    def _reason(self, reason: str) -> str:
        job = self.parts.job
        if reason == "shutdown" and job is not None and job.lasts:
            return "it was interrupted; the same command goes on with it"
        return _REASONS.get(reason, reason)

    def _is_dry(self) -> bool:
        recent, dry = self._recent, self._dry
        return dry is not None and len(recent) == dry.pages and sum(recent) / len(recent) < dry.harvest

    def _refuse(self, reason: str, words: str) -> None:
        self._closing = True
        self.crawler.stats.set_value("focused/stopped_by", words)
        close_before_start(self.crawler, reason)

    def _close(self, reason: str, words: str) -> None:
        if self._closing:
            return
        self._closing = True
        self.crawler.stats.set_value("focused/stopped_by", words)
        _schedule_coro(self.crawler.engine.close_spider_async(reason=reason))


_REASONS = {
    "finished": "no link is left to follow",
    "shutdown": "it was interrupted, and had no JOBDIR to go on from",
    "start_error": "the seeds could not be read",
}
