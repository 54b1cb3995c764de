"""Equation 1 of the paper, and its two buckets, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from focused.pages.evidence import Evidence
from focused.papers.prioritizers.naive_bayes import NaiveBayesLearner
from focused.prioritizers.base import Lessons

# Three features whose first bits differ, so that they do not share a cell.
A, B, C = 0x10000000, 0x20000000, 0x30000000


def rows(*features):
    starts = np.cumsum([0, *map(len, features)])
    return Evidence.of(
        starts, np.array([i for row in features for i in row], np.uint32), np.zeros((len(features), 1), np.float32)
    )


def lessons(evidence, relevance, weight=1.0):
    n = len(evidence)
    column = np.array(relevance, np.float32)
    return Lessons(evidence, column, column, np.full(n, weight, np.float32), *np.ones((2, n), np.bool_))


@pytest.fixture
def taught():
    """High: A A B. Low: B and C C. So |T| = 3, three occurrences in each bucket, one lesson against two."""
    return NaiveBayesLearner(cut="half").learn(lessons(rows([A, A, B], [B], [C, C]), [0.9, 0.1, 0.2]))


def test_rates_are_those_of_equation_1(taught):
    high = {A: (1 + 2) / (3 + 3), B: (1 + 1) / (3 + 3), C: (1 + 0) / (3 + 3)}
    low = {A: (1 + 0) / (3 + 3), B: (1 + 1) / (3 + 3), C: (1 + 2) / (3 + 3)}
    expected = [np.log(high[i] / low[i]) for i in (A, B, C)]
    ids = np.array([A, B, C], np.uint32)
    assert np.allclose(taught.weights_of(ids) / taught.trust, expected, atol=1e-6)


def test_the_score_is_the_probability_of_the_high_bucket(taught):
    trust = 1 / (1 + 10)
    odds = (2 / 3) * 3 * 3  # prior (1 + 1) / (2 + 1), then twice A: (3/6) / (1/6)
    assert taught.score(rows([A, A]))[0] == pytest.approx(trust * odds / (1 + odds) + (1 - trust) * 0.5, rel=1e-5)


def test_learning_in_two_batches_is_learning_in_one(taught):
    first = NaiveBayesLearner(cut="half").learn(lessons(rows([A, A, B]), [0.9]))
    second = first.learn(lessons(rows([B], [C, C]), [0.1, 0.2]))
    assert np.array_equal(second.counts, taught.counts)
    assert np.array_equal(second.lessons, taught.lessons)


def test_lessons_count_by_their_weight():
    half = NaiveBayesLearner().learn(lessons(rows([A], [A]), [0.9, 0.9], weight=0.5))
    whole = NaiveBayesLearner().learn(lessons(rows([A]), [0.9]))
    assert np.array_equal(half.counts, whole.counts)


def test_studying_counts_once(taught):
    evidence = rows([A, A, B], [B], [C, C])
    studied = NaiveBayesLearner(cut="half").study(lessons(evidence, [0.9, 0.1, 0.2]))
    assert np.array_equal(studied.counts, taught.counts)


def test_trust_grows_with_the_scarcer_bucket(taught):
    only_bad = NaiveBayesLearner().learn(lessons(rows(*[[A]] * 100), [0.0] * 100))
    assert NaiveBayesLearner().trust == only_bad.trust == 0
    assert 0 < taught.trust < taught.learn(lessons(rows([A]), [1.0])).trust < 1


def test_buckets_hold_as_many_lessons_as_possible_each():
    """A median of .02: A and B are low, C is high; lessons of the same R stay together."""
    learner = NaiveBayesLearner().learn(lessons(rows([A], [B], [C], [C]), [0.01, 0.02, 0.03, 0.9]))
    assert learner.high == pytest.approx(0.03, rel=1e-3)
    assert learner.lessons.tolist() == [2, 2]
    ties = NaiveBayesLearner().learn(lessons(rows(*[[A]] * 4, [B]), [0.01, 0.01, 0.01, 0.01, 0.02]))
    assert ties.high == pytest.approx(0.02, rel=1e-3)
    assert ties.lessons.tolist() == [4, 1]


def test_buckets_are_cut_by_the_weight_of_lessons():
    some = lessons(rows([A], [B], [C]), [0.1, 0.2, 0.3])
    some.weight[:] = 0.2, 0.2, 1
    assert NaiveBayesLearner().learn(some).high == pytest.approx(0.3, rel=1e-3)


def test_one_relevance_alone_is_cut_at_a_half():
    assert NaiveBayesLearner().learn(lessons(rows([A], [B]), [0.1, 0.1])).lessons.tolist() == [2, 0]
    assert NaiveBayesLearner().learn(lessons(rows([A], [B]), [0.8, 0.8])).lessons.tolist() == [0, 2]


def test_the_cut_is_that_of_all_batches_and_what_was_counted_stays():
    """First A .1 | B .2; then .2 is no longer high, but B was counted there; C .25 is low by now."""
    first = NaiveBayesLearner().learn(lessons(rows([A], [B]), [0.1, 0.2]))
    assert first.counts.sum(axis=1).tolist() == [1, 1]
    second = first.learn(lessons(rows([C], [A], [A], [A]), [0.25, 0.8, 0.9, 0.7]))
    at_once = NaiveBayesLearner().learn(lessons(rows([A], [B], [C], [A], [A], [A]), [0.1, 0.2, 0.25, 0.8, 0.9, 0.7]))
    assert second.high == at_once.high == pytest.approx(0.7, rel=1e-3)
    assert (second.lessons.tolist(), at_once.lessons.tolist()) == ([2, 4], [3, 3])


def test_the_cut_goes_on_from_a_saved_state():
    taught = NaiveBayesLearner().learn(lessons(rows([A], [B], [C]), [0.01, 0.02, 0.03]))
    back = NaiveBayesLearner()
    back.restore(taught.state())
    more = lessons(rows([A], [B]), [0.04, 0.05])
    assert np.array_equal(back.learn(more).counts, taught.learn(more).counts)
    state = taught.state()
    with pytest.raises(ValueError, match="'met_weight' is not 3 finite numbers"):
        back.restore({**state, "met_weight": state["met_weight"][:2]})
