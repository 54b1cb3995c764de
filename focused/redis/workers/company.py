"""What one worker's scheduler shares with the others, and where the lessons of its pages go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from scrapy import Request
from scrapy.crawler import Crawler

from focused.frontier.engine import EngineAccess
from focused.frontier.job import Company, Dispatcher
from focused.frontier.store import Lease
from focused.parts import Parts
from focused.prioritizers.base import Lessons
from focused.redis.store import RedisStore
from focused.redis.workers.departures import Departures
from focused.redis.workers.ending import Ending
from focused.redis.workers.membership import Membership


class Coworkers(Company):
    """The workers of one crawl: they are told when requests went out, and who is alive. `begin` comes first."""

    hands_links_on: ClassVar[bool] = True

    def __init__(self, crawler: Crawler, parts: Parts) -> None:
        self.crawler, self.parts = crawler, parts
        self._engine, self._ending = EngineAccess(crawler), Ending()
        self._scheduler: Dispatcher | None = None

    def is_ending(self) -> bool:
        """Is there nothing left to wait for a store that is away for?"""
        is_broken = self._scheduler is not None and self._scheduler.is_broken
        return self._ending.is_asked or is_broken or self._engine.is_closing()

    def joined(self, store: RedisStore) -> None:
        """This worker has joined the crawl."""
        self._store, self._departures = store, Departures(self._engine, store)

    def begin(self, scheduler: Dispatcher) -> None:
        """Live among other workers."""
        self._scheduler = scheduler
        self._membership = Membership(self.crawler, self.parts, self._store, scheduler=scheduler, ending=self._ending)

    def watch(self, lease: Lease, request: Request) -> None:
        """A request was handed out."""
        self._departures.watch(lease, request)

    def look(self) -> bool:
        """Tell of requests that went out; True if there are others left."""
        return self._departures.look()

    def came_back(self, token: int) -> None:
        """A request is out or over, one way or another."""
        self._departures.came_back(token)

    def sleep(self, host: str, seconds: float) -> None:
        """Nobody fetches anything from a host for some time."""
        self._store.sleep(host, seconds)

    def close(self) -> None:
        """No signs of life any more."""
        self._membership.close()


class PooledTraining:
    """Lessons go to the store with the acknowledgement of their page; one of the workers learns them."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Have lessons go with a lease."""
        self._store.pool(lease, lessons)

    def page_done(self, order: int) -> bool:
        """Nothing is learned here."""
        return False

    def save(self, untaught: Iterable[int]) -> None:
        """The worker that trains publishes what it has learned."""
