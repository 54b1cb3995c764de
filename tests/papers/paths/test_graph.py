"""The graph holds what a crawler would find: links in order, redirects followed, dead ends known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.papers.paths import graph as graph_module
from focused.papers.paths.graph import Graph, build_graph, host_and_port, read_graph
from focused.warc.reader import Recorded
from focused.warc.web import Web

HOST = "http://site.example"


def page(*links):
    return "<html><body>" + "".join(f"<a href='{link}'>x</a>" for link in links) + "</body></html>"


def redirect(to):
    return Recorded(301, (("Location", to), ("Content-Length", "0")))


@pytest.fixture
def web():
    return Web.from_pages(
        {
            f"{HOST}/": page("b", "a", "gone", "a#top", "/", "https://site.example/b", "old", "mailto:x@y"),
            f"{HOST}/a": page("/", "loop", "http://other.example:81/x"),
            f"{HOST}/b": page("%67one", "picture"),
            f"{HOST}/old": redirect("older"),
            f"{HOST}/older": redirect(f"{HOST}/a"),
            f"{HOST}/loop": redirect("/loop"),
            f"{HOST}/lost": redirect("/nowhere"),
            f"{HOST}/picture": Recorded(200, (("Content-Type", "image/png"),), b"<a href='/a'>"),
        }
    )


def links(graph, url):
    return [graph.urls[address] for address in graph.links(graph.urls.index(url))]


def test_links_are_distinct_and_in_the_order_of_the_page(web):
    assert links(build_graph(web), f"{HOST}/") == [f"{HOST}/b", f"{HOST}/a", f"{HOST}/gone", f"{HOST}/old"]


def test_dead_addresses_are_one_however_they_are_spelt(web):
    graph = build_graph(web)
    assert links(graph, f"{HOST}/b")[0] == f"{HOST}/gone"
    assert graph.urls[len(web) :] == [f"{HOST}/gone", "http://other.example:81/x"]


def test_redirects_lead_to_their_end(web):
    graph = build_graph(web)
    ends = {url: graph.leads_to[row] for row, url in enumerate(graph.urls)}
    assert ends[f"{HOST}/old"] == ends[f"{HOST}/older"] == graph.urls.index(f"{HOST}/a")
    assert ends[f"{HOST}/loop"] == ends[f"{HOST}/lost"] == ends[f"{HOST}/gone"] == -1


def test_what_is_not_html_has_no_links(web):
    assert not links(build_graph(web), f"{HOST}/picture")


def test_a_graph_is_read_once(small_web, monkeypatch):
    web = Web.open(small_web.warc)
    first = read_graph(web, small_web.warc)
    monkeypatch.setattr(graph_module, "build_graph", None)
    again = read_graph(web, small_web.warc)
    assert again.urls == first.urls
    for name in ("leads_to", "starts", "targets"):
        assert (getattr(again, name) == getattr(first, name)).all()


def test_hosts_are_named_with_their_port():
    assert host_and_port("http://Other.example:81/x") == "other.example:81"
    assert host_and_port("https://me@site.example/") == "site.example"


def made(size, edges):
    starts = np.searchsorted([source for source, _ in edges], np.arange(size + 1))
    targets = np.array([target for _, target in edges], np.int64)
    return Graph([f"{HOST}/{i}" for i in range(size)], np.arange(size), starts, targets)


@given(st.data())
def test_distances_are_those_of_a_plain_search(data):
    size = data.draw(st.integers(1, 12))
    numbers = st.integers(0, size - 1)
    edges = sorted(data.draw(st.sets(st.tuples(numbers, numbers), max_size=30)))
    targets = data.draw(st.sets(numbers, max_size=3))
    expected = [-1] * size
    for clicks in range(size):
        for source in range(size):
            if expected[source] < 0 and (
                (clicks == 0 and source in targets)
                or (clicks and any(expected[v] == clicks - 1 for u, v in edges if u == source))
            ):
                expected[source] = clicks
    assert made(size, edges).distances(targets).tolist() == expected


def test_distances_can_be_kept_inside():
    graph = made(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    assert graph.distances([3]).tolist() == [2, 1, 1, 0]
    assert graph.distances([3], np.array([True, False, False, True])).tolist() == [-1, -1, -1, 0]
