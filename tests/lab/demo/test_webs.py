"""Promises of every generated web: the same seed gives the same bytes, and a crawler can use what is there."""

from __future__ import annotations

import pytest

from focused.lab.demo.web import GeneratedWeb
from focused.lab.demo.webs import WEBS, make_web
from focused.pages.page import page_from_html


@pytest.fixture(scope="module", params=WEBS)
def web(request: pytest.FixtureRequest) -> GeneratedWeb:
    return make_web(request.param, pages=200)


@pytest.mark.parametrize("name", WEBS)
def test_same_seed_same_web(name: str):
    first, second, other = make_web(name, pages=60), make_web(name, pages=60), make_web(name, pages=60, seed=1)
    assert first == second
    assert first.pages != other.pages


def test_has_about_as_many_pages_as_asked_for(web: GeneratedWeb):
    assert 200 <= len(set(web.classes) - web.hidden) <= 300


def test_labels_are_of_pages(web: GeneratedWeb):
    assert all(web.pages[url].status == 200 for url in web.classes)
    assert set(web.titles) == set(web.classes)


def test_the_topic_has_targets_and_examples_of_every_class(web: GeneratedWeb):
    targets = web.targets
    assert targets
    assert not set(targets) & (set(web.examples) | web.hidden)
    assert set(web.examples.values()) == set(web.classes.values())


def test_starting_pages_are_what_they_are_called(web: GeneratedWeb):
    seeds = web.seeds
    assert set(seeds) == {"on", "far", "root"}
    assert all(urls and web.pages[url].status == 200 for urls in seeds.values() for url in urls)
    assert all(web.classes[url] == "stars" for url in seeds["on"])
    assert all(web.classes[url] != "stars" for url in seeds["far"])
    assert not {url for urls in seeds.values() for url in urls} & set(web.examples)


def test_hosts_are_reserved_for_examples(web: GeneratedWeb):
    assert all(url.split("/")[2].endswith(".example") for url in web.pages)


def test_no_two_pages_have_the_same_words(web: GeneratedWeb):
    open_pages = [url for url in web.classes if url not in web.hidden]
    digests = {page_from_html(web.pages[url].body, url).digest for url in open_pages}
    assert len(digests) == len(open_pages)
