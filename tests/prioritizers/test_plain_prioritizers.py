"""Breadth-first, random and best-first."""

from __future__ import annotations

import numpy as np

from focused.prioritizers.best_first import BestFirst
from focused.prioritizers.breadth_first import BreadthFirst
from focused.prioritizers.random import Random
from tests.prioritizers.prioritizer_cases import evidence_of


def test_breadth_first_makes_no_difference():
    prioritizer = BreadthFirst()
    good = prioritizer.score(evidence_of(prioritizer, "<a href=/a>a</a>", 1.0))
    bad = prioritizer.score(evidence_of(prioritizer, "<a href=/b>b</a>", 0.0))
    assert good == bad


def test_best_first_scores_a_link_like_its_page():
    prioritizer = BestFirst()
    scores = prioritizer.score(evidence_of(prioritizer, "<a href=/a>a</a><a href=/b>b</a>", 0.7))
    assert np.allclose(scores, 0.7)


def test_random_gives_an_address_one_number_wherever_it_is_linked_from():
    prioritizer = Random(seed=3)
    one = prioritizer.score(evidence_of(prioritizer, "<a href=/a>a</a><a href=/b>b</a><a href=/a>c</a>", 0.1))
    other = prioritizer.score(evidence_of(prioritizer, "text <a href=/b>b</a>", 0.9))
    assert one[0] == one[2] != one[1]
    assert other[0] == one[1]


def test_random_goes_by_its_seed():
    body = "<a href=/a>a</a><a href=/b>b</a>"
    numbers = [Random(seed=seed) for seed in (0, 1, 1)]
    first, second, again = (one.score(evidence_of(one, body)) for one in numbers)
    assert (second == again).all()
    assert not (first == second).any()


def test_random_is_spread_evenly():
    prioritizer = Random()
    body = "".join(f"<a href=/{i}>{i}</a>" for i in range(2000))
    counts, _ = np.histogram(prioritizer.score(evidence_of(prioritizer, body)), bins=10, range=(0, 1))
    assert counts.min() > 140
    assert counts.max() < 260
