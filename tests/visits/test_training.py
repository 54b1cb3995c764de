"""What becomes of lessons in a crawl of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.frontier.store import Lease, LinkHost
from focused.frontier.store_sqlite import SqliteStore
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused
from focused.prioritizers.trainer import Trainer
from focused.visits.training import LocalTraining
from tests.prioritizers.prioritizer_cases import URL, page

LEASE = Lease(1, 1, URL, LinkHost(1, "h", 0))
BODY = "".join(f"<a href=http://{host}.example/{n}>Item</a>" for host in ("gone", "there") for n in (1, 2))
GONE, GONE_TOO, THERE, THERE_TOO = range(4)


class House:
    """A store, a trainer, and the training between them."""

    def __init__(self, folder: Path, prioritizer: Focused) -> None:
        self.store, self.trainer = SqliteStore(folder, prioritizer), Trainer(1)
        self.training = LocalTraining(self.store, self.trainer)
        parsed = page(BODY)
        self.evidence = prioritizer.evidence(parsed, Verdict(0.5), parsed.links)

    def teach(self, row: int, relevance: float = float("nan")) -> None:
        """The outcome of one link; without R it was dead."""
        lessons = Lessons.of_page(self.evidence.row(row), relevance, np.full(1, 0.5, np.float32))
        self.training.teach(LEASE, lessons)

    def scores(self) -> list[float]:
        scores: list[float] = self.store.prioritizer.score(self.evidence).tolist()
        return scores


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Callable[[Focused], House]]:
    made: list[House] = []

    def make(prioritizer: Focused) -> House:
        made.append(House(tmp_path, prioritizer))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


def test_that_a_link_is_dead_is_learned_before_the_next_page_comes(house: Callable[[Focused], House]) -> None:
    crawl = house(Focused(price=1.0))
    before = crawl.scores()
    for _ in range(3):
        crawl.teach(GONE)
    after = crawl.scores()
    assert after[GONE_TOO] < 0.9 * after[THERE_TOO]
    assert before[GONE_TOO] == pytest.approx(before[THERE_TOO], rel=0.01)
    assert crawl.trainer.take_batch() is None


def test_links_that_die_while_a_batch_is_learned_are_not_forgotten(house: Callable[[Focused], House]) -> None:
    crawl = house(Focused(price=1.0))
    crawl.teach(THERE, 0.5)
    batch = crawl.trainer.take_batch()
    assert batch is not None
    crawl.teach(GONE)
    meanwhile = Focused(price=1.0).learn(batch)
    assert meanwhile is not None
    crawl.store.prioritizer = crawl.trainer.caught_up(meanwhile)
    assert crawl.scores()[GONE_TOO] < meanwhile.score(crawl.evidence)[GONE_TOO]
    crawl.teach(THERE_TOO, 0.5)
    crawl.trainer.take_batch()
    assert crawl.trainer.caught_up(meanwhile) is meanwhile, "the next batch is learned by one that knows them"


def test_who_does_not_care_for_dead_links_gets_them_with_the_batch(house: Callable[[Focused], House]) -> None:
    crawl = house(Focused(price=0))
    crawl.teach(GONE)
    assert crawl.store.prioritizer.learns_of_the_dead is False
    batch = crawl.trainer.take_batch()
    assert batch is not None
    assert batch.of_dead_link
