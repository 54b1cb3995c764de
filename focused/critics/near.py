"""Words that are near a topic's words, by word vectors: a topic finds what is called otherwise.

A word is near the topic to a degree s = σ(20 (cos − 0.35)), with the greatest cosine of its vector to that of a keyword
or phrase (the mean of its words). A page is near it by the share of its words that are,

    N = Σ w s / (Σ w + N₀)        w = (1 + ln n) · a / (a + f)

over its distinct words, with n occurrences on the page and the share f of general language: what every text says
counts for little, and very short pages stay in doubt (N₀). This needs one number for each word. The vectors themselves
are read once, and forgotten.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from focused.arrays import look_up
from focused.critics.bag import Bag
from focused.critics.language import Language, language_of
from focused.critics.vectors import WordVectors, read_vectors
from focused.critics.wordllama import read_wordllama
from focused.extras import VECTORS as VECTORS_PACKAGE
from focused.pages.tokens import Ids, word_to_id

Floats = NDArray[np.float64]

logger = logging.getLogger(__name__)

_SLOPE, _HALF_NEAR = 20.0, 0.35
_LEAST = 0.1
"""What is less near is not near at all."""
_ORDINARY = 1e-3
"""The a above: a word that is so large a share of its language counts half."""
_COMMON_WORDS = 20_000
_DOUBT = 100.0
_DOUBT_OF_TEXTS = 4.0
_AT_ONCE = 10_000


class NearWords:
    """How near words are to a topic (0: not at all), and how much each counts; words that are not here count 1."""

    def __init__(self, ids: Ids, near: Floats, weights: Floats) -> None:
        self._ids, self._near, self._weights = ids, near, weights
        self.ids: Ids = ids[near > 0]
        """The words that are near."""

    @classmethod
    def of(cls, table: WordVectors, phrases: Sequence[Sequence[str]], language: Language) -> NearWords | None:
        """The words of a table that are near some phrases; None if it knows none of their words."""
        degrees = _nearness(table, phrases, language)
        if degrees is None:
            return None
        there = degrees >= _LEAST
        common = language.commonest(_COMMON_WORDS)
        numbers = [word_to_id(word) for word in common]
        weights = dict(zip(numbers, (_ORDINARY / (_ORDINARY + language.frequencies(common))).tolist(), strict=True))
        near = dict(zip(table.ids[there].tolist(), degrees[there].tolist(), strict=True))
        ids = np.array(sorted(weights.keys() | near.keys()), np.uint32)
        listed = ids.tolist()
        return cls(
            ids,
            np.array([near.get(number, 0.0) for number in listed]),
            np.array([weights.get(number, 1.0) for number in listed]),
        )

    def on_pages(self, bags: Sequence[Bag]) -> Floats:
        """N of some pages."""
        return np.array([self._shares(bag).sum() for bag in bags], np.float64)

    def parts(self, bag: Bag) -> dict[int, float]:
        """What each word of a page adds to its N, by the word's id."""
        shares = self._shares(bag)
        return {number: share for number, share in zip(bag[0].tolist(), shares.tolist(), strict=True) if share}

    def _shares(self, bag: Bag) -> Floats:
        ids, counts = bag
        at, known = look_up(self._ids, ids)
        weights = (1 + np.log(counts)) * np.where(known, self._weights[at], 1.0)
        shares: Floats = weights * np.where(known, self._near[at], 0.0) / (weights.sum() + _DOUBT)
        return shares

    def in_texts(self, ids: Ids, text: NDArray[np.int64], texts: int) -> Floats:
        """The same for short texts, by how often their words occur; ``text`` is the text of each word."""
        at, known = look_up(self._ids, ids)
        near = np.where(known, self._near[at] * self._weights[at], 0.0)
        share: Floats = np.bincount(text, near, texts) / (np.bincount(text, minlength=texts) + _DOUBT_OF_TEXTS)
        return share


@lru_cache(maxsize=8)
def near_words(reference: str, phrases: tuple[tuple[str, ...], ...], codes: tuple[str, ...]) -> NearWords | None:
    """The words near a topic, by the table of this name; None, and a line in the log, where it does not help."""
    language = language_of(codes)
    spelled = [word for phrase in phrases for word in phrase]
    table = read_wordllama(spelled) if reference == VECTORS_PACKAGE else read_vectors(reference)
    if table.language not in codes:
        logger.info("Word vectors are not used: they are of %r, and the topic of %r", table.language, "+".join(codes))
        return None
    near = NearWords.of(table, phrases, language)
    if near is None:
        logger.info("Word vectors are not used: they know none of the topic's words (%s)", table.about)
    else:
        logger.info("Word vectors: %d words are near the topic's (%s)", len(near.ids), table.about)
    return near


def _nearness(table: WordVectors, phrases: Sequence[Sequence[str]], language: Language) -> Floats | None:
    """How near each word of a table is to any of the phrases."""
    targets = []
    for phrase in phrases:
        at, known = look_up(table.ids, np.array([word_to_id(word) for word in phrase], np.uint32))
        weights = _ORDINARY / (_ORDINARY + language.frequencies(phrase))
        target = weights[known] @ table.vectors[at[known]].astype(np.float32)
        if np.linalg.norm(target):
            targets.append(target / np.linalg.norm(target))
    if not targets:
        return None
    columns = np.stack(targets, axis=1).astype(np.float32)
    greatest = np.zeros(len(table.ids))
    for begin in range(0, len(table.ids), _AT_ONCE):
        rows = table.vectors[begin : begin + _AT_ONCE].astype(np.float32)
        norms = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
        greatest[begin : begin + _AT_ONCE] = (rows @ columns).max(axis=1) / norms
    degrees: Floats = expit(_SLOPE * (greatest - _HALF_NEAR))
    return degrees
