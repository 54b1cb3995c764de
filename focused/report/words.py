"""From hashed features back to words: which word at which offset an id of the evidence stands for.

The job keeps every word of its pages with its 32-bit id; mixing all of them with all offsets gives a map that is
exact but for chance: among 100,000 words at 11 offsets, one id in 4,000 fits a second pair, too. Ids stand in the
order of the leaves, which settles most of these.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.pages.evidence import mix
from focused.pages.tokens import Ids
from focused.report.text import signed


@dataclass(frozen=True, slots=True)
class Feature:
    """A word at an offset from a link."""

    word: str
    offset: int

    def __str__(self) -> str:
        return f"{self.word} ({signed(self.offset)})"


class WordTable:
    """All words of a job."""

    def __init__(self, ids: Ids, words: Sequence[str]) -> None:
        self.ids, self.words = ids, words

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> WordTable:
        """The words of a job's records."""
        rows = connection.execute("SELECT id, word FROM words").fetchall()
        return cls(np.array([row[0] for row in rows], np.uint32), [row[1] for row in rows])

    def trace(self, ids: Ids, offsets: Sequence[int]) -> dict[int, list[Feature]]:
        """The words and offsets that may be behind each id; what has none is no word."""
        wanted = np.unique(ids)
        found: dict[int, list[Feature]] = {}
        for offset in sorted(offsets):
            mixed = mix(self.ids, offset)
            for row in np.flatnonzero(_is_in(mixed, wanted)).tolist():
                found.setdefault(int(mixed[row]), []).append(Feature(self.words[row], offset))
        return found


def in_order(ids: Ids, traced: dict[int, list[Feature]]) -> list[Feature | None]:
    """The features of one row of evidence; None for those that are no words.

    Where an id may be two things, it is the one that keeps the leaves in their order.
    """
    features: list[Feature | None] = []
    at = -(10**6)
    for number in ids.tolist():
        candidates = traced.get(number, [])
        fits = [feature for feature in candidates if feature.offset >= at] or candidates[-1:]
        features.append(fits[0] if fits else None)
        if len(candidates) == 1:
            at = candidates[0].offset
    return features


def _is_in(values: Ids, wanted: Ids) -> NDArray[np.bool_]:
    if not len(wanted):
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    hits: NDArray[np.bool_] = wanted[at] == values
    return hits
