"""Belief along a path against all sequences of states, and priorities by it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from focused.pages.evidence import Evidence
from focused.papers.prioritizers.states import STATES, belief_on_arrival, normalised, path_told, priority, step, uniform

chances = st.floats(0.001, 1)
paths = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        arrays(float, STATES, elements=chances), st.lists(arrays(float, (STATES,) * 2, elements=chances), min_size=n)
    )
)


def every_way(start, transitions, end):
    """The probability of each sequence of states that ends in one."""
    for states in product(range(STATES), repeat=len(transitions)):
        way = (*states, end)
        steps = zip(transitions, way[:-1], way[1:], strict=True)
        yield start[way[0]] * np.prod([step[before, after] for step, before, after in steps])


def along(start, transitions, inference):
    belief = start
    for one in transitions:
        belief = step(belief, one, inference)
    return belief


@settings(max_examples=25)
@given(paths)
def test_belief_is_that_of_all_sequences_together(path):
    start, transitions = normalised(path[0]), [normalised(one) for one in path[1][:4]]
    by_hand = [sum(every_way(start, transitions, end)) for end in range(STATES)]
    assert np.allclose(along(start, transitions, "marginal"), by_hand)


@settings(max_examples=25)
@given(paths)
def test_viterbi_is_that_of_the_best_sequence(path):
    start, transitions = normalised(path[0]), [normalised(one) for one in path[1][:4]]
    by_hand = [max(every_way(start, transitions, end)) for end in range(STATES)]
    assert np.allclose(along(start, transitions, "viterbi"), normalised(np.array(by_hand)))


def test_a_long_path_does_not_underflow():
    tiny = np.full((STATES, STATES), 1e-200)
    for inference in ("marginal", "viterbi"):
        belief = along(uniform(), [tiny] * 50, inference)
        assert np.allclose(belief.sum(), 1)


def test_many_beliefs_at_once():
    rng = np.random.default_rng(0)
    beliefs, transitions = normalised(rng.random((7, STATES))), normalised(rng.random((7, STATES, STATES)))
    together = step(beliefs, transitions, "marginal")
    assert np.allclose(together, [step(b, t, "marginal") for b, t in zip(beliefs, transitions, strict=True)])


def arrived(*beliefs):
    dense = np.array([[*belief, 7.0] for belief in beliefs], np.float32)
    return Evidence.of(np.zeros(len(beliefs) + 1, np.int64), np.zeros(0, np.uint32), dense)


def test_nothing_is_believed_of_a_seed():
    assert np.allclose(belief_on_arrival(None, "marginal"), 0.2)
    assert np.allclose(belief_on_arrival(arrived(), "marginal"), 0.2)


def test_several_links_to_a_page():
    links = arrived([1, 0, 0, 0, 0], [0, 0, 0, 0, 1])
    assert np.allclose(belief_on_arrival(links, "marginal"), [0.5, 0, 0, 0, 0.5])
    links = arrived([0.6, 0.4, 0, 0, 0], [0.2, 0.8, 0, 0, 0])
    assert np.allclose(belief_on_arrival(links, "viterbi"), normalised(np.array([0.6, 0.8, 0, 0, 0])))


def test_worth_is_discounted_by_clicks():
    beliefs = np.eye(STATES)
    assert np.allclose(priority(beliefs, 0.5, "discounted"), [1, 0.5, 0.25, 0.125, 0.0625])
    assert np.allclose(priority(beliefs, 0.0, "discounted"), [1, 0, 0, 0, 0])


def test_by_state_the_nearer_one_comes_first_however_sure():
    near, surely_near, far = [0.0, 0.4, 0.2, 0.2, 0.2], [0.0, 0.9, 0.1, 0, 0], [0.3, 0, 0, 0, 0.7]
    scores = priority(np.array([near, surely_near, far]), 0.5, "state")
    assert scores[1] > scores[0] > scores[2]
    assert ((scores >= 0) & (scores <= 1)).all()


def test_a_path_is_told_by_name():
    assert path_told(np.array([0.1, 0.1, 0.61, 0.1, 0.09]), 0.3).feature == "path so far: T2 0.61"


@pytest.mark.parametrize("inference", ["marginal", "viterbi"])
def test_where_nothing_is_possible_all_is_equal(inference):
    assert np.allclose(step(uniform(), np.zeros((STATES, STATES)), inference), 0.2)
