"""The text around the link that led to a page, with the words in it that spoke for the page."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from focused.pages.evidence import MAX_OFFSET
from focused.prioritizers.base import Prioritizer
from focused.report.learned import OFFSETS
from focused.report.reader import CrawlReader
from focused.report.text import short
from focused.report.words import WordTable, in_order

_MOST_WORDS = 10
_LEAST = 0.1
"""What weighs less did not speak."""


def text_near(
    reader: CrawlReader, prioritizer: Prioritizer, table: WordTable, sought: Collection[str], link: int
) -> list[tuple[str, str]]:
    """Words around the best link to a page, from left to right.

    Each with what it is: ``link`` for the link's own text, ``spoke`` if it weighs much or is ``sought``, both, or ''.
    """
    evidence = reader.evidence_of(link)
    if evidence is None:
        return []
    row = evidence.row(int(np.argmax(prioritizer.finite_scores(evidence))))
    features = in_order(row.ids, table.trace(row.ids, OFFSETS))
    weights = prioritizer.weights_of(row.ids)
    words = [
        (feature.offset, short(feature.word, 40), weight >= _LEAST or feature.word in sought)
        for feature, weight in zip(features, weights.tolist(), strict=True)
        if feature is not None and abs(feature.offset) <= MAX_OFFSET
    ]
    left, own, right = ([one for one in words if np.sign(one[0]) == side] for side in (-1, 0, 1))
    return [_named(*one) for one in _cut(left, own, right)]


def _cut(*parts: Sequence[tuple[int, str, bool]]) -> list[tuple[int, str, bool]]:
    left, own, right = parts
    return [*left[-_MOST_WORDS:], *own[:_MOST_WORDS], *right[:_MOST_WORDS]]


def _named(offset: int, word: str, is_loud: bool) -> tuple[str, str]:
    return word, " ".join(filter(None, ("link" * (offset == 0), "spoke" * is_loud)))
