"""The steps of a chain against all ways of labelling it; rewards against sums done by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from focused.papers.prioritizers.crf_chain import Table, alpha_step, best_labels, delta_step, start
from focused.papers.prioritizers.crf_reward import reward_of_links, reward_of_path
from focused.papers.prioritizers.crf_training import Sequences, concat_rows, padded, train

STATES = 3
weights = st.floats(-4, 4, width=32)
models = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(arrays(float, (STATES, STATES), elements=weights), min_size=n - 1, max_size=n - 1),
        st.lists(arrays(float, STATES, elements=weights), min_size=n, max_size=n),
    )
)


def weight_of(labels, transitions, logits):
    stands = sum(said[y] for said, y in zip(logits, labels, strict=True))
    return stands + sum(step[a, b] for step, a, b in zip(transitions, labels, labels[1:], strict=False))


def walk(step, first, transitions, logits):
    now = step(first, np.zeros((STATES, STATES)), logits[0])
    for transition, said in zip(transitions, logits[1:], strict=True):
        now = step(now, transition, said)
    return now


@given(models)
def test_alpha_is_the_share_of_all_labellings_that_end_in_a_state(model):
    transitions, logits = model
    share = np.zeros(STATES)
    for labels in product(range(STATES), repeat=len(logits)):
        share[labels[-1]] += np.exp(weight_of(labels, transitions, logits))
    alpha = walk(alpha_step, start(STATES)[0], transitions, logits)
    assert np.allclose(alpha, share / share.sum(), rtol=1e-6)


@given(models)
def test_delta_is_the_best_labelling_that_ends_in_a_state(model):
    transitions, logits = model
    best = np.full(STATES, -np.inf)
    for labels in product(range(STATES), repeat=len(logits)):
        best[labels[-1]] = max(best[labels[-1]], weight_of(labels, transitions, logits))
    delta = walk(delta_step, start(STATES)[1], transitions, logits)
    assert np.allclose(delta, best - best.max(), atol=1e-6)


@given(models)
def test_the_best_labels_weigh_most_of_all(model):
    transitions, logits = model
    most = max(weight_of(labels, transitions, logits) for labels in product(range(STATES), repeat=len(logits)))
    assert weight_of(best_labels(transitions, logits), transitions, logits) == pytest.approx(most)


def test_long_paths_neither_overflow_nor_vanish():
    step, said = np.full((STATES, STATES), 50.0), np.array([400.0, -400.0, 0.0])
    alpha, delta = start(STATES)
    for _ in range(500):
        alpha, delta = alpha_step(alpha, step, said), delta_step(delta, step, said)
    assert np.allclose(alpha, [1, 0, 0])
    assert delta[0] == 0
    assert np.isfinite(delta).all()


def test_many_links_at_once_are_as_each_alone():
    rng = np.random.default_rng(0)
    step, said = rng.normal(size=(STATES, STATES)), rng.normal(size=(5, STATES))
    alpha = np.array([0.2, 0.5, 0.3])
    for of, before in ((alpha_step, alpha), (delta_step, np.log(alpha))):
        assert np.allclose(of(before, step, said), [of(before, step, one) for one in said])


# --- rewards ---------------------------------------------------------------------------------------------------------


def test_the_reward_recursion_by_hand():
    # States: 0 goal, 1 fail. A page, a link, the last page; weights are logarithms of plain numbers.
    to_link, to_page = np.log([[3.0, 1.0], [1.0, 1.0]]), np.log([[4.0, 1.0], [1.0, 2.0]])
    first, link, last = np.zeros(2), np.log([1.0, 2.0]), np.log([1.0, 3.0])
    found = reward_of_path([to_link, to_page], [first, link, last], goal=0, gamma=0.5)
    # R_3 = (1, 0). From a link in state goal: 4·1 against 1·3; from one in state fail: 1·1 against 2·3.
    link_reward = np.array([4 / 7, 1 / 7])
    # From a page in state goal: 3·1 against 1·2; from one in state fail: 1·1 against 1·2.
    page_reward = np.array([3 * link_reward[0] + 2 * link_reward[1], 0]) / 5
    page_reward[1] = (link_reward[0] + 2 * link_reward[1]) / 3
    assert np.allclose(found[1], link_reward)
    assert np.allclose(found[0], (np.array([1, 0]) + 0.25 * page_reward) / 1.25)


def test_a_path_of_one_page_tells_nothing_of_links():
    found = reward_of_path([], [np.zeros(2)], goal=1, gamma=0.5)
    assert found[0].tolist() == [0, 1]
    assert np.isnan(found[1]).all()


def test_rewards_by_counting():
    # goal 0, fail 1, on the way 2: the link to the goal is 1, that one click before ½; where it fails 0.
    found = reward_of_links([[2, 2, 0], [2, 2, 1], [2, 0]], 3, goal=0, gamma=0.5)
    assert found.tolist() == [1.0, 0.0, 0.25]


# --- training --------------------------------------------------------------------------------------------------------


def small_paths():
    numbers = [padded(SMALL[name]) for name in ("pages", "links", "states")]
    return Sequences(concat_rows(SMALL["page_rows"]), concat_rows(SMALL["link_rows"]), *numbers)


def rows(*ids):
    return [np.array(one, np.uint32) for one in ids]


SMALL = {
    "states": [[0, 1], [0, 2], [0, 1], [0, 1, 2], [2]],
    "pages": [[0, 1], [0, 2], [0, 1], [1, 0, 2], [2]],
    "links": [[0, -1], [1, -1], [0, -1], [-1, 1, -1], [-1]],
    "page_rows": rows([3, 7], [5], [7, 9]),
    "link_rows": rows([11], [12, 13]),
}


def test_what_is_trained_is_the_most_probable_of_all_weights():
    """At the optimum the slope of log-likelihood, summed over all labellings by hand, is that of c2·|w|²."""
    chain = train(small_paths(), STATES, c2=0.3, least=1, iterations=500, step=lambda: None)
    expected, observed = np.zeros((STATES, STATES)), np.zeros((STATES, STATES))
    for path in range(len(SMALL["states"])):
        transitions, logits = along(chain, path)
        every = list(product(range(STATES), repeat=len(logits)))
        weight = np.exp([weight_of(labels, transitions, logits) for labels in every])
        for labels, share in zip(every, weight / weight.sum(), strict=True):
            for a, b in zip(labels[0:-1:2], labels[1::2], strict=False):
                expected[a, b] += share
        true = [state for page in SMALL["states"][path] for state in (page, page)][1:]
        for i in range(0, len(true) - 1, 2):
            observed[true[i], true[i + 1]] += 1
    assert np.allclose(observed - expected, 2 * 0.3 * len(SMALL["states"]) * chain.to_link, atol=1e-3)


def along(chain, path):
    pages = chain.pages.logits(concat_rows([SMALL["page_rows"][row] for row in SMALL["pages"][path]]))
    logits = [pages[0]]
    for i, row in enumerate(SMALL["links"][path][:-1]):
        known = [SMALL["link_rows"][row]] if row >= 0 else []
        logits += [*chain.links.logits(concat_rows(known))] if known else [np.zeros(STATES)]
        logits.append(pages[i + 1])
    return [chain.to_link, chain.to_page] * (len(logits) // 2), logits


def test_features_that_are_too_rare_are_not_learned():
    chain = train(small_paths(), STATES, c2=0.3, least=2, iterations=50, step=lambda: None)
    assert chain.pages.ids.tolist() == [7]
    assert chain.links.ids.tolist() == []


def test_the_weights_of_features_that_are_not_known_are_zeros():
    table = Table(np.array([3, 9], np.uint32), np.arange(9.0).reshape(3, 3))
    assert table.of(np.array([9, 4], np.uint32)).tolist() == [[3, 4, 5], [0, 0, 0]]
    nothing = Table(np.zeros(0, np.uint32), np.ones((1, 3)))
    assert nothing.of(np.array([9], np.uint32)).tolist() == [[0, 0, 0]]
    assert nothing.logits((np.array([0, 1]), np.array([9], np.uint32))).tolist() == [[1, 1, 1]]
