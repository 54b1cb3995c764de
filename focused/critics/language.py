"""How often words occur in a language at large: what a topic's words are compared with.

The lists are those of the ``wordfreq`` package, cut into our words (its "don't" is our "don" and "t", its Chinese
words are our pairs of characters), so that frequencies and pages speak of the same ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
import wordfreq
from numpy.typing import NDArray

from focused.pages.tokens import Ids, word_to_id, words

UNSEEN = 1e-9
"""Frequency of a word that is on no list: below the rarest that is (1e-8)."""
_COMMONEST = 300
_ALL = None
_A_TEXT = 30
_ENOUGH = 0.25
_ENOUGH_OF_WORDS = 0.5
_CLEARLY = 10


class Language:
    """Frequencies of words in one language, or the mean of several."""

    def __init__(self, codes: Sequence[str]) -> None:
        self.codes = tuple(codes)
        lists = [_frequencies(code) for code in self.codes]
        self._frequency = lists[0] if len(lists) == 1 else _mean(lists)

    def frequency(self, word: str) -> float:
        """The share of a word among all words."""
        found = self._frequency.get(word)
        if found is None and word.isdigit():
            return max(wordfreq.word_frequency(word, self.codes[0]), UNSEEN)
        return found or UNSEEN

    def frequencies(self, spelled: Iterable[str]) -> NDArray[np.float64]:
        """The shares of many words."""
        return np.array([self.frequency(word) for word in spelled], np.float64)

    def commonest(self, most: int) -> list[str]:
        """The most frequent words, in order."""
        if len(self.codes) == 1:
            return list(islice(self._frequency, most))
        return sorted(self._frequency, key=self._frequency.__getitem__, reverse=True)[:most]


@lru_cache(maxsize=4)
def language_of(codes: tuple[str, ...]) -> Language:
    """The language or languages of these codes; ValueError if there is no list for one of them."""
    check_languages(codes)
    return Language(codes)


def check_languages(codes: Sequence[str]) -> None:
    """ValueError unless a list of codes for which there are lists of words."""
    known = wordfreq.available_languages()
    if any(code not in known for code in codes):
        raise ValueError(f"languages={list(codes)!r}: choose among {', '.join(sorted(known))}")


def guess_languages(ids: Ids) -> tuple[str, ...]:
    """The language a text may be in; English unless another is clearly nearer.

    A page is recognised by its most ordinary words. A few keywords have none: they must be missing from English.
    """
    most = _COMMONEST if len(ids) >= _A_TEXT else _ALL
    if not len(ids) or (most is _ALL and _share(ids, "en", most) >= _ENOUGH_OF_WORDS):
        return ("en",)
    share = {code: _share(ids, code, most) for code in sorted(wordfreq.available_languages())}
    best = max(share, key=share.__getitem__)
    if share[best] < _ENOUGH or share["en"] >= 0.9 * share[best]:
        return ("en",)
    return (best,)


def guess_languages_of_words(spelled: Sequence[str]) -> tuple[str, ...]:
    """The language that a topic's words may be in: English, another one, or both of them."""
    guessed = guess_languages(np.array([word_to_id(word) for word in spelled], np.uint32))
    if guessed == ("en",):
        return guessed
    english, other = language_of(("en",)), language_of(guessed)
    usual = [(english.frequency(word), other.frequency(word)) for word in spelled]
    # A short list of words holds many of English, which then seem to be its own.
    if not any(there > _CLEARLY * here for here, there in usual):
        return ("en",)
    return ("en", *guessed) if any(here > _CLEARLY * there for here, there in usual) else guessed


def _share(ids: Ids, code: str, most: int | None) -> float:
    return float(np.isin(ids, _common_ids(code, most)).mean())


@lru_cache(maxsize=64)
def _common_ids(code: str, most: int | None) -> Ids:
    # wordfreq's lists are sorted, so the head is what is most common.
    head = islice(wordfreq.get_frequency_dict(code, "small"), most)
    return np.unique(np.array([word_to_id(piece) for entry in head for piece in words(entry)], np.uint32))


@lru_cache(maxsize=8)
def _frequencies(code: str) -> dict[str, float]:
    frequency: dict[str, float] = {}
    for entry, share in wordfreq.get_frequency_dict(code, "best").items():
        # Most entries are one word of ours as they are; of 300,000 it would take long to cut each.
        for word in (entry,) if entry.isascii() and entry.isalnum() else words(entry):
            frequency[word] = frequency.get(word, 0.0) + share
    return frequency


def _mean(lists: Sequence[dict[str, float]]) -> dict[str, float]:
    return {word: sum(one.get(word, 0.0) for one in lists) / len(lists) for one in lists for word in one}
