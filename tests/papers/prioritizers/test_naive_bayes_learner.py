"""Equation 1 of the paper, worked out by hand."""

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
    return NaiveBayesLearner().learn(lessons(rows([A, A, B], [B], [C, C]), [0.9, 0.1, 0.2]))


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
    first = NaiveBayesLearner().learn(lessons(rows([A, A, B]), [0.9]))
    second = first.learn(lessons(rows([B], [C, C]), [0.1, 0.2]))
    assert np.array_equal(second.counts, taught.counts)
    assert np.array_equal(second.lessons, taught.lessons)


def test_lessons_count_by_their_weight():
    half = NaiveBayesLearner().learn(lessons(rows([A], [A]), [0.9, 0.9], weight=0.5))
    whole = NaiveBayesLearner().learn(lessons(rows([A]), [0.9]))
    assert np.array_equal(half.counts, whole.counts)


def test_studying_counts_once(taught):
    evidence = rows([A, A, B], [B], [C, C])
    assert np.array_equal(NaiveBayesLearner().study(lessons(evidence, [0.9, 0.1, 0.2])).counts, taught.counts)


def test_trust_grows_with_the_scarcer_bucket(taught):
    only_bad = NaiveBayesLearner().learn(lessons(rows(*[[A]] * 100), [0.0] * 100))
    assert NaiveBayesLearner().trust == only_bad.trust == 0
    assert 0 < taught.trust < taught.learn(lessons(rows([A]), [1.0])).trust < 1
