"""Paths drawn from webs, jobs and backlinks."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.pages.fetched import Fetched
from focused.pages.page import page_from_html
from focused.papers.paths.draw import Field, draw_visits, draw_walks
from focused.papers.paths.graph import Graph, build_graph
from focused.papers.paths.path import FAIL, GOAL, Path, PathsError, Step
from focused.papers.paths.topics import read_labels
from focused.papers.teaching.drawing import field_of_backlinks, field_of_web, lab_topics
from focused.papers.teaching.paths import stops_of
from focused.teaching.plan import CannotTeach
from focused.warc.web import Web


def url(page):
    return f"http://w.example/{page}"


def field_of(links, targets, pages=0):
    graph = Graph.of_links([(url(a), url(b)) for a, b in links])
    rows = {address: row for row, address in enumerate(graph.urls)}
    mask = np.zeros(len(graph), bool)
    mask[[rows[url(page)] for page in targets if url(page) in rows]] = True
    return Field(graph, mask, np.ones(len(graph), bool))


def webs():
    page = st.integers(0, 25)
    return st.builds(field_of, st.lists(st.tuples(page, page), min_size=10, max_size=120), st.sets(page, min_size=1))


@given(webs(), st.integers(0, 99), st.integers(1, 4))
def test_walks_never_go_outwards_nor_in_circles(field, seed, furthest):
    try:
        walks = draw_walks(field, count=20, seed=seed, furthest=furthest)
    except PathsError:
        return
    row = {address: page for page, address in enumerate(field.graph.urls)}
    for walk in walks:
        pages = [row[step.url] for step in walk.steps]
        layers = [step.layer for step in walk.steps]
        assert 2 <= len(pages) <= 10
        assert layers == sorted(layers, reverse=True)
        assert layers == field.distances[pages].tolist()
        assert layers[0] == furthest
        assert len(set(pages)) == len(pages)
        assert all(b in field.graph.links(a) for a, b in pairwise(pages))
        assert (walk.end == GOAL) == bool(field.targets[pages[-1]])


@given(webs(), st.integers(0, 99))
def test_visits_are_shortest_ways_to_targets_and_to_failures(field, seed):
    root = 0
    labels = {page: "milestone" for page in range(len(field.graph)) if page % 7 == 3}
    try:
        visits = draw_visits(replace(field, roots=[root], label_of=lambda page: labels.get(page, "")), seed=seed)
    except PathsError:
        return
    row = {address: page for page, address in enumerate(field.graph.urls)}
    for visit in visits:
        pages = [row[step.url] for step in visit.steps]
        alone = np.arange(len(field.graph)) == pages[-1]
        assert pages[0] == root
        assert len(pages) - 1 == field.graph.distances(alone)[root]
        assert [step.label for step in visit.steps[:-1]] == [labels.get(page, "") for page in pages[:-1]]
        if visit.end == FAIL:
            assert not field.targets[pages].any()
            assert field.distances[pages[-1]] != 1
        else:
            assert visit.end == GOAL
            assert field.targets[pages[-1]]


def test_the_same_seed_draws_the_same():
    draw = random.Random(5)
    field = field_of([(draw.randrange(60), draw.randrange(60)) for _ in range(180)], [1, 2])
    assert draw_walks(field, count=50, furthest=3) == draw_walks(field, count=50, furthest=3)
    assert draw_walks(field, count=50, furthest=3) != draw_walks(field, count=50, furthest=3, seed=1)


def test_a_web_without_such_a_layer_says_which_there_is():
    with pytest.raises(PathsError, match=r"no page is 4 clicks from a target \(the furthest is 2: draw with --l"):
        draw_walks(field_of([(0, 1), (1, 2), (5, 6)], [2]))
    with pytest.raises(PathsError, match="none leads to one"):
        draw_walks(field_of([(0, 1)], [0]))


def test_visits_need_a_root_that_leads_somewhere():
    with pytest.raises(PathsError, match="no target can be reached"):
        draw_visits(replace(field_of([(0, 1), (2, 3)], [3]), roots=[0]))


def test_the_share_that_goes_astray():
    links = [(0, page) for page in range(1, 31)] + [(0, 100 + page) for page in range(60)]
    field = field_of(links, range(1, 31))
    visits = draw_visits(replace(field, roots=[0]), astray=0.25)
    assert sum(visit.end == GOAL for visit in visits) == 30
    assert sum(visit.end == FAIL for visit in visits) == 10


def test_backlinks_make_a_graph(tmp_path):
    table = tmp_path / "links.tsv"
    table.write_text(f"source\ttarget\n{url(1)}\t{url(0)}\n{url(2)}\t{url(1)}\n{url(2)}\t{url(2)}\n")
    field = field_of_backlinks(table, [url(0)])
    walks = draw_walks(field, count=3, furthest=2)
    assert {tuple(step.url for step in walk.steps) for walk in walks} <= {(url(2), url(1)), (url(2), url(1), url(0))}
    with pytest.raises(PathsError, match="none of the 1 wanted examples"):
        field_of_backlinks(table, ["http://elsewhere.example/"])
    table.write_text("from\tto\n")
    with pytest.raises(PathsError, match="columns 'source' and 'target'"):
        field_of_backlinks(table, [url(0)])
    table.write_bytes(b"\x7fELF\xff")
    with pytest.raises(ValueError, match=r"links\.tsv:1:5: not UTF-8: byte 0xff"):
        field_of_backlinks(table, [url(0)])


def test_milestones_that_no_page_has_are_told(small_web, tmp_path):
    web = Web.open(small_web.warc)
    labels = read_labels(small_web.labels)
    (topic,) = lab_topics(["stars"], str(small_web.topics), labels, [])
    with pytest.raises(PathsError, match="no page has the label 'soup' that is to be a milestone"):
        field_of_web(web, build_graph(web), topic, labels, ["soups", "soup"])


def test_paths_whose_pages_are_mostly_missing_do_not_teach():
    paths = [Path([Step(url(1)), Step(url(2)), Step(url(3), GOAL)])]
    fetched = Fetched({url(1): page_from_html("", url(1))}, {url(2): "HTTP 404", url(3): "HTTP 404"})
    with pytest.raises(CannotTeach) as error:
        stops_of(paths, fetched)
    assert f"only 1 of the 3 pages on the paths could be had: HTTP 404 (2, first {url(2)}); is" in str(error.value)
