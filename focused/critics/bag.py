"""The words that a critic knows, as columns of a matrix.

A page is a bag of word ids (``Page.bag``, computed once). The ids of the vocabulary are kept sorted, so that a page
turns into columns with one binary search, and a linear critic's verdict is a gather and a sum. The words themselves
are kept beside the ids only to explain verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from focused.arrays import look_up, starts_of
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id, words

Bag = tuple[Ids, NDArray[np.int64]]
Columns = NDArray[np.int64]


class Vocabulary:
    """The words that occur on at least ``min_pages`` of the training pages, and those of ``more``."""

    def __init__(self, pages: Sequence[Page], min_pages: int = 1, more: Mapping[int, str] | None = None) -> None:
        on_pages = Counter[int]()
        for page in pages:
            on_pages.update(page.bag[0].tolist())
        kept = {number for number, count in on_pages.items() if count >= min_pages}
        spelled = dict(more or {})
        for page in pages:
            spelled.update((number, word) for word, number in spelling(page) if number in kept)
        self.ids: Ids = np.array(sorted(kept | spelled.keys()), np.uint32)
        self.words = [spelled.get(number, "") for number in self.ids.tolist()]

    def __len__(self) -> int:
        return len(self.ids)

    def columns(self, bag: Bag) -> tuple[Columns, NDArray[np.int64]]:
        """The columns of the words of a bag that are known, and how often each occurs."""
        ids, counts = bag
        at, known = look_up(self.ids, ids)
        return at[known], counts[known]

    def count(self, ids: Ids, text: NDArray[np.int64]) -> tuple[Columns, Columns, NDArray[np.int64]]:
        """The known words of many texts (``text`` is that of each word): which text, which column, how often."""
        at, known = look_up(self.ids, ids)
        cells, counts = np.unique(text[known] * len(self.ids) + at[known], return_counts=True)
        return *np.divmod(cells, max(len(self.ids), 1)), counts

    def without(self, ids: Ids) -> Vocabulary:
        """The same vocabulary without some words."""
        kept = ~np.isin(self.ids, ids)
        rest = copy(self)
        rest.ids = self.ids[kept]
        rest.words = [word for word, stays in zip(self.words, kept.tolist(), strict=True) if stays]
        return rest

    def matrix(self, bags: Sequence[Bag]) -> csr_matrix:
        """Counts, a row a bag."""
        ids = np.concatenate([np.zeros(0, np.uint32), *(ids for ids, _ in bags)])
        counts = np.concatenate([np.zeros(0, np.float64), *(counts for _, counts in bags)])
        at, known = look_up(self.ids, ids)
        known_before = starts_of(known)
        starts = known_before[starts_of([len(ids) for ids, _ in bags])]
        return csr_matrix((counts[known], at[known], starts), shape=(len(bags), len(self.ids)))


def inverse_frequencies(counts: csr_matrix) -> NDArray[np.float64]:
    """log((1 + pages) / (1 + pages with a word)) + 1 for each word, from the counts on some pages."""
    on_pages = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + on_pages)) + 1)


def tfidf(counts: csr_matrix, idf: NDArray[np.floating]) -> csr_matrix:
    """Rows of counts as (1 + log count)·idf, each row of length 1."""
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norm = np.sqrt(np.bincount(row, values * values, counts.shape[0]))
    return csr_matrix((values / norm[row], counts.indices, counts.indptr), shape=counts.shape)


def min_pages_for(examples: int) -> int:
    """On how many example pages a word must occur to be learned: with many examples, rare words only add noise."""
    return 1 if examples < 30 else 2 if examples < 200 else 3


_SPELLED: WeakKeyDictionary[Page, list[tuple[str, int]]] = WeakKeyDictionary()


def spelling(page: Page) -> list[tuple[str, int]]:
    """The distinct words of a page, and their ids. Remembered: cross-validation asks again and again."""
    if page not in _SPELLED:
        _SPELLED[page] = [(word, word_to_id(word)) for word in set(words(page.text))]
    return _SPELLED[page]
