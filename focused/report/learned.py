"""What a job's prioritizer has learned: which words, at which offset from a link or in its address, speak for the page.

Weights are those of the model that the job saved last. They are shown only for features that stood beside links that
were followed: many features share a place in the table of weights, and one that was never seen has learned nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from focused.arrays import load_arrays
from focused.frontier.starts import untaught_prioritizer
from focused.frontier.store import JobRefused
from focused.pages.evidence import ADDRESS, Evidence, mix
from focused.pages.tokens import Ids
from focused.prioritizers.base import Prioritizer
from focused.report.words import Feature, WordTable

OFFSETS = tuple(range(-5, 6))
_MOST_ROWS = 50_000
_LEAST_PAGES = 3
_BLOCKS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Model:
    """The prioritizer of a job as it was saved last, after the lessons of ``pages`` pages."""

    prioritizer: Prioritizer
    pages: int


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


def read_model(connection: sqlite3.Connection) -> Model:
    """The prioritizer that a job saved last. JobRefused if it cannot be made again, with the reason."""
    prioritizer = untaught_prioritizer(connection)
    row = connection.execute("SELECT data, seq FROM models WHERE name = 'prioritizer'").fetchone()
    if row is not None:
        try:
            prioritizer.restore(load_arrays(row[0]))
        except (KeyError, ValueError) as error:
            raise JobRefused(f"what this job has learned does not fit its prioritizer: {error}") from error
    return Model(prioritizer, 0 if row is None else int(row[1]))


def learned_by_offset(connection: sqlite3.Connection, prioritizer: Prioritizer, most: int = 8) -> list[AtOffset]:
    """The words that speak loudest at each offset, and in addresses if the prioritizer reads them.

    Nothing if it has learned nothing of words.
    """
    seen = _features_beside_followed_links(connection)
    weights = prioritizer.weights_of(seen.ids)
    if not seen.links or not np.any(weights):
        return []
    words = WordTable.read(connection)
    learned = [_at_offset(words, seen, weights, offset, most) for offset in (*OFFSETS, ADDRESS)]
    reads_addresses = learned[-1].speak_for or learned[-1].speak_against
    return learned if reads_addresses else learned[:-1]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Distinct features, in order; how often each stood beside a followed link, and for how many pages."""

    ids: Ids
    times: NDArray[np.int64]
    pages: NDArray[np.int64]
    links: int


def _features_beside_followed_links(connection: sqlite3.Connection) -> _Seen:
    ids, pages, links = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)], 0
    for evidence in _evidence_of_pages(connection):
        links += len(evidence)
        ids.append(evidence.ids)
        pages.append(np.repeat(evidence.link, np.diff(evidence.starts)))
    every, of = np.concatenate(ids), np.concatenate(pages)
    # Every ⟨feature, page⟩ once: a navigation bar says the same thing of one page a hundred times.
    pairs = np.unique(every.astype(np.uint64) << np.uint64(32) | of)
    distinct, per_page = np.unique((pairs >> np.uint64(32)).astype(np.uint32), return_counts=True)
    times = np.unique(every, return_counts=True)[1]
    return _Seen(distinct, times, per_page, links)


def _evidence_of_pages(connection: sqlite3.Connection) -> Iterator[Evidence]:
    """The evidence of links whose page was judged, that of the latest pages first."""
    rows: dict[int, list[int]] = {}
    refs = connection.execute(
        "SELECT e.block, e.row FROM pages p JOIN evidence e ON e.link = p.link ORDER BY p.seq DESC LIMIT ?",
        (_MOST_ROWS,),
    )
    for block, row in refs:
        rows.setdefault(block, []).append(row)
    with closing(connection.cursor()) as cursor:
        for block, wanted in rows.items():
            found = cursor.execute("SELECT data FROM blocks WHERE id = ?", (block,)).fetchone()
            if found is not None:
                yield Evidence.from_bytes(found[0]).select(wanted)


def _at_offset(words: WordTable, seen: _Seen, weights: NDArray[np.float32], offset: int, most: int) -> AtOffset:
    mixed = mix(words.ids, offset)
    at = np.minimum(np.searchsorted(seen.ids, mixed), len(seen.ids) - 1)
    known = np.flatnonzero(seen.ids[at] == mixed)
    where = at[known]
    mass = float((np.abs(weights[where]) * seen.times[where]).sum() / seen.links)
    often = seen.pages[where] >= _LEAST_PAGES
    known, where = known[often], where[often]
    # The rarest words have the most extreme weights, and the least to show for them.
    loudness = weights[where] * seen.pages[where] / (seen.pages[where] + 5)
    order = np.argsort(loudness)

    def told(rows: NDArray[np.int64]) -> list[LearnedWord]:
        return [
            LearnedWord(Feature(words.words[known[i]], offset), float(weights[where[i]]), int(seen.pages[where[i]]))
            for i in rows.tolist()
        ]

    up, down = order[::-1][:most], order[:most]
    return AtOffset(offset, mass, told(up[weights[where[up]] > 0]), told(down[weights[where[down]] < 0]))
