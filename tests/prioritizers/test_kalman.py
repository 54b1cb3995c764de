"""The Kalman learner against its equations, written out with whole matrices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons
from focused.prioritizers.features import Layout, Number, Place, Words
from focused.prioritizers.kalman import TRUST, KalmanLearner
from tests.prioritizers.prioritizer_cases import lessons_of

BITS = 8
BIAS = (-2.0, 1.0)
PRIOR = {"source": (2.0, 0.5), "anchor": (1.0, 0.4), "bias": BIAS}
TRUST_OF_PLACES = (2, 2, 2, 3, 4, 2)
KINDS = ("words", "address", "elements", "page", "list")
PLACES = tuple(f"place {number}" for number in range(len(TRUST_OF_PLACES)))
WORDS_SPREAD, ADDRESS_SPREAD = 2.0, 1.4
SPREADS = tuple(0.5 + 0.2 * i for i in range(len(PLACES)))


def not_asked(look):
    raise AssertionError("evidence is made by hand here")


def layout(words=WORDS_SPREAD, address=ADDRESS_SPREAD, places=SPREADS) -> Layout:
    numbers = [Number(name=name, mean=m, spread=s, of=not_asked) for name, (m, s) in PRIOR.items() if name != "bias"]
    runs = [Words(name="words", spread=words, of=not_asked), Words(name="address", spread=address, of=not_asked)]
    of_trust = zip(PLACES, places, TRUST_OF_PLACES, strict=True)
    where = [Place(name=name, spread=spread, trust=KINDS[kind], of=not_asked) for name, spread, kind in of_trust]
    return Layout([*numbers, *runs, *where])


LAYOUT = layout()
OWN = tuple(range(200, 200 + len(PLACES)))
"""Columns of the table that stand for places and for nothing else."""


@dataclass
class Row:
    """One link: columns of the table of weights for its words, address and places, and its numbers."""

    words: tuple[int, ...] = ()
    address: tuple[int, ...] = ()
    places: tuple[int, ...] = OWN
    numbers: tuple[float, ...] = (0.5, 0.0)


def evidence(*rows: Row) -> Evidence:
    columns = [[*row.words, *row.address, *row.places] for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    ids = np.array([column for some in columns for column in some], np.uint32) << np.uint32(32 - BITS)
    dense = np.array([[*row.numbers, len(row.address)] for row in rows], np.float32).reshape(len(rows), 3)
    return Evidence.of(starts, ids, dense)


def lessons(*rows: Row, labels=(0.9,), weights=None, first=None) -> Lessons:
    some = lessons_of(evidence(*rows), labels)
    if weights is not None:
        some.weight = np.array(weights, np.float32)
    if first is not None:
        some.first = np.array(first, np.bool_)
    return some


def learner(seed: int = 0) -> KalmanLearner:
    return KalmanLearner(LAYOUT, bias=BIAS, bits=BITS, seed=seed)


def by_hand(row: Row) -> np.ndarray:
    """What the features of each kind count for: a row for each kind, a column for each column of the table."""
    x = np.zeros((len(KINDS), 2**BITS))
    for kind, columns, spread in ((0, row.words, WORDS_SPREAD), (1, row.address, ADDRESS_SPREAD)):
        for column in columns:
            x[kind, column] += spread / np.sqrt(len(columns))
    for kind, column, spread in zip(TRUST_OF_PLACES, row.places, SPREADS, strict=True):
        x[kind, column] += spread
    return x


class Matrices:
    """The whole filter: every weight's mean, and the covariance of them all, but for what it takes as zero.

    How rare features are is looked at before each batch (`begin_batch`).
    """

    def __init__(self) -> None:
        means, spreads = zip(*PRIOR.values(), *[(1.0, TRUST)] * len(KINDS), strict=True)
        self.w = np.array([*np.zeros(2**BITS), *means])
        self.V = np.diag([*np.ones(2**BITS), *np.square(spreads)])
        hashed = np.arange(len(self.w)) < 2**BITS
        self.kept = np.eye(len(self.w), dtype=bool) | ~(hashed[:, None] | hashed[None, :])
        self.common, self.lessons = np.zeros(2**BITS), 0.0
        self.begin_batch()

    def begin_batch(self) -> None:
        self.rarity = np.maximum(1 - self.common / (self.lessons + 10), 0)

    def odds(self, row: Row) -> float:
        told = self.counts(row) @ self.w[: 2**BITS]
        return float(self.w[2**BITS :] @ [*row.numbers, 1.0, *told])

    def counts(self, row: Row) -> np.ndarray:
        return by_hand(row) * self.rarity

    def learn(self, row: Row, label: float, weight: float = 1.0, first: bool = True) -> None:
        counts, trust = self.counts(row), self.w[-len(KINDS) :]
        slope = np.array([*(trust @ counts), *row.numbers, 1.0, *(counts @ self.w[: 2**BITS])])
        p = 1 / (1 + np.exp(-self.odds(row)))
        h = weight * max(p * (1 - p), 0.002)
        along = self.V @ slope
        moved = self.w + along * weight * (label - p) / (1 + h * (slope @ along))
        surer = self.V - np.outer(along, along) * h / (1 + h * (slope @ along))
        if not first:
            moved[-len(KINDS) :] = trust
            surer[-len(KINDS) :, -len(KINDS) :] = self.V[-len(KINDS) :, -len(KINDS) :]
        self.w, self.V = moved, np.where(self.kept, surer, 0.0)
        self.common += weight * (by_hand(row) > 0).sum(axis=0)
        self.lessons += weight


def assert_same(learned: KalmanLearner, matrices: Matrices) -> None:
    table = 2**BITS
    assert np.allclose(learned.weights, matrices.w[:table], atol=1e-5)
    assert np.allclose(learned.doubt, np.diag(matrices.V)[:table], atol=1e-5)
    assert np.allclose(learned.means, matrices.w[table:], atol=1e-5)
    assert np.allclose(learned.covariance, matrices.V[table:, table:], atol=1e-5)


ROWS = [
    Row((1, 2, 3), (10, 11), numbers=(0.8, 1.5)),
    Row((1, 4), (), numbers=(0.3, -2.0)),
    Row((), (10, 12), (OWN[0], *(one + 20 for one in OWN[1:]))),
    Row((), ()),
    Row((5, 5, 5, 6), (10,), numbers=(0.0, 0.0)),
    # Words, address and places that share their columns of the table.
    Row((7, 8), (7, 9), (8, 9, 9, *OWN[3:]), numbers=(1.0, 4.0)),
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize(("label", "weight"), [(0.9, 1.0), (0.03, 1.0), (0.5, 0.25)])
@pytest.mark.parametrize("first", [True, False])
def test_one_lesson_is_what_the_equations_say(row, label, weight, first):
    matrices = Matrices()
    matrices.learn(row, label, weight, first)
    assert_same(learner().learn(lessons(row, labels=[label], weights=[weight], first=[first])), matrices)


def test_many_lessons_are_what_the_equations_say():
    random, learned, matrices = np.random.default_rng(4), learner(), Matrices()
    for _ in range(60):
        row, label, weight = ROWS[random.integers(len(ROWS))], random.random(), random.uniform(0.1, 1)
        first = random.random() < 0.5
        learned = learned.learn(lessons(row, labels=[label], weights=[weight], first=[first]))
        matrices.begin_batch()
        matrices.learn(row, label, weight, first)
    assert_same(learned, matrices)
    assert learned.seen == 60


def test_a_surprise_of_nothing_still_makes_surer():
    sure = Row(numbers=(10.0, 4.0))
    learned, matrices = learner().learn(lessons(sure, labels=[1.0])), Matrices()
    matrices.learn(sure, 1.0)
    assert_same(learned, matrices)
    assert np.diag(learned.covariance)[0] < 0.5**2


@pytest.mark.parametrize("row", ROWS)
def test_scores_are_what_the_equations_say(row):
    learned, matrices = learner(), Matrices()
    for i, other in enumerate(ROWS):
        learned = learned.learn(lessons(other, labels=[i / 5]))
        matrices.begin_batch()
        matrices.learn(other, i / 5)
    matrices.begin_batch()
    assert learned.score(evidence(row))[0] == pytest.approx(1 / (1 + np.exp(-matrices.odds(row))), rel=1e-4)


def test_a_batch_is_its_lessons_one_after_the_other_in_some_order():
    labels = [0.9, 0.1, 0.4]
    batch = learner().learn(lessons(*ROWS[:3], labels=labels))

    def one_by_one(order):
        matrices = Matrices()
        for i in order:
            matrices.learn(ROWS[i], labels[i])
        return matrices.w[: 2**BITS]

    matches = [np.allclose(batch.weights, one_by_one(order), atol=1e-6) for order in permutations(range(3))]
    assert sum(matches) == 1


def all_rows() -> Lessons:
    return lessons(*ROWS, labels=[0.9, 0.1, 0.4, 0.8, 0.2, 0.7])


def test_the_order_is_drawn_by_the_seed():
    def learned(seed):
        return learner(seed).learn(all_rows()).learn(all_rows()).weights

    assert (learned(1) == learned(1)).all()
    assert not all((learned(seed) == learned(1)).all() for seed in range(2, 6))


def test_before_the_first_lesson_the_prior_alone_speaks():
    expected = 1 / (1 + np.exp(-(2 * 0.8 + 1.5 - 2)))
    assert learner().score(evidence(ROWS[0]))[0] == pytest.approx(expected, rel=1e-5)


def test_a_word_that_is_new_moves_farther_than_one_that_was_seen_often():
    learned = learner()
    for other in range(100, 130):
        learned = learned.learn(lessons(Row((1, other)), labels=[0.5]))
    moved = learned.learn(lessons(Row((1, 2)), labels=[1.0])).weights - learned.weights
    assert moved[2] > 3 * moved[1] > 0


def test_what_always_leads_to_pages_of_one_relevance_comes_to_say_so():
    learned, random = learner(), np.random.default_rng(0)
    for _ in range(300):
        near = bool(random.integers(2))
        words = (1 if near else 2, int(random.integers(20, 200)))
        learned = learned.learn(lessons(Row(words), labels=[0.3 if near else 0.01]))
    near, far = learned.score(evidence(Row((1, 3)), Row((2, 3))))
    assert near == pytest.approx(0.3, abs=0.08)
    assert far < 0.06


def test_doubt_shrinks_where_there_was_a_lesson_and_nowhere_else():
    before = learner()
    after = before.learn(lessons(ROWS[0]))
    touched = np.zeros(2**BITS, bool)
    touched[[*ROWS[0].words, *ROWS[0].address, *ROWS[0].places]] = True
    assert (after.doubt[touched] < 1).all()
    assert (after.doubt[~touched] == 1).all()
    assert not after.weights[~touched].any()


some_rows = st.builds(
    Row,
    words=st.lists(st.integers(0, 5), max_size=30).map(tuple),
    address=st.lists(st.integers(3, 8), max_size=6).map(tuple),
    places=st.tuples(*[st.integers(6, 14)] * len(PLACES)),
    numbers=st.tuples(st.floats(0, 1), st.floats(-14, 14)),
)
some_lessons = st.lists(
    st.tuples(some_rows, st.floats(0, 1), st.floats(0.01, 1), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=100)
@given(st.lists(some_lessons, min_size=1, max_size=4))
def test_doubt_never_grows_and_is_never_used_up(batches):
    """Whatever comes: the same word many times in a row, columns shared by all kinds of features."""
    learned = learner()
    for batch in batches:
        rows, labels, weights, first = zip(*batch, strict=True)
        before, learned = learned, learned.learn(lessons(*rows, labels=labels, weights=weights, first=first))
        assert (learned.doubt <= before.doubt).all()
        assert (learned.doubt > 0).all()
        assert (np.diag(learned.covariance) <= np.diag(before.covariance)).all()
        assert np.isfinite(learned.weights).all()


def test_doubt_is_not_used_up_by_thousands_of_lessons():
    random, learned = np.random.default_rng(1), learner()
    for _ in range(20):
        rows = [
            Row(
                (1, 1, *random.integers(0, 60, 8).tolist()),
                tuple(random.integers(60, 90, 3).tolist()),
                numbers=(random.random(), random.normal(0, 4)),
            )
            for _ in range(300)
        ]
        learned = learned.learn(lessons(*rows, labels=random.random(300), first=random.random(300) < 0.3))
    assert learned.seen == 6_000
    assert (learned.doubt > 0).all()
    assert (np.linalg.eigvalsh(learned.covariance) > 0).all()
    assert np.allclose(learned.covariance, learned.covariance.T, rtol=1e-9)
    assert np.isfinite(learned.score(evidence(*ROWS))).all()


def test_a_lesson_that_weighs_nothing_teaches_nothing():
    learned = learner().learn(lessons(ROWS[0], weights=[0.0]))
    assert not learned.weights.any()
    assert (learned.doubt == 1).all()
    assert (learned.covariance == learner().covariance).all()


def test_lessons_that_weigh_one_together_teach_about_as_much_as_one():
    def told(parts, weight):
        learned = learner().learn(lessons(*[Row((1, 2))] * parts, labels=[0.9] * parts, weights=[weight] * parts))
        return learned.weights[1]

    assert told(8, 1 / 8) == pytest.approx(told(1, 1), rel=0.2)
    assert told(8, 1) > 1.2 * told(8, 1 / 8)


@pytest.mark.parametrize("rarity", [True, False])
def test_what_every_link_has_comes_to_count_for_nothing(rarity):
    """Short addresses are then not better or worse than long ones by what stands in all of them."""
    learned, random = KalmanLearner(LAYOUT, bias=BIAS, rarity=rarity, bits=BITS), np.random.default_rng(5)
    for _ in range(200):
        own = random.integers(20, 150, random.integers(1, 6)).tolist()
        learned = learned.learn(lessons(Row(address=(10, 11, *own)), labels=[0.02]))
    ten = np.array([10], np.uint32) << np.uint32(32 - BITS)
    assert (abs(learned.weights_of(ten)[0]) < 0.05) == rarity
    short, long = learned.score(evidence(Row(address=(10, 11, 190)), Row(address=(10, 11, *range(190, 198)))))
    assert (short == pytest.approx(long, rel=0.1)) == rarity


def test_nothing_to_score_and_nothing_to_learn():
    nothing = evidence()
    assert learner().score(nothing).shape == (0,)
    learned = learner().learn(lessons_of(nothing, []))
    assert learned.seen == 0
    assert not learned.weights.any()


@pytest.mark.parametrize("row", ROWS)
def test_contributions_sum_to_the_log_odds_of_the_score(row):
    learned = learner().learn(all_rows())
    parts = learned.explain(evidence(row))
    total = sum(part.weight for part in parts)
    assert learned.score(evidence(row))[0] == pytest.approx(1 / (1 + np.exp(-total)), rel=1e-4)
    assert [part.feature for part in parts if isinstance(part.feature, str)] == [*PLACES, *PRIOR]


def test_a_word_s_weight_is_what_it_adds_where_it_is_the_only_one_but_for_the_spread_of_words():
    learned = learner().learn(all_rows())
    alone = evidence(Row((1,)))
    (adds,) = [part.weight for part in learned.explain(alone) if part.feature == int(alone.ids[0])]
    assert adds != 0
    factor = WORDS_SPREAD * learned.trust[0]
    assert learned.weights_of(alone.ids[:1])[0] * factor == pytest.approx(adds, rel=1e-5)


def test_a_kind_of_features_that_foretells_nothing_loses_trust_and_one_that_does_gains_some():
    """A word that tells, and pages whose links have nothing in common but the page."""
    learned, random = learner(), np.random.default_rng(2)
    for page in range(100, 200):
        for _ in range(4):
            good = bool(random.integers(2))
            row = Row((1 if good else 2,), places=(*OWN[:3], page, *OWN[4:]))
            learned = learned.learn(lessons(row, labels=[1.0 if good else 0.0]))
    trust = dict(zip(KINDS, learned.trust, strict=True))
    assert trust["page"] < 1
    assert trust["words"] > 1.2


@pytest.mark.parametrize(("again_is_first", "least", "most"), [(False, 0.8, 1.2), (True, 1.4, 9.0)])
def test_what_is_told_again_of_a_page_moves_no_trust(again_is_first, least, most):
    """Each page is told of seven times by a word of its own, that foretold nothing the first time."""
    learned, random = learner(), np.random.default_rng(3)
    for n in range(50, 150):
        label, row = float(random.integers(2)), Row((n,))
        learned = learned.learn(lessons(row, labels=[label]))
        learned = learned.learn(lessons(*[row] * 6, labels=[label] * 6, first=[again_is_first] * 6))
    assert least < learned.trust[0] < most


def test_a_page_is_foretold_before_its_other_lessons_are_learned():
    rows, labels = [Row((1, n), (10, n)) for n in range(100, 112)], [0.9] * 12
    batch = learner().learn(lessons(*rows, labels=labels, first=[n == 11 for n in range(12)]))
    alone = learner().learn(lessons(rows[11]))
    assert (batch.trust == alone.trust).all()


def test_the_older_snapshot_stays_as_it_was():
    old = learner().learn(lessons(ROWS[0]))
    before = {name: array.copy() for name, array in old.state().items()}
    new = old.learn(lessons(*ROWS[:2], labels=[0.1, 0.1]))
    assert all(np.array_equal(array, before[name]) for name, array in old.state().items())
    assert (new.seen, old.seen) == (3, 1)


def test_state_brings_everything_back_and_learning_goes_on_the_same():
    learned, back = learner().learn(all_rows()), learner().learn(lessons(Row((99,))))
    back.restore(learned.state())
    for _ in range(2):
        assert (back.score(evidence(*ROWS)) == learned.score(evidence(*ROWS))).all()
        assert all(np.array_equal(array, back.state()[name]) for name, array in learned.state().items())
        learned, back = learned.learn(all_rows()), back.learn(all_rows())


def test_only_what_was_touched_is_saved():
    state = learner().learn(lessons(ROWS[0])).state()
    assert sorted(state["touched"].tolist()) == sorted({*ROWS[0].words, *ROWS[0].address, *ROWS[0].places})


def test_learning_leaves_the_lessons_as_they_were():
    some = lessons(Row((1, 1, 1)), Row((2, 2)), labels=[0.9, 0.1])
    before = some.evidence.to_bytes()
    learner().learn(some)
    assert some.evidence.to_bytes() == before


def test_what_moved_without_becoming_surer_is_saved_too():
    """So little that one rounds it off: a variance close to 1 has fewer digits left than a weight close to 0."""
    timid = layout(1e-4, 1e-4, (1e-4,) * len(PLACES))
    learned = KalmanLearner(timid, bias=BIAS, bits=BITS).learn(lessons(ROWS[0]))
    back = KalmanLearner(timid, bias=BIAS, bits=BITS)
    back.restore(learned.state())
    assert learned.weights.any()
    assert (learned.doubt == 1).all()
    assert (back.weights == learned.weights).all()
