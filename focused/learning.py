"""Has the prioritizer learn after every batch of pages, and puts the frontier in order anew.

Learning and scoring run in a thread, over snapshots; the page that triggered them waits, others go on. With one
request at a time the crawl is therefore the same whatever the machine's speed.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from focused import signals
from focused.defaults import read
from focused.frontier.store import StoreBroken
from focused.job import OpenJob
from focused.prioritizers.trainer import Trainer
from focused.visits.visit import Visit
from focused.visits.visits import Visits

if TYPE_CHECKING:
    from focused.scheduling.dispatcher import Dispatcher

logger = logging.getLogger(__name__)


class Learning:
    """Triggers learning and re-scoring in a crawl of its own. Workers that share a crawl learn elsewhere."""

    def __init__(self, crawler: Crawler, job: OpenJob, frontier: Dispatcher, visits: Visits, trainer: Trainer) -> None:
        self.crawler = crawler
        self._job, self._frontier, self._visits, self._trainer = job, frontier, visits, trainer
        self._per_page: int = read(crawler.settings, "FOCUSED_RESCORE_PER_PAGE")
        self._save_every: int = read(crawler.settings, "FOCUSED_SAVE_EVERY")
        self._credit = 0
        self._busy = False

    async def page_done(self, visit: Visit) -> None:
        """Label the page's lessons, count it, and learn if a batch is due."""
        if visit.has_taught or not visit.is_recorded:
            return
        self._credit += self._per_page
        try:
            if self._visits.is_learning_due(visit) and not self._busy:
                await self._learn()
        except StoreBroken as error:
            self._frontier.give_up(error)

    async def _learn(self) -> None:
        self._busy = True
        try:
            await self._train()
        except StoreBroken:
            raise
        except Exception:
            # A learner that fails costs its lessons, not the page.
            logger.exception("The prioritizer could not learn; the crawl goes on with what it knew")
            self.crawler.stats.inc_value("focused/training/failed")
        finally:
            self._busy = False

    async def _train(self) -> None:
        store, batch = self._job.store, self._trainer.take_batch()
        if batch is None:
            return
        new = await maybe_deferred_to_future(deferToThread(store.prioritizer.learn, batch))
        if new is None:
            return
        store.prioritizer = new
        await self._rescore()
        stats = self.crawler.stats
        stats.inc_value("focused/training/batches")
        if stats.get_value("focused/training/batches") % self._save_every == 0:
            self._job.training.save(self._visits.untaught())
        self.crawler.signals.send_catch_log(signals.prioritizer_trained, lessons=len(batch), spider=self.crawler.spider)

    async def _rescore(self) -> None:
        """Score everything that waits, while that is cheap or paid for; else links are scored as they are taken."""
        store = self._job.store
        if store.rescoring_cost > self._credit:
            self.crawler.stats.inc_value("focused/rescore/put_off")
            return
        rows = store.standing().evidence
        self._credit = max(0, self._credit - rows)
        rescoring = store.rescoring()
        try:
            await maybe_deferred_to_future(deferToThread(rescoring.score))
        finally:
            rescoring.adopt()
        self.crawler.stats.inc_value("focused/rescore/count")
        self.crawler.stats.inc_value("focused/rescore/rows", rows)

    def close(self) -> None:
        """Keep what was learned."""
        # A store that broke has told so.
        with suppress(StoreBroken):
            self._job.training.save(self._visits.untaught())
