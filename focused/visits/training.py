"""What becomes of lessons: a crawl of its own learns them; what workers that share a crawl do is their own business."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from focused.frontier.store import FrontierStore, Lease
from focused.prioritizers.base import Lessons
from focused.prioritizers.trainer import Trainer

MODEL = "prioritizer"
"""The name under which a store keeps what the prioritizer has learned."""
CRITIC = "critic"
"""The name under which a store keeps what the critic has learned from pages."""
LESSONS = "lessons"
"""The note of a job that says how many lessons were learned."""


class Training:
    """Takes the lessons of a crawl, page by page; by itself nothing is learned here."""

    learns_here: ClassVar[bool] = False
    """Do critic and prioritizer learn in this process, as soon as it has a batch?"""

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Take lessons that came under a lease."""

    def page_done(self, order: int) -> bool:
        """Count a page, given by its number; True when a batch is to be learned here."""
        return False

    def save(self, untaught: Iterable[int]) -> None:
        """Keep what was learned here; the lessons of the ``untaught`` pages, given by number, are still to come."""


class LocalTraining(Training):
    """Lessons are learned by this process."""

    learns_here = True

    def __init__(self, store: FrontierStore, trainer: Trainer) -> None:
        self._store, self._trainer = store, trainer

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Keep lessons for the next batch; that a link is dead is learned at once."""
        prioritizer = self._store.prioritizer
        if lessons is not None and lessons.of_dead_link and prioritizer.learns_of_the_dead:
            self._store.prioritizer = self._trainer.learn_at_once(prioritizer, lessons)
        else:
            self._trainer.add(lessons)

    def page_done(self, order: int) -> bool:
        """Count a page; True when a batch is due."""
        return self._trainer.page_done(order)

    def save(self, untaught: Iterable[int]) -> None:
        """Keep the model, and up to which page no lesson is missing in it."""
        store = self._store
        if store.prioritizer.learns:
            unlearned = [*self._trainer.orders, *untaught]
            upto = min(unlearned) - 1 if unlearned else store.standing().last_page
            store.save_model(MODEL, store.prioritizer.state(), upto)
            store.note(LESSONS, str(self._trainer.learned))
