"""Weights for the levels of links, found on a crawl that is over."""

from __future__ import annotations

import numpy as np
import pytest

from focused.papers.prioritizers.lexical import Lexical
from focused.papers.teaching.crawled import Crawled
from focused.papers.teaching.weights import combinations, find_weights
from focused.teaching.plan import CannotTeach


def crawled(level, links, *, seeds=1, combine="first") -> Crawled:
    """Pages of these levels, and links (from, to, context, content, page)."""
    source, target, *places = (np.array(column) for column in zip(*links, strict=True))
    seed = np.arange(len(level)) < seeds
    return Crawled(np.array(level), seed, source, target, np.array(places, float).T, combine)


def fan(level, places) -> Crawled:
    """A seed with a link to every page."""
    return crawled([9, *level], [(0, number + 1, *one) for number, one in enumerate(places)])


def test_all_combinations_at_a_precision_sum_to_1():
    found = combinations(0.1)
    assert len(found) == 45
    assert len({tuple(weights) for weights in found}) == 45
    assert all(weights.sum() == pytest.approx(1) and weights[0] > 0 < weights[1] for weights in found)
    assert all((weights >= 0).all() for weights in found)


@pytest.mark.parametrize("precision", [0, -0.1, 0.001, 0.6, 0.3, float("nan")])
def test_a_precision_that_is_none_is_told(precision):
    with pytest.raises(CannotTeach, match="give a step from"):
        combinations(precision)


def test_the_order_score_is_equation_3_10():
    web = fan([1, 3, 2], [(1, 1, 1)] * 3)
    assert web.order_score(np.array([0, 1, 2, 3])) == pytest.approx(1 / 1 + 3 / 2 + 2 / 3)
    assert web.order_score(np.array([2, 0, 3, 1])) == pytest.approx(3 / 1 + 2 / 2 + 1 / 3)


@pytest.mark.parametrize("by", ["order", "replay"])
@pytest.mark.parametrize(("feature", "name"), [(0, "a"), (1, "b"), (2, "c")])
def test_the_feature_that_tells_the_level_gets_the_weight(by, feature, name):
    rng = np.random.default_rng(0)
    level = rng.integers(1, 5, 60)
    places = rng.integers(1, 5, (60, 3)).astype(float)
    places[:, feature] = level
    found = find_weights(fan(level.tolist(), places.tolist()), by=by)
    assert found[name] == max(found["a"], found["b"], found["c"])
    assert found["order score"] <= found["even weights"]
    assert found["a"] + found["b"] + found["c"] == pytest.approx(1)


def test_of_equal_orders_the_most_even_weights_count():
    found = find_weights(fan([1, 2], [(1, 1, 1), (2, 2, 2)]))
    assert sorted([found["a"], found["b"], found["c"]]) == pytest.approx([0.3, 0.3, 0.4])


# From the seed, content leads to page 1 (level 4), and through it to eight targets; context to page 2 (level 3), from
# which nothing leads on.
LEVEL = [9, 4, 3, *[1] * 8]
WAY = [(0, 1, 4, 1, 2), (0, 2, 1, 4, 2), *((1, target, 1, 1, 4) for target in range(3, 11))]


def test_a_replay_hands_links_out_page_by_page():
    web = crawled(LEVEL, WAY)
    by_content = -(web.places @ [0.1, 0.9, 0.0])
    by_context = -(web.places @ [0.9, 0.1, 0.0])
    assert web.by_replay(by_content).tolist() == [0, 1, *range(3, 11), 2]
    assert web.by_replay(by_context).tolist() == [0, 2, 1, *range(3, 11)]
    # One queue has the targets first in any case: it cannot see that somebody must find them.
    assert web.by_queue(by_context).tolist()[:8] == list(range(3, 11))


def test_the_two_ways_may_find_different_weights():
    queue, replay = (find_weights(crawled(LEVEL, WAY), by=by) for by in ("order", "replay"))
    assert replay["b"] > replay["a"]
    assert queue["a"] > queue["b"]


@pytest.mark.parametrize(("combine", "order"), [("first", [0, 2, 3, 1]), ("max", [0, 2, 1, 3]), ("mean", [0, 2, 3, 1])])
def test_several_links_to_a_page_are_combined_as_the_crawl_does(combine, order):
    links = [(0, 1, 4, 4, 4), (0, 2, 1, 1, 1), (0, 3, 2, 2, 2), (2, 1, 1, 1, 1)]
    web = crawled([9, 1, 1, 1], links, combine=combine)
    assert web.by_replay(-web.places.sum(axis=1)).tolist() == order


def test_pages_to_which_no_link_is_known_come_last():
    web = crawled([9, 1, 1, 2], [(0, 3, 1, 1, 1), (-1, 2, 1, 1, 1)])
    assert web.by_replay(-web.places.sum(axis=1)).tolist() == [0, 3, 1, 2]


def test_progress_is_told_and_may_end_it():
    told = []
    find_weights(fan([1, 2], [(1, 1, 1), (2, 2, 2)]), progress=lambda done, total: told.append((done, total)))
    assert told[0] == (1, 45)
    assert told[-1] == (45, 45)


def test_found_weights_lead_the_linear_combination():
    prioritizer = Lexical(combination="linear")
    prioritizer.restore({"weights": np.array([0.1, 0.8, 0.1])})
    assert prioritizer.weights == pytest.approx((0.1, 0.8, 0.1))
    assert Lexical().weights == pytest.approx((1 / 3,) * 3)
