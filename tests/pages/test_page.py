"""A page's leaves, words and links."""

import numpy as np
import pytest

from focused.pages.page import PageLimits, Text, page_from_html
from focused.pages.tokens import word_to_id, words
from focused.pages.urls import join, url_to_host, url_to_key

FIGURE_3 = "<ul><li>T</li><li>T <a href=v>T <font>T</font></a></li><li><em>T</em></li><li><tt>T</tt> T</li></ul>"


def parse(html, url="http://h/dir/page.html", **limits):
    return page_from_html(html, url, PageLimits(**limits))


def offsets_of(page, link=0):
    """The offset of each leaf from a link, as in section 2.2.1."""
    first, last = int(page.links.first[link]), int(page.links.last[link])
    return [min(i - first, 0) if i < first else max(i - last, 0) for i in range(len(page.leaves))]


def test_leaves_are_numbered_as_in_figure_3_of_the_paper():
    page = parse(FIGURE_3)
    assert [leaf.strip() for leaf in page.leaves] == ["T"] * 7
    assert offsets_of(page) == [-2, -1, 0, 0, 1, 2, 3]


def test_leaves_without_text_are_numbered_too():
    page = parse("<p>a</p><br><table><tr><td></td><td>b</td></tr></table><hr><a href=v>c</a>")
    assert page.leaves == ["a", "", "", "b", "", "c"]
    assert offsets_of(page) == [-5, -4, -3, -2, -1, 0]


NOT_RENDERED = [
    "<!-- x -->",
    "<script>x</script>",
    "<style>x</style>",
    "<template>x</template>",
    "<?x?>",
    " <!-- --> \n ",
]


@pytest.mark.parametrize("inside", [*NOT_RENDERED, ""])
@pytest.mark.parametrize(("before", "after"), [("", ""), ("<p>a ", ""), ("", "b"), ("<p>a<p>", "b<p>c")])
def test_a_link_in_which_nothing_is_rendered_has_an_empty_leaf_of_its_own(inside, before, after):
    page = parse(f"{before}<a href=v>{inside}</a>{after}")
    assert page.anchor(0) == ""
    assert page.links.first.tolist() == page.links.last.tolist()
    assert [leaf for leaf in page.leaves if leaf.strip()] == [
        text for text in (*before.split("<p>"), *after.split("<p>")) if text
    ]
    assert sorted(offsets_of(page)) == offsets_of(page)
    assert offsets_of(page).count(0) == 1


def test_no_more_leaves_are_taken_than_may_be_however_many_elements_end_at_once():
    html = "".join(f"<b>x{i}" for i in range(5)) + "<i>" * 300 + "<a href=v>y" + "</i>z" * 300 + "<a href=w>q"
    for leaves in range(1, 20):
        page = parse(html, leaves=leaves)
        assert len(page.leaves) == leaves
        assert page.left_out["leaves"] == 1
        assert page.leaves == parse(html).leaves[:leaves]
        assert max(page.tag_leaves) < leaves


def test_blank_text_between_tags_is_no_leaf():
    assert parse("<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>").leaves == parse("<ul><li>a</li><li>b</li></ul>").leaves


def test_what_is_not_rendered_is_no_leaf_but_what_follows_it_is():
    page = parse("<p>a<script>x()</script>b<style>y</style>c<!-- z -->d<template><a href=/t>t</a></template>e</p>")
    assert page.leaves == ["a", "b", "c", "d", "e"]
    assert not page.links.urls


def test_the_title_is_the_first_leaf_and_has_its_spaces_folded():
    page = parse("<html><head><title> Fly \n fishing </title><meta name=x></head><body>b</body></html>")
    assert page.title == "Fly fishing"
    assert page.leaves == [" Fly \n fishing ", "b"]


def test_alt_text_is_the_text_of_an_image():
    page = parse('<a href="/v"><img src=x alt="Halley\'s comet"></a><img src=y>')
    assert page.leaves == ["Halley's comet", ""]
    assert page.anchor(0) == "Halley's comet"


def test_a_link_without_content_is_a_leaf_of_its_own():
    page = parse("<p>a</p><a href=/v></a><p>b</p>")
    assert page.leaves == ["a", "", "b"]
    assert offsets_of(page) == [-1, 0, 1]


def test_links_of_anchors_areas_and_frames():
    page = parse('<a href=a>x</a><map><area href=b alt="east wing"></map><iframe src=c></iframe><a name=top>no</a>')
    assert page.links.urls == ["http://h/dir/a", "http://h/dir/b", "http://h/dir/c"]
    assert page.anchor(1) == "east wing"


def test_framesets_give_their_frames():
    page = parse('<frameset cols="1,2"><frame src="menu.html"><frame src="main.html"></frameset>')
    assert page.links.urls == ["http://h/dir/menu.html", "http://h/dir/main.html"]


def test_base_href_moves_all_links_also_those_before_it():
    page = parse('<a href=a>x</a><base href="http://other/x/"><a href=b>y</a><base href="http://third/">')
    assert page.links.urls == ["http://other/x/a", "http://other/x/b"]


@pytest.mark.parametrize("href", ["mailto:a@b", "javascript:void(0)", "data:text/html,x", "ftp://h/x", "http://[", ""])
def test_links_that_are_not_for_http_are_left_out(href):
    page = parse(f'<a href="{href}">x</a><a href="/next">y</a>')
    kept = ["http://h/dir/page.html"] if not href else []
    assert page.links.urls == [*kept, "http://h/next"]
    assert page.anchor(len(kept)) == "y"


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("HTTP://H.Example:80/a/../b#c", "http://h.example/b"),
        ("//cdn.example/x y", "http://cdn.example/x%20y"),
        ("?q=ü", "http://h/dir/page.html?q=%C3%BC"),
        ("#top", "http://h/dir/page.html"),
        (" /trim \n", "http://h/trim"),
    ],
)
def test_addresses_are_normalised_as_browsers_do(href, url):
    assert join("http://h/dir/page.html", href) == url
    assert join(url, "") == url, "normalising twice changes nothing"


