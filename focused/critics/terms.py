"""Weighted words and phrases, counted in many texts at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from focused.arrays import look_up
from focused.critics.bag import Bag
from focused.critics.language import Language, guess_languages_of_words, language_of
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id, words

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
CERTAIN = 0.9
"""What the strongest term proves at most, by itself."""
_COMMON, _RARE = 1e-3, 1e-6
_WORD_OF_PHRASE = 0.25


class Terms:
    """Terms, and to what degree texts show them. ``ids`` are those of their words, singular and plural."""

    def __init__(self, terms: Spelled, language: Language) -> None:
        self.names = list(terms)
        self.weights: Floats = np.array([weight for _, weight in terms.values()], np.float64)
        forms = {word: _forms(word) for found, _ in terms.values() for word in found}
        column = {word: i for i, word in enumerate(forms)}
        self._words = len(forms)
        self._phrases = [[column[word] for word in found] for found, _ in terms.values()]
        by_id = {word_to_id(form): column[word] for word in forms for form in forms[word]}
        # A word that is there itself is never another's plural.
        by_id |= {word_to_id(word): column[word] for word in forms}
        self.ids: Ids = np.array(sorted(by_id), np.uint32)
        self._columns = np.array([by_id[number] for number in self.ids.tolist()], np.int64)
        usual = [sum(language.frequency(form) for form in forms[word]) for word in forms]
        # By chance the words of a phrase meet so rarely that it need not be reckoned with.
        self._usual: Floats = np.array([usual[p[0]] if len(p) == 1 else 0.0 for p in self._phrases], np.float64)

    def weighted(self) -> Iterator[tuple[str, float]]:
        """Name and weight of each term."""
        return zip(self.names, self.weights.tolist(), strict=True)

    def knows(self, word: str) -> bool:
        """Is a word, or its singular or plural, in one of the terms?"""
        return bool(np.isin(np.uint32(word_to_id(word)), self.ids))

    def shown(self, ids: Ids, text: NDArray[np.int64], texts: int, titles: Ids | None = None) -> Floats:
        """To what degree, from 0 to below 1, each text (a row) shows each term; ``text`` is the text of each word."""
        counts = self._counts(ids, text, texts)
        if titles is not None and len(titles):
            counts += _TITLE * self._counts(titles, np.zeros(len(titles), np.int64), texts)
        length = np.bincount(text, minlength=texts)[:, None]
        more = np.maximum(counts - self._usual * length, 0)
        degree: Floats = more / (more + HALF_AT * (length + _DOUBT))
        return degree

    def shown_by(self, page: Page) -> Floats:
        """To what degree a page shows each term."""
        shown: Floats = self.shown(
            page.ids, np.zeros(len(page.ids), np.int64), 1, page.lexicon.text_to_ids(page.title)
        )[0]
        return shown

    def occur_on(self, page: Page) -> NDArray[np.bool_]:
        """Which of the terms are on a page at all, title or text; of a phrase all words are."""
        ids = np.concatenate([page.ids, page.lexicon.text_to_ids(page.title)])
        there: NDArray[np.bool_] = self._counts(ids, np.zeros(len(ids), np.int64), 1)[0] > 0
        return there

    def left(self, bag: Bag, rest: Bag) -> Floats:
        """What share of each term is left of a page's words if only some of them count; 1 where it is not there."""
        if rest[0] is bag[0]:
            return np.ones(len(self.names))
        whole, part = (self._of_words(*each) for each in (bag, rest))
        share = np.divide(part, whole, out=np.ones_like(whole), where=whole > 0)
        return np.array([share[phrase].min() for phrase in self._phrases])

    def _of_words(self, ids: Ids, counts: NDArray[np.int64]) -> Floats:
        at, known = look_up(self.ids, ids)
        of_words: Floats = np.bincount(self._columns[at[known]], counts[known], self._words).astype(np.float64)
        return of_words

    def _counts(self, ids: Ids, text: NDArray[np.int64], texts: int) -> Floats:
        if not len(self.ids) or not len(ids):
            return np.zeros((texts, len(self.names)))
        at, known = look_up(self.ids, ids)
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


def shown_at_all(shown: Floats, weights: Floats) -> Floats:
    """To what degree each text (a row) shows any of the terms: they are alternatives, 1 − Π (1 − c·w·s)."""
    degree: Floats = 1 - np.prod(1 - CERTAIN * shown * weights, axis=1)
    return degree


def phrases_of(keywords: Sequence[str]) -> dict[str, list[str]]:
    """The words of each keyword or phrase that has any."""
    return {" ".join(found): found for found in map(words, keywords) if found}


def language_of_phrases(phrases: Mapping[str, list[str]], codes: Sequence[str]) -> Language:
    """The language asked for, or else the one that the words seem to be in."""
    return language_of(tuple(codes) or guess_languages_of_words([word for found in phrases.values() for word in found]))


def terms_of_phrases(phrases: Mapping[str, list[str]], language: Language) -> Spelled:
    """The keywords, weighted by how rare they are; the rarest weighs 1."""
    rarity = {name: sum(rarity_of(word, language) for word in found) for name, found in phrases.items()}
    terms = {name: (found, min(rarity[name], 1.0)) for name, found in phrases.items()}
    for found in phrases.values():
        for word in found if len(found) > 1 else ():
            weight = _WORD_OF_PHRASE * rarity_of(word, language)
            if weight:
                terms.setdefault(word, ([word], weight))
    rarest = max(weight for _, weight in terms.values())
    # Only words of the commonest kind: better they count than nothing does.
    return {name: (found, weight / rarest if rarest else 1.0) for name, (found, weight) in terms.items()}


def rarity_of(word: str, language: Language) -> float:
    """0 for words as common as "people", 1 for those as rare as "stargazing"."""
    return float(np.clip(np.log(_COMMON / language.frequency(word)) / np.log(_COMMON / _RARE), 0, 1))


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
