"""The lessons of pages, read from the records: as pages come in, and again when a crawl goes on or verdicts changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import inf, nan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from focused.frontier.evidence import EvidenceReader, leading_to
from focused.frontier.records import Query, rows_in
from focused.frontier.store import Outcome
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons

_AT_ONCE = 200

Ended = tuple[int, float | None, int]
"""A link, the relevance of its page and its outcome; a dead link has no relevance."""


class Verdicts(Protocol):
    """R of the pages behind links, by number of link; NaN where none was judged."""

    relevance: NDArray[np.float32]


class LessonReader:
    """Pairs evidence with the verdicts on the pages behind it; ``is_late`` says whether late lessons are wanted."""

    def __init__(self, query: Query, evidence: EvidenceReader, verdicts: Verdicts, *, is_late: bool) -> None:
        self._query, self._evidence, self._verdicts, self._is_late = query, evidence, verdicts, is_late

    def of_links(self, links: Sequence[int], relevance: float) -> Lessons | None:
        """What the page behind some links teaches, of all that lead to it."""
        return self._of_page(self._leading(links), relevance)

    def late(self, evidence: Evidence) -> Lessons:
        """Lessons of links that were found after their pages were judged."""
        return Lessons.late(evidence, self._verdicts.relevance[evidence.link], self._sources_of(evidence))

    def again(self, ended: Iterable[Ended]) -> Iterator[Lessons | None]:
        """The lessons that each page gave, late ones first, as they were given then; and those of dead links."""
        for link, relevance, outcome in ended:
            if relevance is None:
                if (dead := self.of_links([link], nan)) is not None:
                    yield dead
                continue
            evidence = self._leading([link])
            if evidence is not None:
                evidence = evidence.select(np.flatnonzero(~self._came_late(evidence)))
            own = self._of_page(evidence, relevance if outcome == Outcome.PAGE else 0.0)
            there = [part for part in (self._late_on(link), own) if part is not None]
            yield Lessons.concat(there) if there else None

    def _leading(self, links: Sequence[int]) -> Evidence | None:
        evidence = self._evidence.of(list(dict.fromkeys([*links, *leading_to(self._query, links[0])])))
        return self._as_far_as_known(evidence)

    def _of_page(self, evidence: Evidence | None, relevance: float) -> Lessons | None:
        if evidence is None or not len(evidence):
            return None
        return Lessons.of_page(evidence, relevance, self._sources_of(evidence))

    def _late_on(self, source: int) -> Lessons | None:
        """The lessons that a page gave of pages judged before it."""
        evidence = self._as_far_as_known(self._evidence.on(source)) if self._is_late else None
        if evidence is None:
            return None
        rows = np.flatnonzero(self._came_late(evidence))
        return self.late(evidence.select(rows)) if len(rows) else None

    def _came_late(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Which links were found on a page that was judged after the one behind them."""
        pairs = list(zip(evidence.link.tolist(), evidence.source.tolist(), strict=True))
        query = "SELECT link, seq FROM pages WHERE link IN ({})"
        judged = dict(rows_in(self._query, query, sorted({link for pair in pairs for link in pair})))
        return np.array([judged.get(link, inf) < judged.get(source, 0) for link, source in pairs], np.bool_)

    def _as_far_as_known(self, evidence: Evidence | None) -> Evidence | None:
        """Without the evidence of links that were found after the verdicts were copied: the crawl goes on meanwhile."""
        if evidence is None:
            return None
        numbers = np.maximum(evidence.link, evidence.source)
        known = len(self._verdicts.relevance)
        return evidence if numbers.max(initial=0) < known else evidence.select(np.flatnonzero(numbers < known))

    def _sources_of(self, evidence: Evidence) -> NDArray[np.float32]:
        relevance: NDArray[np.float32] = np.nan_to_num(self._verdicts.relevance[evidence.source]).astype(np.float32)
        return relevance


def with_evidence_renewed(
    lessons: Iterable[Lessons | None], renew: Callable[[Evidence], Evidence]
) -> Iterator[Lessons | None]:
    """The same lessons, their evidence renewed: that of many pages at once, which costs far less than page by page."""
    coming = iter(lessons)
    while pages := list(islice(coming, _AT_ONCE)):
        there = [each for each in pages if each is not None]
        if there:
            together = renew(Evidence.concat([each.evidence for each in there]))
        end = 0
        for each in pages:
            if each is None:
                yield None
            else:
                begin, end = end, end + len(each)
                yield replace(each, evidence=together.between(begin, end))
