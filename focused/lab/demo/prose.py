"""Invented text: grammatical nonsense with the words of a topic among common ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from random import Random

from focused.lab.demo.words import WordLists, vocabularies

_PATTERNS = (
    "The {a} {n} {v} the {n}.",
    "{c} a {n} {v} every {a} {n}.",
    "A {n} without a {n} is rarely {a}.",
    "Every {n} of the {n} {v} a {a} {n}, and the {n} {v} it again.",
    "{c}, the {n} {v}; the {a} {n} does not.",
    "Which {n} {v} first depends on the {n} and on the {a} {n}.",
    "There is no {a} {n} in this {n}, says {p}.",
    "{p} {v} the {n} before the {a} {n}.",
    "What a {n} {v}, a {a} {n} {v} too.",
)
_TITLES = ("{A} {N} of {P}", "{P} and the {A} {N}", "The {N}, the {N2} and {P}", "{P}: a {A} {N}", "On {N} and {N2}")
_POOL = 400
# The share of a text's words that are the topic's own.
_OWN = 0.55


class Prose:
    """Text on one topic: about half of the words in it are the topic's, the others common.

    Sentences come from a pool, so that a page costs little; a page takes many, so that no two pages are alike.
    """

    def __init__(self, vocabulary: WordLists, random: Random) -> None:
        self.vocabulary = vocabulary
        self._common = vocabularies()["common"]
        self._random = random
        self._pool = [self._write(random.choice(_PATTERNS)) for _ in range(_POOL)]

    def sentence(self) -> str:
        """One sentence."""
        return self._random.choice(self._pool)

    def paragraph(self, sentences: int) -> str:
        """Several sentences."""
        return " ".join(self._random.choices(self._pool, k=sentences))

    def title(self) -> str:
        """A title with words of the topic only."""
        own = self.vocabulary
        return self._random.choice(_TITLES).format(
            A=pick(self._random, own.adjectives).capitalize(),
            N=pick(self._random, own.nouns).capitalize(),
            N2=pick(self._random, own.nouns).capitalize(),
            P=pick(self._random, own.names),
        )

    def words(self, count: int) -> str:
        """A few words of the topic, as in a short description."""
        own = self.vocabulary
        return " ".join(pick(self._random, self._random.choice((own.nouns, own.adjectives))) for _ in range(count))

    def _write(self, pattern: str) -> str:
        sentence = pattern
        for slot in ("{a}", "{n}", "{v}", "{p}", "{c}"):
            while slot in sentence:
                sentence = sentence.replace(slot, self._word(slot), 1)
        return sentence[0].upper() + sentence[1:]

    def _word(self, slot: str) -> str:
        if slot == "{c}":
            return pick(self._random, self._common.names)
        if slot == "{p}":
            return pick(self._random, self.vocabulary.names)
        source = self.vocabulary if self._random.random() < _OWN else self._common
        return pick(self._random, {"{a}": source.adjectives, "{n}": source.nouns, "{v}": source.verbs}[slot])


def pick(random: Random, words: Sequence[str]) -> str:
    """One of the words, the first ones more often than the last, as words are."""
    return random.choices(words, cum_weights=_weights(len(words)))[0]


@cache
def _weights(count: int) -> list[float]:
    return list(accumulate(1 / (rank + 8) for rank in range(count)))
