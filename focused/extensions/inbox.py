"""Takes in what users tell the crawl while it runs: about once a second, as it begins, and before it ends."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from scrapy import Request
from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import _schedule_coro

from focused.arrays import Damaged
from focused.frontier.store import NAMED_RANK, JobRefused, StoreBroken
from focused.parts import Component
from focused.scheduling.beside import open_job_beside
from focused.scheduling.engine import EngineAccess
from focused.scheduling.requests import score_to_priority
from focused.scheduling.steering import Helm
from focused.visits.marks import Marks, TakenIn

logger = logging.getLogger(__name__)

_EVERY = 1.0


class InboxExtension(Component):
    """Looks into the inbox. Marks become answers of the job, from which the critic learns at once; orders steer."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._marks: Marks | None = None
        self._loop: Any = None
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.spider_idle, scrapy_signals.spider_idle)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    def spider_opened(self) -> None:
        """What came while the crawl rested counts before it goes on."""
        open_job_beside(self.crawler)
        job = self.parts.job
        if job is None:
            return
        assert self.parts.frontier is not None
        self._helm = Helm(self.crawler)
        self._marks = Marks(job.store, job.inbox, self._fetch, self.parts.frontier.cannot)
        while self._take_in():
            pass
        self._helm.begin()
        self.parts.learning.catch_up()
        self._loop = create_looping_call(self._look)
        self._loop.start(_EVERY, now=False)

    def _look(self) -> None:
        self._take_in()
        # Of many marks the critic learns when the last ones are there.
        if self._marks is not None and not self._marks.has_more and self.parts.learning.is_waited_for:
            _schedule_coro(self._learn())

    async def _learn(self) -> None:
        await self.parts.learning.heed()
        # It may have been this that the crawl waited for before it ends.
        EngineAccess(self.crawler).wake()

    def spider_idle(self) -> None:
        """A crawl does not end while marks wait: `scrapy mark` has said that they count."""
        if self._take_in() or (self._marks is not None and self.parts.learning.is_waited_for):
            raise DontCloseSpider

    def spider_closed(self) -> None:
        """Look no more: the job is closed."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        self._marks = None

    def _take_in(self) -> bool:
        """Take in some letters; False if there are none, and others have taken in no orders."""
        frontier = self.parts.frontier
        if self._marks is None or frontier is None or frontier.is_broken:
            return False
        try:
            if self.parts.steering.is_paused:
                # No page comes with which it would be noticed that the job is gone.
                frontier.store.commit()
            taken = self._marks.take_in()
            if taken is not None:
                self._tell(taken)
            has_changed = self._marks.steering != self.parts.steering
            if has_changed:
                self._helm.steer(self._marks.steering)
                EngineAccess(self.crawler).wake()
        except (JobRefused, StoreBroken, OSError) as error:
            frontier.give_up(StoreBroken(str(error)))
            return False
        except Damaged as error:
            name = self.parts.job.name if self.parts.job is not None else ""
            frontier.give_up(StoreBroken(f"the job {name} is damaged: {error}; restore it, or delete this note"))
            return False
        return taken is not None or has_changed

    def _tell(self, taken: TakenIn) -> None:
        stats, others = self.crawler.stats, {"fetched_first": len(taken.first), "skipped": taken.skipped}
        for what, count in (taken.counts() | others).items():
            if count:
                stats.inc_value(f"focused/mark/{what}", count)
        if taken.orders:
            stats.inc_value("focused/steer/orders", len(taken.orders))
        if taken.not_done:
            stats.inc_value("focused/steer/not_done", len(taken.not_done))
        logger.info("%s", "; ".join([taken.in_words(), *([self._what_follows()] if taken.marks else [])]))

    def _what_follows(self) -> str:
        visits = self.parts.visits
        if visits.learning_critic is not None:
            return "all pages are judged anew"
        return f"the critic {visits.critic.name} does not learn here: only the verdicts on these pages change"

    def _fetch(self, urls: Sequence[str]) -> None:
        """Our scheduler has them in its frontier by now; another one is given requests, to come before all others."""
        assert self.parts.frontier is not None
        self.parts.frontier.fetch_soon([Request(url, priority=score_to_priority(NAMED_RANK)) for url in urls])
