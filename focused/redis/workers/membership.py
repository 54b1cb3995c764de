"""What a worker of a shared crawl does beside fetching, about once a second; it learns more often.

It gives a sign of life, learns of what it has lost while it was taken for dead, takes in pushed seeds, what the critic
was shown elsewhere and what the trainer published, and looks for links anew: others may have found some.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import _schedule_coro

from focused.defaults import read
from focused.frontier.store import JobRefused, StoreBroken
from focused.parts import Parts
from focused.redis.store import RedisStore
from focused.redis.workers.connection import connect, crawl_name, server_name, start_urls_key
from focused.redis.workers.departures import Departures
from focused.redis.workers.ending import Ending
from focused.redis.workers.learning import SharedLearning
from focused.redis.workers.seeds import PushedSeeds
from focused.scheduling.dispatcher import Dispatcher
from focused.scheduling.engine import EngineAccess
from focused.visits.seeds import restore_critic

logger = logging.getLogger(__name__)

_EVERY = 1.0
# How often it is looked whether there is something to learn or to load.
_LEARNS_EVERY = 0.1
_NEARLY = 0.9


class Membership(Departures):
    """One worker's life among others: what its scheduler shares with them."""

    hands_links_on: ClassVar[bool] = True

    def __init__(self, crawler: Crawler, parts: Parts, store: RedisStore, ending: Ending) -> None:
        super().__init__(EngineAccess(crawler), store)
        settings = crawler.settings
        crawl = crawl_name(parts.topic, settings)
        assert crawler.spider is not None
        self.crawler, self.parts, self._ending = crawler, parts, ending
        self._seeds = PushedSeeds(crawler, store.server, start_urls_key(crawler.spider.name, crawl, settings))
        # What others have shown the critic while this worker joined is told with its first sign of life.
        self._revised = 0
        self._most_waiting: int = read(settings, "FOCUSED_MOST_WAITING")
        self._idle_before_close: float = settings.getfloat("SCHEDULER_IDLE_BEFORE_CLOSE")
        self._busy_at = monotonic()
        self._taken_back = store.standing().taken_back
        self._listens = self._has_warned = False
        crawler.stats.set_value("focused/job/crawl", f"{crawl} in {server_name(settings)}")

    def begin(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._learning = SharedLearning(self.crawler, self.parts, self.store, connect(self.crawler.settings))
        self._guarded(self._learning.renew)()
        self._loops = []
        for step, every in ((self._live, _EVERY), (self._learn, _LEARNS_EVERY)):
            self._loops.append(create_looping_call(self._guarded(step)))
            self._loops[-1].start(every, now=False)
        self.crawler.signals.connect(self._spider_idle, signals.spider_idle)

    def sleep(self, host: str, seconds: float) -> None:
        self.store.sleep(host, seconds)

    def close(self) -> None:
        for loop in self._loops:
            loop.stop()
        self._ending.stop()
        self._learning.close()
        standing = self.store.standing()
        counts = {
            "focused/crawl/dropped": standing.dropped,
            "focused/crawl/taken_back": standing.taken_back,
            "focused/crawl/refused": standing.refused,
        }
        for name, count in counts.items():
            if count:
                self.crawler.stats.set_value(name, count)

    def _guarded(self, what: Callable[[], Any]) -> Callable[[], None]:
        """A looping call ends with its first error, and the worker would be taken for dead."""

        def guarded() -> None:
            if self._dispatcher.is_broken:
                return
            try:
                what()
            except StoreBroken as error:
                self._dispatcher.give_up(error)
            except JobRefused as error:
                self._dispatcher.give_up(StoreBroken(str(error)))
            except Exception:
                logger.exception("The worker goes on with its life all the same")

        return guarded

    def _live(self) -> None:
        self.store.beat()
        if self.store.standing().leased:
            self._busy_at = monotonic()
        self._dispatcher.let_go_of_lost()
        self._tell_of_the_dead()
        self._warn_of_crowd()
        self._take_in_critic()
        self._learning.renew()
        self._learning.tell()
        if not self._engine.is_closing():
            self._take_seeds()
            self._engine.wake()

    def _learn(self) -> None:
        if not self._listens:
            self._listens = True
            self._ending.listen()
        if self._learning.is_due and not self._engine.is_closing():
            _schedule_coro(self._learning.step())

    def _take_seeds(self) -> int:
        return self._seeds.take(lambda: not self._dispatcher.is_broken)

    def _take_in_critic(self) -> None:
        """Other workers may have shown the critic a seed."""
        if self.store.standing().revised != self._revised:
            self._revised = self.store.standing().revised
            restore_critic(self.parts.visits.critic, self.store)

    def _tell_of_the_dead(self) -> None:
        before, self._taken_back = self._taken_back, self.store.standing().taken_back
        if self._taken_back > before:
            links = self._taken_back - before
            logger.warning("Links taken back from a worker of which nothing was heard: %d", links)

    def _warn_of_crowd(self) -> None:
        if self._has_warned or not 0 < _NEARLY * self._most_waiting <= self.store.standing().waiting:
            return
        self._has_warned = True
        self.crawler.stats.set_value("focused/crawl/crowded", True)
        logger.warning(
            "%d links wait in Redis; from FOCUSED_MOST_WAITING=%d on the worst are dropped",
            self.store.standing().waiting,
            self._most_waiting,
        )

    def _spider_idle(self) -> None:
        """Before the end somebody may have pushed a seed; and what was answered is learned."""
        taken = 0
        try:
            taken = self._take_seeds()
        except StoreBroken as error:
            self._dispatcher.give_up(error)
        if taken:
            self._busy_at = monotonic()
        if taken or self._learning.is_waited_for or monotonic() - self._busy_at < self._idle_before_close:
            raise DontCloseSpider
