"""Trees of responses, small and large, harmless and not."""

import asyncio

import pytest
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.response import get_meta_refresh

from focused.pages import guard
from focused.pages.page import PageLimits
from focused.pages.tokens import LEXICON
from focused.responses import response_to_page, response_to_page_now

HTML = {"Content-Type": "text/html"}
BOMB = b"<p " + b" ".join(b"a%d=1" % i for i in range(20_000)) + b">x</p><a href=/1>one</a>"
DEEP = b"<div>" * 3_000 + b"<a href=/1>one</a>" + b"</div>" * 3_000 + b"<a href=/2>two</a>"


def response(body, encoding="utf-8"):
    return HtmlResponse("http://example.com/x", body=body, encoding=encoding)


def test_the_tree_of_a_small_page_is_that_of_its_selector():
    page = response(b"<a href=/1>one</a>")
    root = page.selector.root
    assert response_to_page_now(page, PageLimits()).left_out == {}
    assert page.selector.root is root


@pytest.mark.parametrize(("body", "what", "links"), [(BOMB, "attributes", 1), (DEEP, "nesting", 2)])
def test_a_guarded_page_is_the_same_for_callbacks(body, what, links):
    page = response(body)
    assert response_to_page_now(page, PageLimits()).left_out[what] > 0
    assert len(page.css("a::attr(href)").getall()) == links


def test_of_a_page_that_is_cut_nobody_parses_the_rest(monkeypatch):
    monkeypatch.setattr(guard, "MOST_NODES", 1_000)
    page = response(b"<p><a href=/x>x</a>" * 5_000)
    left_out = response_to_page_now(page, PageLimits()).left_out
    assert left_out["tags"] > 14_000
    assert len(page.css("a")) == len(LinkExtractor(unique=False).extract_links(page)) < 1_000
    assert get_meta_refresh(page) == (None, None)
    assert page.selector is page.selector


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8"])
def test_large_pages_are_read_in_their_encoding(encoding):
    body = ("<p>größe</p>" * 9_000).encode(encoding)
    page = response(body, encoding)
    assert response_to_page_now(page, PageLimits()).leaves[0] == "größe"
    assert page.css("p::text").get() == "größe"


def test_small_bodies_need_no_thread():
    page = asyncio.run(response_to_page(response(DEEP), PageLimits(), LEXICON))
    assert len(page.links) == 2


def test_large_bodies_are_parsed_in_a_thread(server, crawl):
    server.answers["/bomb"] = (200, HTML, BOMB)
    server.answers["/deep"] = (200, HTML, DEEP + b"<p>words</p>" * 9_000)
    server.answers["/long"] = (200, HTML, b"<a href=/1>one</a>" * 9_000)
    done = crawl(f"{server.root}/bomb", f"{server.root}/deep", f"{server.root}/long", one_by_one=True)
    assert [(end["links"], end["css_links"]) for end in done.ends] == [(1, 1), (2, 2), (2_000, 9_000)]
    assert [list(end["left_out"]) for end in done.ends] == [["attributes"], ["nesting"], ["links"]]
