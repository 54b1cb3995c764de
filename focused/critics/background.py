"""What a topic is distinguished from when there are no negative examples: general language.

Without a negative class everything would be relevant, and the crawl would drift away ([32] in the paper). So one
class more is made from the frequencies of words in general language, over the commonest words and the topic's own.

One thing such a class cannot know is the furniture of the pages (navigation, "retrieved", "copyright"): words that
general language hardly uses and every example shows, so that they would seem to be the topic itself. They give
themselves away: they occur on nearly all examples, and about equally often on each, where words of a topic come in
bursts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from focused.critics.bag import Bag, Vocabulary
from focused.critics.language import Language, guess_languages, language_of
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id

BACKGROUND = "(general language)"
_COMMONEST = 20_000
_FEW_PAGES = 5
_ON_NEARLY_ALL = 0.8
_STEADY = 0.5
"""Variance over mean of a word's counts: 1 for words strewn at random, more for words that come in bursts."""


def language_of_pages(pages: Sequence[Page], codes: Sequence[str]) -> Language:
    """The language asked for, or else the one that the pages seem to be written in."""
    if codes:
        return language_of(tuple(codes))
    return language_of(guess_languages(np.concatenate([np.zeros(0, np.uint32), *(page.ids for page in pages)])))


def topic_vocabulary(pages: Sequence[Page], language: Language, min_pages: int) -> Vocabulary:
    """The words of the pages without their furniture, and the commonest of the language."""
    common = {word_to_id(word): word for word in language.commonest(_COMMONEST)}
    vocabulary = Vocabulary(pages, min_pages, common)
    return vocabulary.without(furniture([page.bag for page in pages]))


def furniture(bags: Sequence[Bag]) -> Ids:
    """Ids of the words that occur on nearly all pages, and about equally often on each."""
    if len(bags) < _FEW_PAGES:
        return np.zeros(0, np.uint32)
    ids = np.concatenate([ids for ids, _ in bags])
    counts = np.concatenate([counts for _, counts in bags]).astype(np.float64)
    distinct, at = np.unique(ids, return_inverse=True)
    pages = np.bincount(at)
    mean = np.bincount(at, counts) / len(bags)
    variance = np.bincount(at, counts**2) / len(bags) - mean**2
    steady = (pages >= _ON_NEARLY_ALL * len(bags)) & (variance < _STEADY * mean)
    found: Ids = distinct[steady]
    return found


def pseudo_pages(vocabulary: Vocabulary, language: Language, lengths: Sequence[int], seed: int) -> list[Bag]:
    """Bags of words drawn at random as often as the language uses them, one for each length."""
    share = language.frequencies(vocabulary.words)
    share /= share.sum()
    random = np.random.default_rng(seed)
    bags: list[Bag] = []
    for length in lengths:
        counts = random.multinomial(length, share)
        drawn = np.flatnonzero(counts)
        bags.append((vocabulary.ids[drawn], counts[drawn]))
    return bags
