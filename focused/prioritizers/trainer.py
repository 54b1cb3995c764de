"""Collects lessons and has the prioritizer learn them, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable

from focused.critics.base import LearningCritic
from focused.prioritizers.base import Lessons, Prioritizer

_SHARE = 100


class Trainer:
    """Holds lessons until ``every`` pages have brought some; then they are learned together.

    Beyond a hundred batches of pages a batch is a hundredth of all pages so far: what the last ten pages teach changes
    less and less, and learning and re-scoring must not cost more than the pages. Batches are counted in pages, so that
    a crawl that was cut short and learns its lessons again from the records learns them in the same batches.
    """

    def __init__(self, every: int) -> None:
        if every < 1:
            raise ValueError(f"train every {every!r} pages: give a number above 0")
        self.every = every
        self.learned = 0
        self.orders: list[int] = []
        """The numbers of the pages that the next batch is of."""
        self.taught_by: LearningCritic | None = None
        """The critic by whose verdicts the prioritizer was taught; later ones are much the same."""
        self.taught_answers: dict[int, bool] = {}
        """What had been answered about pages by then."""
        self._waiting: list[Lessons] = []
        # Of dead links, learned at once since the last batch was taken: who learns that batch does not know them.
        self._of_the_dead: list[Lessons] = []
        self._pages = 0

    def begin_at(self, pages: int, lessons: int = 0) -> None:
        """The lessons of so many pages have been learned before."""
        self._pages = pages
        self.learned = lessons

    def forget(self) -> None:
        """The lessons that wait are not to be learned: what they say has changed."""
        self._waiting.clear()
        self._of_the_dead.clear()
        self.orders.clear()

    def go_on_from(self, other: Trainer) -> None:
        """Another trainer has learned all lessons up to where this one forgot what it had."""
        self._pages = other._pages + len(self.orders)
        self.learned = other.learned
        self._waiting = other._waiting + self._waiting
        self.orders = other.orders + self.orders

    def add(self, lessons: Lessons | None) -> None:
        """Keep the lessons for the next batch."""
        if lessons is not None and len(lessons):
            self._waiting.append(lessons)

    def learn_at_once(self, prioritizer: Prioritizer, lessons: Lessons) -> Prioritizer:
        """Learn that a link is dead: others like it may be next."""
        self._of_the_dead.append(lessons)
        return prioritizer.learn(lessons) or prioritizer

    def caught_up(self, prioritizer: Prioritizer) -> Prioritizer:
        """A prioritizer that learned in a thread, with the dead links of the time since."""
        for lessons in self._of_the_dead:
            prioritizer = prioritizer.learn(lessons) or prioritizer
        return prioritizer

    def page_done(self, order: int = 0) -> bool:
        """Count a page, whose number may be given; True when a batch is due."""
        self._pages += 1
        self.orders.append(order or self._pages)
        if len(self.orders) < max(self.every, self._pages // _SHARE):
            return False
        if not self._waiting:
            self.orders.clear()
        return bool(self._waiting)

    def take_batch(self) -> Lessons | None:
        """The lessons that wait, as one batch."""
        if not self._waiting:
            return None
        waiting, self._waiting = self._waiting, []
        self._of_the_dead.clear()
        self.orders.clear()
        batch = Lessons.concat(waiting)
        self.learned += len(batch)
        return batch

    def catch_up(self, prioritizer: Prioritizer, lessons: Iterable[Lessons | None]) -> Prioritizer:
        """Learn the lessons of pages one after the other, as if they came in now; unfinished batches stay waiting."""
        for lesson in lessons:
            if lesson is not None and lesson.of_dead_link:
                prioritizer = prioritizer.learn(lesson) or prioritizer
                continue
            self.add(lesson)
            if self.page_done():
                batch = self.take_batch()
                if batch is not None:
                    prioritizer = prioritizer.learn(batch) or prioritizer
        return prioritizer
