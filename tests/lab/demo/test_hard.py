"""Promises of the hard web: only ⟨word, offset⟩ tells what a link leads to."""

from __future__ import annotations

from statistics import mean

import pytest

from focused.lab.demo.hard import hard_web
from focused.lab.demo.web import GeneratedWeb
from focused.lab.demo.words import vocabularies
from focused.pages.page import Page, page_from_html
from focused.pages.tokens import words

OFFSET_THAT_TELLS = {"register.example": 1, "second-register.example": 1, "inventory.example": 2, "ledger.example": -4}
STARS = {
    word
    for kind in ("nouns", "adjectives")
    for name in getattr(vocabularies()["stars"], kind)
    for word in words(name)
} - {word for name in ("sailing",) for word in vocabularies()[name].nouns}  # fmt: skip


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return hard_web(1_500)


@pytest.fixture(scope="module")
def pages(web: GeneratedWeb) -> list[Page]:
    return [page_from_html(web.pages[url].body, url) for url in web.classes]


def tells_of_stars(page: Page, link: int, offset: int) -> bool:
    leaf = int(page.links.first[link]) + offset
    return 0 <= leaf < len(page.leaves) and bool(STARS & set(words(page.leaves[leaf])))


def shares_on_topic(web: GeneratedWeb, pages: list[Page], offset_of: dict[str, int]) -> tuple[float, float]:
    """Of the links with and without words of the topic at an offset: how many lead to the topic."""
    told: tuple[list[bool], list[bool]] = ([], [])
    for page in pages:
        offset = offset_of[page.url.split("/")[2]]
        for link, target in enumerate(page.links.urls):
            told[not tells_of_stars(page, link, offset)].append(web.classes[target] == "stars")
    return mean(told[0]), mean(told[1])


def test_the_topic_is_about_one_page_in_nine(web: GeneratedWeb):
    assert 0.09 < mean(kind == "stars" for kind in web.classes.values()) < 0.13


def test_seeds_that_are_far_link_to_no_page_on_the_topic(web: GeneratedWeb, pages: list[Page]):
    far = [page for page in pages if page.url in web.seeds["far"]]
    assert far
    assert not [target for page in far for target in page.links.urls if web.classes[target] == "stars"]


def test_anchors_and_addresses_say_nothing(pages: list[Page]):
    assert all(page.anchor(link).startswith("Item ") for page in pages for link in range(len(page.links)))
    assert all(set(url.rpartition("/")[2]) <= set("0123456789abcdef") for page in pages for url in page.links.urls)
    assert all(page.title.startswith("Item ") for page in pages)


def test_what_a_page_is_about_says_nothing_about_its_links(web: GeneratedWeb, pages: list[Page]):
    def share(wanted: bool) -> float:
        chosen = [page for page in pages if (web.classes[page.url] == "stars") == wanted]
        return mean(web.classes[target] == "stars" for page in chosen for target in page.links.urls)

    assert abs(share(True) - share(False)) < 0.03


def test_words_at_the_right_offset_tell(web: GeneratedWeb, pages: list[Page]):
    with_words, without = shares_on_topic(web, pages, OFFSET_THAT_TELLS)
    assert with_words > 0.9
    assert without < 0.02


@pytest.mark.parametrize("offset", [-5, -3, -2, -1, 3, 4, 5])
def test_words_at_other_offsets_do_not(web: GeneratedWeb, pages: list[Page], offset: int):
    with_words, _ = shares_on_topic(web, pages, dict.fromkeys(OFFSET_THAT_TELLS, offset))
    assert with_words < 0.2


def test_the_window_without_offsets_is_ambiguous(web: GeneratedWeb, pages: list[Page]):
    led = [
        web.classes[target] == "stars"
        for page in pages
        for link, target in enumerate(page.links.urls)
        if any(tells_of_stars(page, link, offset) for offset in range(-5, 6))
    ]
    assert mean(led) < 0.35


def test_all_pages_can_be_reached(web: GeneratedWeb, pages: list[Page]):
    links = {page.url: page.links.urls for page in pages}
    seen, waiting = set(), list(web.seeds["far"])
    while waiting:
        url = waiting.pop()
        if url not in seen:
            seen.add(url)
            waiting += links[url]
    assert seen == set(web.classes)
