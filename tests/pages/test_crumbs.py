"""Where links stand: the names of the elements around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from focused.pages.crumbs import DEEPEST, Crumbs
from focused.pages.page import Links, PageLimits, page_from_html, parse_page
from focused.pages.tokens import word_to_id

NEWS = (
    "<body><div id=top class=bar><a href=/home>Home</a></div>"
    "<ul id=news><li><a href=/1>one</a><li><p>of <b><a href=/2>two</a></b></p><li><a href=/3>three</a></ul>"
    "<table class='wide data'><tr><td><a href=/4>four</a></table></body>"
)


def links(html: str) -> Links:
    return page_from_html(html, "http://h/").links


def ids(*paths: str) -> list[int]:
    return [word_to_id(path) for path in paths]


def path_of(body: str) -> int:
    (path,) = links(f"<body>{body}</body>").paths.tolist()
    return int(path)


def test_a_path_names_the_elements_from_the_root_down_with_their_ids_and_classes():
    found = links(NEWS)
    assert found.paths.tolist() == ids(
        "html/body/div#top.bar",
        "html/body/ul#news/li",
        "html/body/ul#news/li/p/b",
        "html/body/ul#news/li",
        "html/body/table.wide.data/tr/td",
    )


def test_an_end_is_the_last_two_names():
    assert links(NEWS).ends.tolist() == ids("body/div#top.bar", "ul#news/li", "p/b", "ul#news/li", "tr/td")


def test_ids_are_those_of_words():
    found = links(NEWS)
    assert found.paths.dtype == found.ends.dtype == np.uint32


def test_links_of_one_list_share_their_path_and_links_elsewhere_do_not():
    def menu(name: str) -> str:
        return f"<ul class={name}>{''.join(f'<li><a href=/{name}/{n}>{n}</a>' for n in range(4))}</ul>"

    paths = links(f"<div>{menu('main')}<p>between <a href=/p>them</a></p>{menu('other')}</div>").paths.tolist()
    main, between, other = paths[:4], paths[4], paths[5:]
    assert len(set(main)) == len(set(other)) == 1
    assert len({main[0], between, other[0]}) == 3


def test_the_same_template_on_another_page_gives_the_same_paths():
    one = page_from_html(NEWS, "http://h/")
    other = page_from_html(NEWS.replace("two", "<i>deux</i>").replace("<body>", "<body><hr>"), "http://elsewhere/x")
    assert one.links.paths.tolist() == other.links.paths.tolist()
    assert one.links.ends.tolist() == other.links.ends.tolist()


def test_what_follows_a_deeper_place_is_named_from_where_it_stands():
    found = links("<div><ul><li><i><a href=/1>x</a></i></ul><a href=/2>y</a></div><p><a href=/3>z</a>")
    assert found.paths.tolist() == ids("html/body/div/ul/li/i", "html/body/div", "html/body/p")


def test_a_link_in_a_link_stands_in_it():
    found = links("<map><area href=/1></map><object><a href=/2><img src=x><iframe src=/3></iframe></a></object>")
    assert found.paths.tolist() == ids("html/body/map", "html/body/object", "html/body/object/a")


@pytest.mark.parametrize(
    ("one", "other"),
    [("id=post-7", "id=post-1234"), ("class=col3", "class=col12"), ("id=a1b22 class='c3 d'", "id=a9b0 class='c44 d'")],
)
def test_digits_are_all_alike(one: str, other: str):
    assert path_of(f"<div {one}><a href=/x>x</a></div>") == path_of(f"<div {other}><a href=/x>x</a></div>")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<div id=news>", "<div class=news>"),
        ("<div id=news>", "<div id=links>"),
        ("<div class='a b'>", "<div class='b a'>"),
        ("<div class=a>", "<div>"),
        ("<h1>", "<h2>"),
    ],
)
def test_other_names_are_other_places(one: str, other: str):
    assert path_of(f"{one}<a href=/x>x</a>") != path_of(f"{other}<a href=/x>x</a>")


def test_of_many_classes_two_count_and_of_a_long_name_its_beginning():
    assert path_of("<p class='a b c d'><a href=/x>x</a>") == path_of("<p class=' a  b '><a href=/x>x</a>")
    long = "n" * 40
    assert path_of(f"<p id={long}abc><a href=/x>x</a>") == path_of(f"<p id={long}xyz><a href=/x>x</a>")


@pytest.mark.parametrize("attributes", ["id", "class", "id='' class=' '", "id='\u00a0'"])
def test_empty_names_are_no_names(attributes: str):
    assert path_of(f"<div {attributes}><a href=/x>x</a></div>") == word_to_id("html/body/div")


def test_deeper_down_than_forty_elements_all_places_are_one():
    def nested(depth: int) -> int:
        return path_of("<div>" * depth + "<a href=/x>x</a>")

    assert nested(37) != nested(38) == nested(39) == nested(500)
    assert nested(38) == word_to_id("html/body" + "/div" * 38)


def test_a_link_costs_the_same_however_deep_it_stands(monkeypatch: pytest.MonkeyPatch):
    """A hostile page may have a link on each of two thousand levels."""
    looked_at: list[int] = []
    of = Crumbs.of

    def counted(crumbs: Crumbs, ancestors: list[Any]) -> tuple[int, int]:
        looked_at.append(len(ancestors))
        return of(crumbs, ancestors)

    monkeypatch.setattr(Crumbs, "of", counted)
    found = links("<div><a href=/x></a>" * 500)
    assert len(found) == len(looked_at) == 500
    assert max(looked_at) <= DEEPEST + 1
    assert found.paths.tolist()[-1] == word_to_id("html/body" + "/div" * 38)


def test_after_a_deep_place_a_shallow_one_is_still_right():
    found = links("<p>" + "<b>" * 300 + "<a href=/1>x</a>" + "</b>" * 300 + "</p><p id=z><a href=/2>y</a></p>")
    assert found.paths.tolist()[1:] == ids("html/body/p#z")
    assert found.ends.tolist()[1:] == ids("body/p#z")


def test_a_link_that_is_the_whole_tree_stands_nowhere():
    root = etree.fromstring("<a href='/x'>x</a>")
    found = parse_page(root, "http://h/").links
    assert (found.urls, found.paths.tolist(), found.ends.tolist()) == (["http://h/x"], [0], [0])


def test_links_that_are_not_for_http_leave_no_gap():
    found = links("<div><a href=mailto:a@b>m</a></div><p><a href=/1>x</a></p><ul><li><a href=ftp://h/>f</a></ul>")
    assert (found.urls, found.paths.tolist()) == (["http://h/1"], ids("html/body/p"))


def test_links_beyond_the_limit_leave_no_gap():
    html = "".join(f"<p id={name}><a href=/{name}>x</a></p>" for name in "abc")
    found = page_from_html(html, "http://h/", PageLimits(links=2)).links
    assert found.paths.tolist() == ids("html/body/p#a", "html/body/p#b")


@pytest.mark.parametrize(
    "html",
    [
        "<a href=1>x<a href=2>y<a href=3>z",
        "<table><a href=1><td>x</a></table><a href=2>y</table></div>",
        "<li><a href=1>x</ul></li></ol><a href=2 id class=>y",
        "<div id='\ud800'><a href=1>x</a></div><a href=2>y",
        "<p id='a' id='b' class='c' class='d'><a href=1>x</p></a><a href=2>y",
        "<svg:g class='x'><a href=1>x</a></svg:g><a href=2>y",
    ],
)
def test_broken_html_gives_each_link_a_place(html: str):
    found = links(html)
    assert len(found) >= 2
    assert len(found.paths) == len(found.ends) == len(found)
    assert found.paths.all()


@given(st.lists(st.sampled_from(["<div>", "</div>", "<ul class=m>", "</ul>", "<li>", "<a href=/x>x</a>"]), max_size=60))
def test_places_do_not_depend_on_which_links_were_met_before(pieces: list[str]):
    """Paths are put together from those of the link before; each must be what the tree itself says."""
    root = etree.fromstring("".join(["<html><body>", *pieces]), parser=etree.HTMLParser())
    names = {"ul": "ul.m"}
    expected = [
        "/".join(names.get(above.tag, above.tag) for above in reversed(list(link.iterancestors())))
        for link in root.iter("a")
    ]
    assert parse_page(root, "http://h/").links.paths.tolist() == ids(*expected)


def test_take_gives_the_places_of_the_links_asked_for():
    found = links(NEWS)
    some = found.select([3, 0])
    assert some.paths.tolist() == found.paths[[3, 0]].tolist()
    assert some.ends.tolist() == found.ends[[3, 0]].tolist()
    assert some.urls == ["http://h/3", "http://h/home"]
    none = found.select([])
    assert len(none) == len(none.paths) == len(none.ends) == 0
