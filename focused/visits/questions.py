"""Which pages of a crawl a teacher is asked about: pages that matter, and differ from one another.

A page matters if its relevance is high or near the border. Near copies of one another teach the same, and pages of one
host much the same: each question is worth the less the more alike its page is to those asked about before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from focused.pages.page import Page
from focused.pages.urls import url_to_host

if TYPE_CHECKING:
    from focused.critics.bag import Bag

MOST_PAGES = 1_000
"""So many pages may be asked about, those fetched last."""
_MOST_TEXT = 4_000
_LEAST = 0.1
"""A page of less relevance is hardly ever wanted: the question would be wasted."""
_FIRST = 12
_GROWTH = 1.5


@dataclass(frozen=True, slots=True)
class Question:
    """A page that a teacher is asked about. ``text`` is the beginning of its text, a line for each leaf."""

    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may be asked about: the number of its link, what would be asked, its words."""

    link: int
    question: Question
    bag: Bag

    @classmethod
    def of(cls, link: int, page: Page) -> Candidate:
        """The candidate that a fetched page is."""
        return cls(link, Question(page.url, page.title, page.text[:_MOST_TEXT]), page.bag)


class Candidates:
    """The pages fetched last that were not asked about yet, and those that were asked about."""

    def __init__(self) -> None:
        self._open: dict[int, Candidate] = {}
        self._asked: list[Candidate] = []

    @property
    def is_asking_here(self) -> bool:
        """Is it this process that asks? Of several workers of a crawl one does."""
        return True

    def add(self, candidate: Candidate) -> None:
        """One more; the oldest makes room."""
        self._open[candidate.link] = candidate
        if len(self._open) > MOST_PAGES:
            del self._open[next(iter(self._open))]

    def remove(self, links: Collection[int]) -> None:
        """They were asked about."""
        self._asked += [self._open.pop(link) for link in links if link in self._open]

    def open(self) -> list[Candidate]:
        """Those that may be asked about."""
        return list(self._open.values())

    def asked(self) -> list[Candidate]:
        """Those that were asked about."""
        return list(self._asked)


def choose(
    candidates: Sequence[Candidate], relevance: NDArray[np.floating], asked: Sequence[Candidate], most: int
) -> list[int]:
    """The rows of the candidates to ask about next, at most so many. One whose relevance is NaN is left out."""
    # Here, so that a crawl without a teacher is spared it.
    from focused.critics.bag import Vocabulary, inverse_frequencies, tfidf  # noqa: PLC0415

    known = np.flatnonzero(np.nan_to_num(relevance) >= _LEAST)
    chosen: list[int] = []
    if not len(known):
        return []
    pages = [*(candidates[row] for row in known.tolist()), *asked]
    ids = np.unique(np.concatenate([page.bag[0] for page in pages]))
    counts = Vocabulary([], more=dict.fromkeys(ids.tolist(), "")).matrix([page.bag for page in pages])
    rows = tfidf(counts, inverse_frequencies(counts))
    hosts = np.array([url_to_host(page.question.url) for page in pages])
    open_, of_open = rows[: len(known)], hosts[: len(known)]
    worth, of_host = _worth(relevance[known]), np.zeros(len(known))
    likeness = (open_ @ rows[len(known) :].T).toarray().max(axis=1, initial=0.0)
    while len(chosen) < min(most, len(known)):
        value = worth * (1 - likeness) / np.sqrt(1 + of_host)
        value[chosen] = -1
        best = int(np.argmax(value))
        chosen.append(best)
        likeness = np.maximum(likeness, (open_ @ rows[best].T).toarray().ravel())
        of_host += of_open == hosts[best]
    return [int(known[row]) for row in chosen]


def _worth(relevance: NDArray[np.floating]) -> NDArray[np.float64]:
    """What an answer about a page of this relevance is worth: most at 2/3, nothing where there is no doubt."""
    return np.asarray(relevance * np.sqrt(1 - relevance), np.float64)


def next_questions(pages: int) -> int:
    """At how many pages a teacher is asked next: early answers count most."""
    at = float(_FIRST)
    while at <= pages:
        at *= _GROWTH
    return ceil(at)
