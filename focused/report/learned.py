"""What a crawl's prioritizer has learned: which words, at which offset from a link or in its address, favour a page;
and which features that have a name.

Weights are those of the model that was saved last. They are shown only for features that stood beside links that were
followed: many features share a place in the table of weights, and one that was never seen has learned nothing. Words
that weigh next to nothing (*the*, *and*) are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Damaged, load_arrays
from focused.frontier.store import JobRefused
from focused.pages.evidence import ADDRESS, NAMED, Evidence
from focused.prioritizers.base import Prioritizer
from focused.report.reader import CrawlReader
from focused.report.words import WordTable
from focused.scheduling.starts import untaught_prioritizer

OFFSETS = tuple(range(-5, 6))
_MOST_ROWS, _AT_ONCE = 50_000, 1_000
_LEAST_PAGES = 3
_MOST_WORDS = 8
_LEAST_SHARE = 0.2
"""Of what weighs most: words that weigh less say next to nothing."""


@dataclass(frozen=True, slots=True)
class LearnedWord:
    """A word at an offset: its weight, and for how many followed links' pages it stood there."""

    word: str
    weight: float
    seen: int


@dataclass(frozen=True, slots=True)
class AtOffset:
    """What was learned at one offset, of addresses (at `ADDRESS`) or of features that are no words (at `NAMED`).

    ``mass`` is how much these words move the score of a link, on average.
    """

    offset: int
    mass: float
    speak_for: list[LearnedWord]
    speak_against: list[LearnedWord]


def saved_prioritizer(reader: CrawlReader) -> tuple[Prioritizer, str]:
    """The prioritizer as it was saved last, and when that was ('' if never).

    JobRefused if it cannot be made again, with the reason.
    """
    prioritizer = untaught_prioritizer(reader.about())
    state = reader.learned_state()
    if state is None:
        return prioritizer, ""
    data, when = state
    try:
        prioritizer.restore(load_arrays(data))
    except (KeyError, ValueError, IndexError, TypeError) as error:
        way_out = ": start the crawl again to have it learned again, or see `scrapy inspect`" * isinstance(
            error, Damaged
        )
        raise JobRefused(
            f"what the crawl in {reader.where} has learned does not fit its prioritizer: {error}{way_out}"
        ) from error
    return prioritizer, when


def learned_by_offset(reader: CrawlReader, prioritizer: Prioritizer, pages: Sequence[int]) -> list[AtOffset]:
    """The words that weigh most at each offset and in addresses, and the names, as far as the prioritizer has any.

    They are those of links to some pages (`PageTable.link`), the latest of them.
    """
    seen = _Seen(_latest_evidence(reader, pages), prioritizer)
    if not np.any(seen.weights):
        return []
    words = reader.words()
    kinds = [list(_loudest(words, seen, offsets)) for offsets in (OFFSETS, (ADDRESS,), (NAMED,))]
    return [at for kind in kinds if any(one.speak_for or one.speak_against for one in kind) for at in kind]


def _latest_evidence(reader: CrawlReader, pages: Sequence[int]) -> Iterator[Evidence]:
    end, rows = len(pages), 0
    while end > 0 and rows < _MOST_ROWS:
        some = pages[max(end - _AT_ONCE, 0) : end]
        evidence = reader.evidence_of(*some)
        end -= _AT_ONCE
        if evidence is not None:
            # Without redirects: each page counts once.
            own = evidence.select(np.flatnonzero(np.isin(evidence.link, some)))
            rows += len(own)
            yield own


class _Seen:
    """Distinct features beside followed links, in order, with their weights.

    ``pages``: for how many pages each stood there. ``mass``: how much it moves the score of a link, on average.
    """

    def __init__(self, pieces: Iterable[Evidence], prioritizer: Prioritizer) -> None:
        ids, pages, links = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)], 0
        for evidence in pieces:
            links += len(evidence)
            ids.append(evidence.ids)
            pages.append(np.repeat(evidence.link, np.diff(evidence.starts)))
        every, of = np.concatenate(ids), np.concatenate(pages)
        # Every ⟨feature, page⟩ once: a navigation bar says the same thing of one page a hundred times.
        pairs = np.sort(every.astype(np.uint64) << np.uint64(32) | of)
        # Not np.unique: of millions that are distinct, its hashing takes seven times as long.
        pairs = pairs[np.flatnonzero(np.diff(pairs, prepend=~pairs[:1]))]
        self.ids, self.pages = np.unique((pairs >> np.uint64(32)).astype(np.uint32), return_counts=True)
        self.weights = prioritizer.weights_of(self.ids)
        self.mass = np.abs(self.weights) * np.unique(every, return_counts=True)[1] / max(links, 1)
        # The rarest words have the most extreme weights, and the least to show for them.
        settled = self.weights * self.pages / (self.pages + 5)
        self.loudness = np.where(self.pages >= _LEAST_PAGES, settled, 0.0)


def _loudest(words: WordTable, seen: _Seen, offsets: Sequence[int]) -> Iterator[AtOffset]:
    """The words that weigh most at each offset, as far as they weigh something beside the loudest of them all."""
    # The positions of the words that were seen there: among all words, and among the features.
    known = []
    for offset in offsets:
        mixed = words.at(offset)
        rows = np.flatnonzero(np.isin(mixed, seen.ids))
        known.append((offset, rows, np.searchsorted(seen.ids, mixed[rows])))
    least = _LEAST_SHARE * max(float(np.abs(seen.loudness[at]).max(initial=0.0)) for _, _, at in known)

    def shown(rows: NDArray[np.int64], at: NDArray[np.int64], sign: int) -> list[LearnedWord]:
        loudness = sign * seen.loudness[at]
        return [
            LearnedWord(words.words[rows[i]], float(seen.weights[at[i]]), int(seen.pages[at[i]]))
            for i in np.argsort(-loudness)[:_MOST_WORDS].tolist()
            if loudness[i] >= least > 0
        ]

    for offset, rows, at in known:
        yield AtOffset(offset, float(seen.mass[at].sum()), shown(rows, at, 1), shown(rows, at, -1))
