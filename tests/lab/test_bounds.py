"""Crawls on paper: each knows what it should, and no more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.lab.bounds import JUDGED, ROWS, Truth, walk
from focused.papers.paths.graph import Graph


def ground(size, edges, targets, *, examples=(), relevance=None, leads_to=None, inside=None):
    edges = sorted(edges, key=lambda edge: edge[0])
    starts = np.searchsorted([source for source, _ in edges], np.arange(size + 1))
    links = np.array([target for _, target in edges], np.int64)
    ends = np.arange(size) if leads_to is None else np.array(leads_to)
    graph = Graph([f"http://site.example/{i}" for i in range(len(ends))], ends, starts, links)
    wanted, counts, labelled = np.zeros(size, bool), np.ones(size, bool), np.zeros(size, bool)
    wanted[list(targets)] = True
    counts[list(examples)] = False
    labelled[[*targets, *examples]] = True
    allowed = np.ones(len(ends), bool) if inside is None else np.array(inside)
    return Truth(graph, wanted, labelled, counts, allowed, None if relevance is None else np.array(relevance))


# 0 ─ 1 ─ 2 ─ 3*      two ways: a hub (1) behind which one target is, and a longer way (4, 5) to two
#   └ 4 ─ 5 ─ 6*, 7*
TREE = [(0, 1), (0, 4), (1, 2), (2, 3), (4, 5), (5, 6), (5, 7)]


def test_breadth_first_takes_links_as_they_were_found():
    trace = walk(ground(8, TREE, [3, 6, 7]), [0], 8, "breadth-first")
    assert trace.pages == [0, 1, 4, 2, 5, 3, 6, 7]


def test_near_bound_goes_where_a_target_is_near():
    place = ground(8, TREE, [3, 6, 7])
    assert walk(place, [0], 6, "near-bound").pages == [0, 1, 2, 3, 4, 5]


def test_the_bound_forgets_targets_that_it_has():
    # 1 links to the target 2, which is known from 0; 3 and 4 lead to the target 5.
    place = ground(6, [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (4, 5)], [2, 5])
    assert walk(place, [0], 6, "near-bound").pages == [0, 2, 1, 3, 4, 5]
    assert walk(place, [0], 6, "bound").pages == [0, 2, 3, 4, 5, 1]


def test_foresight_follows_the_critic_wherever_that_leads():
    place = ground(4, [(0, 1), (0, 2), (0, 3)], [3], relevance=[0.0, 0.2, 0.9, 0.5])
    assert walk(place, [0], 4, "foresight").pages == [0, 2, 3, 1]


@pytest.mark.parametrize("row", sorted(JUDGED))
def test_without_verdicts_a_row_that_needs_them_is_refused(row):
    with pytest.raises(ValueError, match=f"{row} needs the critic's verdict"):
        walk(ground(2, [(0, 1)], [1]), [0], 2, row)


# 0 ─ 1 (R 0.9) ─ 4 ─ 5 ─ 6 ─ 7*     7 is three clicks from 4, two from 5; 2 has nothing behind it
#   ├ 2 (R 0.1) ─ 8
#   └ 3 (R 0.5) ─ 9
HIDDEN = [(0, 1), (0, 2), (0, 3), (1, 4), (4, 5), (5, 6), (6, 7), (2, 8), (3, 9)]
VERDICTS = [0.3, 0.9, 0.1, 0.5, 0.2, 0, 0, 1, 0, 0]


def test_two_clicks_sees_a_target_two_clicks_behind_a_link():
    place = ground(10, HIDDEN, [7], relevance=VERDICTS)
    # Out of sight, links come in the order of the verdicts on the pages where they are: 4 (0.9) before 2 and 3 (0.3).
    # From there on the target is in sight; then 3 and 2 wait with the verdict on 0, and 9 is before 8.
    assert walk(place, [0], 10, "two-clicks").pages == [0, 1, 4, 5, 6, 7, 2, 3, 9, 8]
    # A target in sight comes before all verdicts; when it is fetched, they count again.
    assert walk(ground(10, HIDDEN, [8], relevance=VERDICTS), [0], 5, "two-clicks").pages == [0, 2, 8, 1, 4]


def test_two_clicks_goes_to_the_nearest_of_the_targets_that_it_has_not():
    place = ground(6, [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (4, 5)], [2, 5], relevance=[0.0] * 6)
    assert walk(place, [0], 6, "two-clicks").pages == walk(place, [0], 6, "bound").pages == [0, 2, 3, 4, 5, 1]


def test_two_clicks_judges_a_link_by_the_best_page_that_it_was_found_on():
    # 0 links to 1, 2 and 3; 2 (R 0.8) also links to 3, which then goes before 1, found with it on 0.
    edges = [(0, 2), (0, 1), (0, 3), (2, 3), (2, 4)]
    place = ground(5, edges, [], relevance=[0.5, 0.1, 0.8, 0.9, 0.2])
    assert walk(place, [0], 5, "two-clicks").pages == [0, 2, 3, 4, 1]
    worse = ground(5, edges, [], relevance=[0.5, 0.1, 0.4, 0.9, 0.2])
    assert walk(worse, [0], 5, "two-clicks").pages == [0, 2, 1, 3, 4]


def test_two_clicks_requests_no_link_twice_and_no_dead_link():
    # 3 is dead, 4 redirects to 1; both are found on 0, and again on the better page 1.
    edges = [(0, 1), (0, 3), (0, 4), (0, 2), (1, 2), (1, 3), (1, 4)]
    place = ground(3, edges, [], relevance=[0.1, 0.9, 0.2], leads_to=[0, 1, 2, -1, 1])
    trace = walk(place, [0], 3, "two-clicks")
    assert (trace.pages, trace.requests) == ([0, 1, 2], [1, 2, 4])


def test_the_oracle_wants_labels_even_of_pages_that_do_not_count():
    place = ground(4, [(0, 1), (0, 2), (0, 3)], [3], examples=[2])
    assert walk(place, [0], 4, "oracle").pages == [0, 3, 1]
    assert walk(ground(4, [(0, 2), (0, 3)], [3], examples=[2]), [0], 4, "oracle").requests == [1, 3]


def test_example_pages_do_not_count_but_are_crawled():
    place = ground(4, [(0, 1), (1, 2), (2, 3)], [3], examples=[1, 2])
    trace = walk(place, [0], 2, "breadth-first")
    assert trace.pages == [0, 3]
    assert trace.requests == [1, 4]


def test_dead_links_cost_those_who_do_not_know():
    place = ground(3, [(0, 3), (0, 1), (1, 2)], [2], leads_to=[0, 1, 2, -1])
    assert walk(place, [0], 3, "breadth-first").requests == [1, 3, 4]
    assert walk(place, [0], 3, "bound").requests == [1, 2, 3]


def test_a_redirect_leads_to_its_page_once():
    place = ground(3, [(0, 3), (0, 1), (0, 2)], [2], leads_to=[0, 1, 2, 1])
    trace = walk(place, [0], 3, "breadth-first")
    assert trace.pages == [0, 1, 2]
    assert trace.requests == [1, 3, 4]


def test_a_crawl_stays_inside():
    place = ground(4, [(0, 1), (0, 2), (1, 3)], [3], inside=[True, False, True, True])
    for name in ("breadth-first", "bound"):
        assert walk(place, [0], 4, name).pages == [0, 2]


def reachable(edges, seed):
    found, waiting = {seed}, [seed]
    while waiting:
        source = waiting.pop()
        new = {v for u, v in edges if u == source} - found
        found |= new
        waiting += new
    return found


@given(st.data())
def test_whoever_knows_how_comes_everywhere_and_the_bound_first(data):
    size = data.draw(st.integers(2, 14))
    numbers = st.integers(0, size - 1)
    edges = data.draw(st.sets(st.tuples(numbers, numbers).filter(lambda edge: edge[0] != edge[1]), max_size=40))
    targets = data.draw(st.sets(numbers, min_size=1, max_size=4))
    place = ground(size, edges, targets, relevance=np.linspace(0, 1, size))
    for name in ("breadth-first", *ROWS):
        assert set(walk(place, [0], size, name).pages) == reachable(edges, 0)
    pages = walk(place, [0], size, "bound").pages
    wanted = [pages.index(target) for target in targets if target in pages]
    # Once the last reachable target is found, nothing else was worth going to before it: every page fetched until
    # then stood, when it was fetched, at the least distance from a target that was not fetched.
    for at in range(1, max(wanted, default=0) + 1):
        left = [target for target in targets if target not in pages[:at]]
        distance = place.graph.distances(left)
        waiting = {v for u, v in edges if u in pages[:at]} - set(pages[:at])
        best = min(distance[page] for page in waiting if distance[page] >= 0)
        assert distance[pages[at]] == best
