"""Ends the crawl when it has what was asked for, or when it has dried up, and says why.

Pages are counted over all starts of a job, so that the same command goes on to the same end.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import _schedule_coro

from focused import signals
from focused.critics.base import RELEVANT
from focused.extensions.recent import RecentPages
from focused.frontier.store import Outcome, PageRecord
from focused.parts import Component
from focused.report.text import counted
from focused.scheduling.beside import open_job_beside
from focused.scheduling.steering import ENDED
from focused.schema import Dry
from focused.starting import close_before_start
from focused.stops import CrawlLimits

logger = logging.getLogger(__name__)


class LimitsExtension(Component):
    """Watches the verdicts. Reasons for closing: ``pages``, ``found``, ``dry``; else Scrapy's own."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Before our own handler, so that a page that has just come in is among them.
        dry = CrawlLimits.of(crawler.settings).dry
        self._recent = RecentPages(crawler, dry.pages if isinstance(dry, Dry) else 0)
        self._closing = False
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.page_judged, signals.page_judged)
        crawler.signals.connect(self.spider_idle, scrapy_signals.spider_idle)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    def spider_opened(self) -> None:
        """Take up the counts of an earlier start."""
        open_job_beside(self.crawler)
        # While it is paused no limit ends it.
        for reason, had, _ in () if self.parts.steering.is_paused else self._enough():
            self._stop_for(had)
            close_before_start(self.crawler, reason)

    def page_judged(self, record: PageRecord) -> None:
        """Count a page, and close when a limit is reached."""
        if record.outcome is Outcome.PAGE and record.relevance >= RELEVANT:
            self.crawler.stats.inc_value("focused/page/found")
        self.spider_idle()
        dry = self.parts.stops.dry
        if not isinstance(dry, Dry):
            return
        self._recent.keep(dry.pages)
        if len(self._recent) == dry.pages and self._recent.found < dry.share * dry.pages:
            self._close("dry", f"dried up: {self._recent.found:,} found among the last {dry.pages:,} pages")

    def spider_idle(self) -> None:
        """Close when a limit is reached: the last pages may have been fetched by other workers."""
        for reason, _, reached in self._enough():
            self._close(reason, reached)

    def _enough(self) -> Iterator[tuple[str, str, str]]:
        """The limit that is reached: the reason for closing, in words at the start, and in words later."""
        standing, stops = self.parts.standing, self.parts.stops
        if stops.pages and standing.pages >= stops.pages:
            had = f"the job has {counted(standing.pages, 'page')} already"
            yield "pages", had, f"{counted(stops.pages, 'page')} fetched"
        elif stops.found and standing.found >= stops.found:
            had = f"the job has {counted(standing.found, 'relevant page')} already"
            yield "found", had, f"{counted(stops.found, 'relevant page')} found"

    def spider_closed(self, reason: str) -> None:
        """Say why it ended."""
        stats = self.crawler.stats
        if not stats.get_value("focused/stopped_by"):
            stats.set_value("focused/stopped_by", self._reason(reason))
        logger.info("The crawl ended: %s", stats.get_value("focused/stopped_by"))

    def _reason(self, reason: str) -> str:
        job = self.parts.job
        if reason == "shutdown" and job is not None and job.lasts:
            return "it was interrupted; run the same command again to resume it"
        return _REASONS.get(reason, reason)

    def _close(self, reason: str, words: str) -> None:
        if not (self._closing or self.parts.steering.is_paused):
            self._stop_for(words)
            _schedule_coro(self.crawler.engine.close_spider_async(reason=reason))

    def _stop_for(self, words: str) -> None:
        self._closing = True
        self.crawler.stats.set_value("focused/stopped_by", words)


_REASONS = {
    "finished": "no link is left to follow",
    "shutdown": "it was interrupted; without a JOBDIR it cannot be resumed",
    "start_error": "the seeds could not be read",
    ENDED: "an order ended it (`scrapy steer --end`)",
}
