"""Which pages a teacher is asked about."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from focused.pages.page import Page, page_from_html
from focused.visits.questions import Candidate, Candidates, choose, next_questions


def page_of(text: str, url: str = "http://a.example/", title: str = "") -> Page:
    return page_from_html(f"<title>{title}</title><p>{text}</p>", url)


def candidates(*texts: str, host: str = "a.example") -> list[Candidate]:
    return [Candidate.of(n, page_of(text, f"http://{host}/{n}")) for n, text in enumerate(texts)]


def test_a_question_has_the_address_the_title_and_the_beginning_of_the_text() -> None:
    question = Candidate.of(7, page_of("star " * 5_000, "http://a.example/x", "Stars")).question
    assert (question.url, question.title) == ("http://a.example/x", "Stars")
    assert question.text.startswith("Stars\nstar star")
    assert len(question.text) == 4_000


@pytest.mark.parametrize(
    ("relevance", "first"), [([0.01, 0.3, 0.1], 1), ([1.0, 0.6, 0.0], 1), ([0.97, 0.7, 0.2], 1), ([0.9, 0.2, 0.1], 0)]
)
def test_pages_near_the_border_or_above_it_come_first(relevance: list[float], first: int) -> None:
    open_ = candidates("star galaxy", "soup onion", "chair table")
    assert choose(open_, np.array(relevance), [], 1) == [first]


def test_near_copies_of_one_another_are_not_asked_about_together() -> None:
    open_ = candidates("star galaxy telescope nova", "star galaxy telescope moon", "onion soup with butter")
    assert choose(open_, np.array([0.5, 0.5, 0.3]), [], 2) == [0, 2]
    assert choose(open_[1:], np.array([0.5, 0.4]), open_[:1], 1) == [1], "nor one after the other"


def test_questions_are_spread_over_hosts() -> None:
    here = candidates("star galaxy", "chair table")
    elsewhere = [Candidate.of(2, page_of("onion soup", "http://b.example/"))]
    assert choose([*here, *elsewhere], np.array([0.5, 0.4, 0.35]), [], 2) == [0, 2]


def test_nothing_is_asked_twice_and_nothing_about_a_page_that_is_not_through() -> None:
    open_ = candidates("star galaxy", "onion soup", "chair table")
    assert choose(open_, np.array([0.5, np.nan, 0.4]), [], 9) == [0, 2]
    assert choose(open_, np.full(3, np.nan), [], 9) == []
    assert sorted(choose(candidates(*["the same"] * 4), np.full(4, 0.5), [], 9)) == [0, 1, 2, 3]


def test_so_many_candidates_are_remembered_the_newest_ones() -> None:
    known = Candidates()
    for number in range(1_003):
        known.add(Candidate.of(number, page_of("star")))
    known.remove([5, 1])
    assert len(known.open()) == 999
    assert [one.link for one in known.asked()] == [5]
    assert known.open()[0].link == 3


def test_it_is_asked_ever_more_rarely() -> None:
    at, due = 0, []
    while at < 300:
        at = next_questions(at)
        due.append(at)
    assert due[0] >= 10, "the critic learns nothing from fewer pages"
    assert len(due) == 9
    assert all(later > earlier for earlier, later in pairwise(due))