@pytest.mark.parametrize(
    "html",
    [
        "",
        "   ",
        "\x00\x00",
        "<",
        "<a href=x",
        "</p></p></p>",
        "<p>" * 500,
        "<table><a href=x><td>y</a></table>",
        "<a href=1>x<a href=2>y<a href=3>z",
        "plain text",
        "\ud800 lone surrogate",
        "<a href='\ud800'>x</a>",
        "<html/>" * 3,
        "<svg><a xlink:href=x>t</a></svg>",
        "<!DOCTYPE html><!-- -- --><?php x ?>z",
    ],
)
def test_broken_html_gives_a_consistent_page(html):
    page = parse(html)
    assert len(page.starts) == len(page.leaves) + 1
    assert page.starts[-1] == len(page.ids)
    assert (page.links.first <= page.links.last).all()
    assert (page.links.last < max(len(page.leaves), 1)).all()
    assert isinstance(page.digest, int)


def test_limits_bound_what_is_taken_and_say_what_was_left_out():
    many = "".join(f"<p><a href=/{i}>link {i}</a></p>" for i in range(50))
    assert parse(many).left_out == {}
    cut = parse(many, links=20)
    assert len(cut.links) == 20
    assert cut.left_out == {"links": 30}
    short = parse(many, leaves=10)
    assert len(short.leaves) == 10
    assert short.left_out == {"leaves": 1}
    few = parse(many, words=40)
    assert len(few.ids) == 40
    assert few.left_out == {"words": 60}
    assert few.starts[-1] == 40


def test_endless_text_is_cut_before_it_is_read():
    page = parse("<p>" + "word " * 100_000 + "</p><p>end</p>", words=100)
    assert len(page.ids) == 100
    assert page.left_out["words"] > 10_000


def test_links_stay_true_when_leaves_are_cut_inside_one():
    page = parse("<p>a</p><p>b</p><a href=/v>c<i>d</i><i>e</i></a>", leaves=3)
    assert page.links.urls == ["http://h/v"]
    assert (page.links.first[0], page.links.last[0]) == (2, 2)


def test_pages_of_the_same_words_share_a_digest_wherever_their_links_lead():
    text = "<p>" + " ".join(f"word{i}" for i in range(30)) + "</p>"
    one, other = parse(text + "<a href=/1>x</a>"), parse(f"<div>{text}</div><a href=/2>x</a>", url="http://mirror/")
    assert one.digest == other.digest
    assert parse("<frameset><frame src=a></frameset>").digest != parse("<frameset><frame src=b></frameset>").digest


def test_the_bag_counts_words():
    ids, counts = parse("<p>a b a</p>").bag
    assert counts.tolist() in ([1, 2], [2, 1])
    assert len(ids) == 2


def test_hosts_and_keys():
    assert url_to_host("http://h.example/x") == "h.example"
    assert url_to_host("http://user:pw@h.example:8080/x") == "h.example"
    assert url_to_host("http://[::1]:80/") == "[::1]"
    assert url_to_host("nothing") == ""
    assert url_to_key("http://a/") != url_to_key("http://b/")
    assert 0 <= url_to_key("http://a/") < 2**63


def test_take_gives_some_links_in_the_order_asked():
    links = parse("<a href=1>x</a><a href=2>y</a><a href=3>z</a>").links.select([2, 0])
    assert links.urls == ["http://h/dir/3", "http://h/dir/1"]
    assert links.first.tolist() == [2, 0]
    assert np.array_equal(links.first, links.last)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (0, 6, "Red Bird! sits on the tree"),
        (0, 2, "Red Bird!"),
        (2, 4, "sits on"),
        (1, 4, "bird sits on"),
        (3, 5, "on the"),
        (4, 99, "the tree"),
        (2, 2, ""),
    ],
)
def test_a_text_is_told_as_it_was_written_or_by_the_words_of_a_leaf_that_is_cut(begin, end, expected):
    found = parse("<p>Red  Bird!</p><img><p>sits on</p> <b></b><p>the tree</p>")
    text = Text(found, begin, end)
    assert text.text == expected
    assert text.ids.tolist() == [word_to_id(word) for word in words(text.text)]


def test_a_text_by_itself():
    assert Text.of("The Owl, at night").text == "The Owl, at night"
    assert Text.of("").text == ""
    assert len(Text.of("The Owl, at night").ids) == 4


def test_keywords_and_description_of_meta_tags_are_kept_apart_from_the_words():
    tags = "<meta name=' Keywords' content='ice, snow'><meta name=description content='All of it.'>"
    others = "<meta name=author content=ann><meta name=keywords><meta property=description content=x><meta content=y>"
    page = page_from_html(f"<html><head>{tags}{others}</head><body>text</body></html>", "http://a.example/")
    assert page.about == "ice, snow\nAll of it."
    assert page.leaves == ["text"]
    assert "meta" not in page.left_out


def test_what_meta_tags_say_is_bounded_and_the_rest_is_counted():
    tag = f"<meta name=description content='{'word ' * 300}'>"
    page = page_from_html(f"<html><head>{tag * 50}</head><body>text</body></html>", "http://a.example/")
    assert len(page.about.replace("\n", "")) == 2_000
    assert page.left_out["meta"] == 50 * 1_500 - 2_000
