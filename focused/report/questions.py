"""The pages of a crawl about which a user's answer helps most, wherever it is kept, and whether it runs or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from focused.arrays import Damaged
from focused.critics.gist import Gist
from focused.pages.tokens import word_to_id, words
from focused.report.marks import read_marks
from focused.report.reader import CrawlReader, PageLine
from focused.visits.questions import MOST_PAGES, Candidate, Question, choose

_MOST_WORDS = 12


@dataclass(frozen=True, slots=True)
class AskedPage:
    """A page to ask a user about, and words that it has more often than other pages of the crawl."""

    page: PageLine
    words: list[str]


def pages_to_ask_about(reader: CrawlReader, most: int) -> list[AskedPage]:
    """At most so many pages, the one to ask about first first. None that anybody has said something of."""
    table = reader.page_table()
    # Those that may be chosen: of a large crawl the likeliest, and those near the border.
    likely = np.flatnonzero(table.is_new)
    worth = table.relevance[likely] * np.sqrt(1 - table.relevance[likely])
    likely = likely[np.argsort(-worth, kind="stable")[:MOST_PAGES]]
    marked = read_marks(reader)
    pages = {page.link: page for page in reader.pages(table.link[likely].tolist())}
    gists = reader.gists(list(pages))
    candidates = {link: _candidate(page, gists.get(link, b"")) for link, page in pages.items()}
    asked = [link for link, page in pages.items() if page.said or page.url in marked]
    open_ = [link for link in pages if link not in set(asked)]
    relevance = np.array([pages[link].relevance for link in open_])
    rows = choose([candidates[link] for link in open_], relevance, [candidates[link] for link in asked], most)
    chosen = [open_[row] for row in rows]
    return list(_with_words(reader, [pages[link] for link in chosen], candidates))


def _candidate(page: PageLine, gist: bytes) -> Candidate:
    """A page by what is kept of it; by the words of its title where that is nothing, or another critic's."""
    question = Question(page.url, page.title, "")
    try:
        return Candidate(page.link, question, Gist.from_bytes(gist).bag)
    except Damaged:
        ids, counts = np.unique(
            np.array([word_to_id(word) for word in words(page.title)], np.uint32), return_counts=True
        )
        return Candidate(page.link, question, (ids, counts))


def _with_words(
    reader: CrawlReader, chosen: Sequence[PageLine], candidates: dict[int, Candidate]
) -> Iterator[AskedPage]:
    table = reader.words()
    pages_with: dict[int, int] = {}
    for candidate in candidates.values():
        for number in candidate.bag[0].tolist():
            pages_with[number] = pages_with.get(number, 0) + 1
    for page in chosen:
        ids, counts = candidates[page.link].bag
        rare = np.log((1 + len(candidates)) / np.array([pages_with[number] for number in ids.tolist()], np.float64))
        order = np.argsort(-counts * rare, kind="stable")[: 2 * _MOST_WORDS]
        named = table.spelled(ids[order])
        yield AskedPage(page, [word for word in named if word][:_MOST_WORDS])
