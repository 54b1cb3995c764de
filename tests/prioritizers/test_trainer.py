"""When a batch of lessons is due."""

from __future__ import annotations

import numpy as np

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons
from focused.prioritizers.trainer import Trainer


def a_lesson() -> Lessons:
    evidence = Evidence.of(np.array([0, 1]), np.array([7], np.uint32), np.zeros((1, 0), np.float32))
    one = np.ones(1, np.float32)
    return Lessons(evidence, one, one, one, *np.ones((2, 1), np.bool_))


def due_after(trainer: Trainer, pages: int) -> list[int]:
    """The pages after which a batch is due, if each brings a lesson."""
    due = []
    for page in range(1, pages + 1):
        trainer.add(a_lesson())
        if trainer.page_done():
            due.append(page)
            trainer.take_batch()
    return due


def test_a_batch_is_so_many_pages_at_first() -> None:
    assert due_after(Trainer(5), 22) == [5, 10, 15, 20]


def test_a_batch_grows_with_a_hundredth_of_all_pages() -> None:
    trainer = Trainer(5)
    trainer.begin_at(1_000)
    assert due_after(trainer, 40) == [10, 20, 30, 40]
    trainer.begin_at(5_000)
    assert due_after(trainer, 120) == [50, 101]


def test_up_to_a_hundred_batches_none_is_larger() -> None:
    trainer = Trainer(10)
    trainer.begin_at(900)
    assert due_after(trainer, 110) == [*range(10, 111, 10)]
