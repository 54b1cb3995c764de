"""Has the prioritizer learn after every batch of pages, and puts the frontier in order anew.

Learning and scoring run in a thread, over snapshots; the page that triggered them waits, others go on. With one
request at a time the crawl is therefore the same whatever the machine's speed.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cached_property
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from focused import signals
from focused.defaults import read
from focused.frontier.resume import save_model
from focused.frontier.store import Outcome, StoreBroken
from focused.items import PageItem
from focused.parts import Parts, has_topic, parts_of
from focused.pipelines.keeping import dropped_if_broken

logger = logging.getLogger(__name__)


class TrainingPipeline:
    """Triggers retraining and re-scoring. Duplicates are dropped behind it: they have taught what they can."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._per_page: int = read(crawler.settings, "FOCUSED_RESCORE_PER_PAGE")
        self._save_every: int = read(crawler.settings, "FOCUSED_SAVE_EVERY")
        self._credit = 0
        self._busy = False

    @cached_property
    def parts(self) -> Parts:
        """What the components of this crawl share."""
        return parts_of(self.crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not has_topic(crawler):
            raise NotConfigured
        return cls(crawler)

    @property
    def trains(self) -> bool:
        """Is it learned here? Several workers learn together in `focused.redis.workers.learning`."""
        store = self.parts.store
        return store is not None and not store.is_shared and store.prioritizer.learns

    def close_spider(self) -> None:
        """Keep what was learned."""
        # A store that broke has told so.
        with suppress(StoreBroken):
            if self.trains:
                save_model(self.parts)

    async def process_item(self, item: Any) -> Any:
        """Count the page; learn when a batch is due."""
        store = self.parts.store
        if not isinstance(item, PageItem) or store is None or not store.link_of(item.token):
            return item
        self._credit += self._per_page
        duplicate = store.outcome_of(item.token) is Outcome.DUPLICATE
        if self.trains and self.parts.trainer.page_done() and not self._busy:
            self._busy = True
            try:
                with dropped_if_broken():
                    await self._train()
            except DropItem:
                raise
            except Exception:
                # A learner that fails costs its lessons, not the page.
                logger.exception("The prioritizer could not learn; the crawl goes on with what it knew")
                self.crawler.stats.inc_value("focused/training/failed")
            finally:
                self._busy = False
        if duplicate:
            raise DropItem("same content as a page fetched before", log_level="DEBUG")
        return item

    async def _train(self) -> None:
        store, batch = self.parts.store, self.parts.trainer.take_batch()
        if store is None or batch is None:
            return
        new = await maybe_deferred_to_future(deferToThread(store.prioritizer.learn, batch))
        if new is None:
            return
        store.prioritizer = new
        await self._rescore()
        stats = self.crawler.stats
        stats.inc_value("focused/training/batches")
        if stats.get_value("focused/training/batches") % self._save_every == 0:
            save_model(self.parts)
        self.crawler.signals.send_catch_log(signals.prioritizer_trained, lessons=len(batch), spider=self.crawler.spider)

    async def _rescore(self) -> None:
        """Score everything that waits, while that is cheap or paid for; else links are scored as they are taken."""
        store = self.parts.store
        assert store is not None
        if not store.rescoring_is_cheap and store.rows > self._credit:
            self.crawler.stats.inc_value("focused/rescore/put_off")
            return
        self._credit = max(0, self._credit - store.rows)
        rescoring = store.rescoring()
        try:
            await maybe_deferred_to_future(deferToThread(rescoring.score))
        finally:
            rescoring.adopt()
        self.crawler.stats.inc_value("focused/rescore/count")
        self.crawler.stats.inc_value("focused/rescore/rows", store.rows)
