"""What becomes of lessons: a crawl of its own learns them, workers that share a crawl pool them."""

from __future__ import annotations

from typing import Protocol

from focused.frontier.store import FrontierStore, Lease
from focused.prioritizers.base import Lessons
from focused.prioritizers.trainer import Trainer


class Training(Protocol):
    """Takes the lessons of a crawl, page by page."""

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Take lessons that came under a lease."""

    def page_done(self, order: int) -> bool:
        """Count a page, given by its number; True when a batch is to be learned here."""


class LocalTraining:
    """Lessons are learned by this process."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Keep lessons for the next batch."""
        self._trainer.add(lessons)

    def page_done(self, order: int) -> bool:
        """Count a page; True when a batch is due."""
        return self._trainer.page_done(order)


class PooledTraining:
    """Lessons go to the store with the acknowledgement of their page; one of the workers learns them."""

    def __init__(self, store: FrontierStore) -> None:
        self._store = store

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Have lessons go with a lease."""
        self._store.pool(lease, lessons)

    def page_done(self, order: int) -> bool:
        """Nothing is learned here."""
        return False
