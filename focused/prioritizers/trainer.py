"""Collects lessons and has the prioritizer learn them, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable

from focused.prioritizers.base import Lessons, Prioritizer


class Trainer:
    """Holds lessons until ``every`` pages have brought some; then they are learned together.

    Batches are counted in pages, so that a crawl that was cut short and learns its lessons again from the records
    learns them in the same batches.
    """

    def __init__(self, every: int) -> None:
        if every < 1:
            raise ValueError(f"train every {every!r} pages: give a number above 0")
        self.every = every
        self.learned = 0
        self._waiting: list[Lessons] = []
        self._pages = 0

    def add(self, lessons: Lessons | None) -> None:
        """Keep the lessons for the next batch."""
        if lessons is not None and len(lessons):
            self._waiting.append(lessons)

    def page_done(self) -> bool:
        """Count a page; True when a batch is due."""
        self._pages += 1
        return self._pages % self.every == 0 and bool(self._waiting)

    @property
    def pages_waiting(self) -> int:
        """Pages counted since the last batch was due."""
        return self._pages % self.every

    def take_batch(self) -> Lessons | None:
        """The lessons that wait, as one batch."""
        if not self._waiting:
            return None
        waiting, self._waiting = self._waiting, []
        batch = Lessons.concat(waiting)
        self.learned += len(batch)
        return batch

    def catch_up(self, prioritizer: Prioritizer, lessons: Iterable[Lessons | None]) -> Prioritizer:
        """Learn the lessons of pages one after the other, as if they came in now; unfinished batches stay waiting."""
        for lesson in lessons:
            self.add(lesson)
            if self.page_done():
                batch = self.take_batch()
                if batch is not None:
                    prioritizer = prioritizer.learn(batch) or prioritizer
        return prioritizer
