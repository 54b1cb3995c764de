"""Weighted words and phrases, counted in many texts at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from focused.arrays import look_up
from focused.critics.language import Language
from focused.pages.tokens import Ids, word_to_id

Floats = NDArray[np.float64]
Spelled = Mapping[str, tuple[list[str], float]]
"""The words of each term (several for a phrase), and its weight, by the term's name."""

HALF_AT = 1 / 200
"""A term is half shown when one word in so many is it."""
_DOUBT = 200
"""Words that are added to every text's length: a short text proves little."""
_APART = 0.25
"""What a phrase is worth when its words are all there, but not beside one another."""
_TITLE = 3
"""What once in the title is worth in the text."""
_SHORTEST_WITH_PLURAL = 4


class Terms:
    """Terms, and to what degree texts show them."""

    def __init__(self, terms: Spelled, language: Language) -> None:
        self.names = list(terms)
        self.weights: Floats = np.array([weight for _, weight in terms.values()], np.float64)
        forms = {word: _forms(word) for found, _ in terms.values() for word in found}
        column = {word: i for i, word in enumerate(forms)}
        self._phrases = [[column[word] for word in found] for found, _ in terms.values()]
        by_id = {word_to_id(form): column[word] for word in forms for form in forms[word]}
        # A word that is there itself is never another's plural.
        by_id |= {word_to_id(word): column[word] for word in forms}
        self._ids: Ids = np.array(sorted(by_id), np.uint32)
        self._columns = np.array([by_id[number] for number in self._ids.tolist()], np.int64)
        usual = [sum(language.frequency(form) for form in forms[word]) for word in forms]
        # By chance the words of a phrase meet so rarely that it need not be reckoned with.
        self._usual: Floats = np.array([usual[p[0]] if len(p) == 1 else 0.0 for p in self._phrases], np.float64)

    def weighted(self) -> Iterator[tuple[str, float]]:
        """Name and weight of each term."""
        return zip(self.names, self.weights.tolist(), strict=True)

    def knows(self, word: str) -> bool:
        """Is a word, or its singular or plural, in one of the terms?"""
        return bool(np.isin(np.uint32(word_to_id(word)), self._ids))

    def shown(self, ids: Ids, text: NDArray[np.int64], texts: int, titles: Ids | None = None) -> Floats:
        """To what degree, from 0 to below 1, each text (a row) shows each term; ``text`` is the text of each word."""
        counts = self._counts(ids, text, texts)
        if titles is not None and len(titles):
            counts += _TITLE * self._counts(titles, np.zeros(len(titles), np.int64), texts)
        length = np.bincount(text, minlength=texts)[:, None]
        more = np.maximum(counts - self._usual * length, 0)
        degree: Floats = more / (more + HALF_AT * (length + _DOUBT))
        return degree

    def _counts(self, ids: Ids, text: NDArray[np.int64], texts: int) -> Floats:
        if not len(self._ids) or not len(ids):
            return np.zeros((texts, len(self.names)))
        at, known = look_up(self._ids, ids)
        column = np.where(known, self._columns[at], -1)
        found = column >= 0
        words = int(self._columns.max()) + 1
        of_words = np.bincount(text[found] * words + column[found], minlength=texts * words).reshape(texts, words)
        counts = of_words[:, [phrase[0] for phrase in self._phrases]].astype(np.float64)
        for i, phrase in enumerate(self._phrases):
            if len(phrase) > 1 and counts[:, i].any():
                together = np.bincount(_where(phrase, column, text), minlength=texts)
                apart = of_words[:, phrase].min(axis=1) - together
                counts[:, i] = together + _APART * np.maximum(apart, 0)
        return counts


def _where(phrase: list[int], column: NDArray[np.int64], text: NDArray[np.int64]) -> NDArray[np.int64]:
    """In which texts the words of a phrase follow one another, once for each time."""
    last = len(column) - len(phrase) + 1
    if last <= 0:
        return text[:0]
    begins = text[:last] == text[len(phrase) - 1 :]
    for i, word in enumerate(phrase):
        begins &= column[i : last + i] == word
    found: NDArray[np.int64] = text[:last][begins]
    return found


def _forms(word: str) -> list[str]:
    """Singular and plural, judging by the last letters; forms that nobody uses do no harm."""
    if len(word) < _SHORTEST_WITH_PLURAL or not (word.isascii() and word.isalpha()):
        return [word]
    stem = word[:-3] + "y" if word.endswith("ies") else word[:-1] if word.endswith("s") else word
    plural = stem[:-1] + "ies" if stem.endswith("y") else stem + "s"
    return list(dict.fromkeys([word, stem, plural]))
