"""What a crawl's prioritizer has learned: which words, at which offset from a link or in its address, favour a page.

Weights are those of the model that was saved last. They are shown only for features that stood beside links that were
followed: many features share a place in the table of weights, and one that was never seen has learned nothing. Words
that weigh next to nothing (*the*, *and*) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from focused.arrays import load_arrays
from focused.frontier.starts import untaught_prioritizer
from focused.frontier.store import JobRefused
from focused.pages.evidence import ADDRESS
from focused.pages.tokens import Ids
from focused.prioritizers.base import Prioritizer
from focused.report.reader import CrawlReader
from focused.report.words import Feature, WordTable

OFFSETS = tuple(range(-5, 6))
_MOST_ROWS = 50_000
_LEAST_PAGES = 3
_LEAST_SHARE = 0.2
"""Of what weighs most: words that weigh less say next to nothing."""


@dataclass(frozen=True, slots=True)
class SavedPrioritizer:
    """The prioritizer of a crawl as it was saved last; ``when`` says when that was, '' if it was never."""

    prioritizer: Prioritizer
    when: str


@dataclass(frozen=True, slots=True)
class LearnedWord:
    """A word at an offset: its weight, and beside how many followed links it stood."""

    feature: Feature
    weight: float
    seen: int


@dataclass(slots=True)
class AtOffset:
    """What was learned at one offset, or of addresses (at `ADDRESS`).

    ``mass`` is how much these words move the score of a link, on average.
    """

    offset: int
    mass: float = 0.0
    speak_for: list[LearnedWord] = field(default_factory=list)
    speak_against: list[LearnedWord] = field(default_factory=list)


def saved_prioritizer(reader: CrawlReader) -> SavedPrioritizer:
    """The prioritizer as it was saved last. JobRefused if it cannot be made again, with the reason."""
    prioritizer = untaught_prioritizer(reader.about())
    state = reader.learned_state()
    if state is None:
        return SavedPrioritizer(prioritizer, "")
    try:
        prioritizer.restore(load_arrays(state.data))
    except (KeyError, ValueError) as error:
        raise JobRefused(f"what this crawl has learned does not fit its prioritizer: {error}") from error
    return SavedPrioritizer(prioritizer, state.when)


def learned_by_offset(reader: CrawlReader, prioritizer: Prioritizer, most: int = 8) -> list[AtOffset]:
    """The words that weigh most at each offset, and in addresses if the prioritizer reads them.

    Nothing if it has learned nothing of words.
    """
    seen = _features_beside_followed_links(reader)
    weights = prioritizer.weights_of(seen.ids)
    if not seen.links or not np.any(weights):
        return []
    words = _WeighedWords(reader.words(), seen, weights)
    around = words.at(OFFSETS, most)
    of_addresses = words.at((ADDRESS,), most)
    return around + [at for at in of_addresses if at.speak_for or at.speak_against]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Distinct features, in order; how often each stood beside a followed link, and for how many pages."""

    ids: Ids
    times: NDArray[np.int64]
    pages: NDArray[np.int64]
    links: int


def _features_beside_followed_links(reader: CrawlReader) -> _Seen:
    ids, pages, links = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)], 0
    for evidence in reader.evidence_of_pages(_MOST_ROWS):
        links += len(evidence)
        ids.append(evidence.ids)
        pages.append(np.repeat(evidence.link, np.diff(evidence.starts)))
    every, of = np.concatenate(ids), np.concatenate(pages)
    # Every ⟨feature, page⟩ once: a navigation bar says the same thing of one page a hundred times.
    pairs = np.unique(every.astype(np.uint64) << np.uint64(32) | of)
    distinct, per_page = np.unique((pairs >> np.uint64(32)).astype(np.uint32), return_counts=True)
    times = np.unique(every, return_counts=True)[1]
    return _Seen(distinct, times, per_page, links)


class _WeighedWords:
    """The words of a crawl, and what they weigh beside links that were followed."""

    def __init__(self, words: WordTable, seen: _Seen, weights: NDArray[np.float32]) -> None:
        self._words, self._seen, self._weights = words, seen, weights

    def at(self, offsets: Sequence[int], most: int) -> list[AtOffset]:
        """The words that weigh most at each offset, as far as they weigh something beside the loudest of them all."""
        known = [self._known(offset) for offset in offsets]
        loudness = [self._loudness(features) for _, features in known]
        least = _LEAST_SHARE * max((float(np.abs(values).max(initial=0.0)) for values in loudness), default=0.0)
        return [
            self._at_offset(offset, *places, np.where(np.abs(values) >= least, values, 0.0), most)
            for offset, places, values in zip(offsets, known, loudness, strict=True)
        ]

    def _known(self, offset: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words that were seen at an offset: their positions among all words, and among the features seen."""
        mixed = self._words.at(offset)
        place = np.minimum(np.searchsorted(self._seen.ids, mixed), len(self._seen.ids) - 1)
        known = np.flatnonzero(self._seen.ids[place] == mixed)
        return known, place[known]

    def _loudness(self, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """The rarest words have the most extreme weights, and the least to show for them."""
        pages = self._seen.pages[features]
        return np.where(pages >= _LEAST_PAGES, self._weights[features] * pages / (pages + 5), 0.0)

    def _at_offset(
        self,
        offset: int,
        known: NDArray[np.int64],
        features: NDArray[np.int64],
        loudness: NDArray[np.float64],
        most: int,
    ) -> AtOffset:
        weights, pages = self._weights[features], self._seen.pages[features]
        mass = float((np.abs(weights) * self._seen.times[features]).sum() / self._seen.links)
        order = np.argsort(loudness)

        def shown(rows: NDArray[np.int64]) -> list[LearnedWord]:
            return [
                LearnedWord(Feature(self._words.words[known[i]], offset), float(weights[i]), int(pages[i]))
                for i in rows.tolist()
            ]

        up, down = order[::-1][:most], order[:most]
        return AtOffset(offset, mass, shown(up[loudness[up] > 0]), shown(down[loudness[down] < 0]))
