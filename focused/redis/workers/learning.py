"""SharedLearning together: one worker is the trainer, the others load what it publishes.

The role is held on a lease, renewed about each second; when its holder dies another worker takes it. The trainer
re-scores the frontier for all. What takes long is done in a thread, over a connection of its own.
"""

from __future__ import annotations

import logging
from functools import partial
from time import monotonic
from typing import Any

from redis import Redis
from scrapy.crawler import Crawler
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from focused import signals
from focused.defaults import read
from focused.frontier.store import Lease, StoreBroken
from focused.parts import Parts
from focused.prioritizers.base import Lessons, Prioritizer
from focused.redis.pool import Model, ModelDamaged
from focused.redis.server import CallRefused
from focused.redis.store import RedisStore
from focused.redis.workers.rescorer import Rescorer
from focused.redis.workers.trainer import PooledTrainer, RoleLost, Trained, restored
from focused.visits.training import MODEL, Training

logger = logging.getLogger(__name__)

_LONGEST_ROLE, _SHORTEST_ROLE = 10.0, 3.0
# After learning or a re-scoring so many times as long is rested: a quarter of one processor is spent at most (by a
# re-scoring half of that, which rests while it is at work, too). To load what another learned must cost next to
# nothing.
_REST, _REST_LOADED = 3.0, 20.0
_AFTER_FAILURE = 1.0


class PooledTraining(Training):
    """Lessons go to the store with the acknowledgement of their page; one of the workers learns them."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Have lessons go with a lease."""
        self._store.pool(lease, lessons)


class SharedLearning:
    """This worker's part in what all learn."""

    def __init__(self, crawler: Crawler, parts: Parts, store: RedisStore, client: Redis) -> None:
        settings = crawler.settings
        self.crawler, self.parts, self.store = crawler, parts, store
        self._client, self._pool = client, store.pool_over(client)
        self._role = max(min(read(settings, "FOCUSED_LEASE_SECONDS") / 2, _LONGEST_ROLE), _SHORTEST_ROLE)
        self._most_waiting: int = read(settings, "FOCUSED_MOST_WAITING")
        self._rescorer = Rescorer(settings, store.server, self._pool)
        self._trainer: PooledTrainer | None = None
        # What was published while this worker joined is told with its first sign of life.
        self._version = 0
        self._is_stale = False
        self._rests_until = self._next_step = 0.0
        self._trains = self._busy = self._is_closed = False

    def renew(self) -> None:
        """Take or keep the role of the trainer, if it is free and there is something to do for one."""
        wanted = self.parts.prioritizer.learns or self._most_waiting > 0
        self._trains = wanted and self.store.train(self._role)

    @property
    def is_due(self) -> bool:
        """Is there something to do, and time to do it?"""
        if self._busy or self._is_closed or monotonic() < self._next_step:
            return False
        if not self._trains:
            return self._trainer is not None or self.store.standing().model != self._version
        unread = self._trainer is None or self.store.standing().last_lesson > self._trainer.read
        return (self.parts.prioritizer.learns and unread) or self._may_rescore()

    def _may_rescore(self) -> bool:
        crowded = 0 < self._most_waiting < self.store.standing().waiting
        return (self._is_stale or crowded) and monotonic() >= self._rests_until

    async def step(self) -> None:
        """Do what there is to do now."""
        self._busy, began = True, monotonic()
        try:
            await (self._train() if self._trains else self._follow())
            rest = (_REST if self._trains else _REST_LOADED) * (monotonic() - began)
        except Exception as error:
            self._tell(error)
            # What is not published yet is learned again.
            self._trainer, rest = None, _AFTER_FAILURE
        self._busy = False
        self._next_step = monotonic() + rest

    def _tell(self, error: Exception) -> None:
        """Why a step came to nothing; the crawl goes on with what it knew."""
        if self._is_closed:
            return
        if isinstance(error, RoleLost):
            logger.info("Another worker is the trainer by now")
            self._trains = False
        elif isinstance(error, ModelDamaged):
            self._version = self.store.standing().model
            self.crawler.stats.inc_value("focused/training/refused")
            logger.warning("%s. The crawl goes on with what it knew", error)
        elif isinstance(error, CallRefused) or not isinstance(error, StoreBroken):  # if Redis is away the crawl notices
            self.crawler.stats.inc_value("focused/training/failed")
            logger.error("No step of learning; the crawl goes on with what it knew", exc_info=error)

    def close(self) -> None:
        """Let go of the connection; what is at work in the thread ends by itself."""
        self._is_closed = True
        self._rescorer.close()
        self._client.close()

    async def _follow(self) -> None:
        """Load what the trainer published."""
        self._trainer = None
        if self.store.standing().model == self._version:
            return
        loaded = await _in_thread(self._load)
        if loaded is not None:
            prioritizer, model = loaded
            self.store.adopt(prioritizer, model.stamp)
            self._version = model.version
            self.crawler.stats.inc_value("focused/training/loaded")

    def _load(self) -> tuple[Prioritizer, Model] | None:
        model = self._pool.model(MODEL)
        return (restored(self.store.prioritizer, model), model) if model else None

    async def _train(self) -> None:
        if self.parts.prioritizer.learns:
            trained = await _in_thread(self._learn)
            if trained is not None:
                self._adopt(trained)
        if self._may_rescore():
            await self._rescore()

    def _learn(self) -> Trained | None:
        if self._trainer is None:
            self._trainer = PooledTrainer(self._pool, self.store.prioritizer, self.parts.trainer.every)
            logger.info("This worker is the trainer")
        return self._trainer.train()

    def _adopt(self, trained: Trained) -> None:
        self.store.adopt(trained.prioritizer, trained.stamp)
        self._version = trained.version
        self._is_stale = True
        stats = self.crawler.stats
        stats.inc_value("focused/training/batches", trained.batches)
        if trained.failed:
            stats.inc_value("focused/training/failed", trained.failed)
        self.crawler.signals.send_catch_log(
            signals.prioritizer_trained, lessons=trained.lessons, spider=self.crawler.spider
        )

    async def _rescore(self) -> None:
        began, rows = monotonic(), self.store.standing().evidence
        await _in_thread(partial(self._rescorer.run, self.store.prioritizer, rows))
        self._is_stale = False
        self._rests_until = monotonic() + _REST * (monotonic() - began)
        self.crawler.stats.inc_value("focused/rescore/count")
        self.crawler.stats.inc_value("focused/rescore/rows", rows)


async def _in_thread(work: Any) -> Any:
    return await maybe_deferred_to_future(deferToThread(work))
