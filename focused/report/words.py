"""From hashed features back to words: the word and the offset behind an id of the evidence.

A crawl keeps every word of its pages with its 32-bit id; mixing all of them with all offsets gives a map that is exact
but for chance: among 100,000 words at 11 offsets, one id in 4,000 fits a second pair (one in 15 in Redis, which keeps
24 bits). Ids are in the order of the leaves, which settles most of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from focused.pages.evidence import MAX_OFFSET, mix
from focused.pages.tokens import Ids


@dataclass(frozen=True, slots=True)
class Feature:
    """A word at an offset from a link."""

    word: str
    offset: int


class WordTable:
    """All words of a crawl. Of the ids of its evidence only the upper ``bits`` were kept."""

    def __init__(self, ids: Ids, words: Sequence[str], bits: int = 32) -> None:
        self.ids, self.words = ids, words
        self._mask = np.uint32(0xFFFFFFFF >> (32 - bits) << (32 - bits))

    def spelled(self, ids: Ids) -> list[str]:
        """The words behind some ids of words; '' for what is not known."""
        found = dict(zip(self.ids.tolist(), self.words, strict=True))
        return [found.get(number, "") for number in ids.tolist()]

    def at(self, offset: int) -> Ids:
        """The ids that stand for the words at an offset, or in one of the channels of evidence."""
        mixed: Ids = mix(self.ids, offset) & self._mask
        return mixed

    def trace(self, ids: Ids, offsets: Sequence[int]) -> dict[int, list[Feature]]:
        """The words and offsets that may be behind each id; what has none is no word."""
        wanted = np.unique(ids)
        found: dict[int, list[Feature]] = {}
        for offset in sorted(offsets):
            mixed = self.at(offset)
            for row in np.flatnonzero(np.isin(mixed, wanted)).tolist():
                found.setdefault(int(mixed[row]), []).append(Feature(self.words[row], offset))
        return found


def in_order(ids: Ids, traced: dict[int, list[Feature]]) -> list[Feature | None]:
    """The features of one row of evidence; None for those that are no words.

    Words around the link are in the order of their leaves: where an id may be two things, it is the one that keeps the
    order, and what only seems to be a word there is none.
    """
    features: list[Feature | None] = []
    at = -MAX_OFFSET
    for number in ids.tolist():
        candidates = traced.get(number, [])
        fits = [feature for feature in candidates if feature.offset >= at]
        features.append(fits[0] if fits else None)
        if len(candidates) == 1 and at <= candidates[0].offset <= MAX_OFFSET:
            at = candidates[0].offset
    return features
