"""The trainer of a shared crawl: nothing is learned twice or lost, whoever has the role."""
# mypy: disable-error-code="attr-defined"
# The toy prioritizer has attributes of its own.

from __future__ import annotations

import numpy as np
import pytest

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons, Prioritizer
from focused.redis.lessons import pooled_to_bytes
from focused.redis.pool import ModelDamaged, Pool
from focused.redis.store import RedisStore
from focused.redis.workers.trainer import PooledTrainer, RoleLost, restored
from focused.scheduling.resume import MODEL
from tests.redis.versions import Version

NONE = Evidence.of(np.zeros(2, np.int64), np.zeros(0, np.uint32), np.zeros((1, 1), np.float32))


class Counting(Prioritizer):
    """Remembers what it was taught, batch by batch."""

    name = "counting"
    dense = ("nothing",)
    learns = True

    def __init__(self, batches=(), critic=None):
        super().__init__(critic=critic)
        self.batches = [list(batch) for batch in batches]

    def evidence(self, page, verdict, links, **known):
        raise AssertionError("not used here")

    def score(self, evidence):
        return np.zeros(len(evidence), np.float32)

    def learn(self, lessons):
        batch = lessons.relevance.tolist()
        if 13.0 in batch:
            raise ArithmeticError("13 cannot be learned")
        return Counting([*self.batches, batch], self.critic)

    def state(self):
        taught = [value for batch in self.batches for value in batch]
        sizes = [len(batch) for batch in self.batches]
        return {"sizes": np.array(sizes, np.int64), "taught": np.array(taught, np.float32)}

    def restore(self, state):
        ends = np.cumsum(state["sizes"])[:-1]
        self.batches[:] = [part.tolist() for part in np.split(state["taught"], ends)]


@pytest.fixture
def store(redis):
    store = RedisStore(redis.client(), "test", "one", Counting(), most_anew=9)
    yield store
    store.abandon()


@pytest.fixture
def pool(store, redis) -> Pool:
    return store.pool_over(redis.client())


@pytest.fixture
def teach(redis):
    """Lessons as workers leave them: one a page, or without a page where a link was dead."""
    client = redis.client()

    def push(*values, is_page=True):
        for value in values:
            columns = (np.array([value], np.float32), np.zeros(1, np.float32), np.ones(1, np.float32))
            lessons = [Lessons(NONE, *columns, *np.ones((2, 1), np.bool_))] if value is not None else []
            client.rpush("{focused:test}:lessons", pooled_to_bytes(is_page, lessons))

    return push


def test_learns_in_batches_of_pages_and_keeps_what_is_no_batch_yet(pool, teach):
    teach(1, 2, None)
    teach(3, is_page=False)
    teach(4, 5, 6, 7)
    trainer = PooledTrainer(pool, Counting(), every=3)
    trained = trainer.train()
    assert trained.prioritizer.batches == [[1, 2], [3, 4, 5, 6]]
    assert (trained.batches, trained.lessons, trained.failed) == (2, 6, 0)
    assert [pooled.number for pooled in pool.lessons_after(0, 100)] == [8]
    assert trainer.train() is None
    teach(8, 9)
    assert trainer.train().prioritizer.batches[2:] == [[7, 8, 9]]


def test_who_takes_over_goes_on_where_the_last_model_ends(pool, teach):
    first = PooledTrainer(pool, Counting(), every=2)
    teach(1, 2, 3)
    first.train()
    teach(4, 5)
    second = PooledTrainer(pool, Counting(), every=2)
    assert second.train().prioritizer.batches == [[1, 2], [3, 4]]
    assert pool.model(MODEL).upto == 4


def test_a_trainer_that_lost_its_role_publishes_nothing(store, pool, teach, redis):
    other = RedisStore(redis.client(), "test", "other", Counting())
    assert other.train(30.0)
    teach(1)
    with pytest.raises(RoleLost):
        PooledTrainer(pool, Counting(), every=1).train()
    assert pool.model(MODEL) is None
    assert len(pool.lessons_after(0, 100)) == 1, "for the other to learn"
    other.abandon()


def test_lessons_that_cannot_be_learned_cost_themselves_and_are_not_met_again(pool, teach):
    teach(1, 13, 2)
    trained = PooledTrainer(pool, Counting(), every=1).train()
    assert trained.prioritizer.batches == [[1], [2]]
    assert trained.failed == 1
    assert pool.lessons_after(0, 100) == []


def test_what_was_taught_by_the_verdicts_of_an_older_critic_is_taught_anew(pool, teach, redis):
    asked = []

    def untaught(critic):
        asked.append(critic.version)
        return Counting(critic=critic)

    def trainer(version):
        return PooledTrainer(pool, Counting(critic=Version(version)), every=2, untaught=untaught, most_anew=3)

    teach(1, 2, 3, 4, 5)
    assert trainer(0).train().prioritizer.batches == [[1, 2], [3, 4]]
    assert pool.publish_critic(Version(1), 5)
    dies = trainer(1)
    assert dies.is_to_begin_anew
    again = trainer(1)
    assert again.train().prioritizer.batches == [[3, 4], [5]], "three pages, and none of them waits any longer"
    assert asked == [1]
    assert (pool.model(MODEL).critic, pool.model(MODEL).upto) == (1, 5)
    teach(6, 7)
    assert again.train().prioritizer.batches[2:] == [[6, 7]]
    assert not trainer(1).is_to_begin_anew


def test_more_lessons_than_fit_into_one_round_are_published_round_by_round(pool, teach):
    teach(*range(14, 714))
    trainer = PooledTrainer(pool, Counting(), every=1)
    learned = []
    while (trained := trainer.train()) is not None:
        learned.append(trained.lessons)
    assert len(learned) == 2
    assert sum(learned) == sum(map(len, restored(Counting(), pool.model(MODEL)).batches))
    assert sum(learned) + len(pool.lessons_after(0, 1_000)) == 700, "the rest is no batch yet"


def test_what_was_published_goes_into_a_copy(store, pool):
    pool.publish(MODEL, Counting([[1.0, 2.0]]).state(), 0)
    scores = Counting([[5.0]])
    assert restored(scores, pool.model(MODEL)).batches == [[1, 2]]
    assert scores.batches == [[5]]


def test_a_model_that_is_damaged_or_does_not_fit_is_not_loaded_and_a_trainer_begins_without(pool, teach, redis):
    pool.publish(MODEL, {"else": np.zeros(1)}, 0)
    with pytest.raises(ModelDamaged, match="does not fit"):
        restored(Counting(), pool.model(MODEL))
    with redis.client() as client:
        client.hset(f"{{focused:test}}:model:{MODEL}", "data", b"evil")
    with pytest.raises(ModelDamaged, match="damaged"):
        pool.model(MODEL)
    teach(1)
    assert PooledTrainer(pool, Counting(), every=1).train().prioritizer.batches == [[1]]
    assert pool.model(MODEL).version == 2
