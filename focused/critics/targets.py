"""What is sought, as TF-IDF vectors: the example pages that are wanted, and how alike another text is.

Weights are (1 + log tf)·idf, rows have length 1, so a product is a cosine. The document frequencies are those of all
examples, wanted or not. Words that no target has do not count for a text's length either: they may be misspellings.
A topic given as words has one vector, of its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from focused.critics.bag import Bag, Vocabulary, inverse_frequencies, min_pages_for, tfidf
from focused.pages.page import Page
from focused.pages.tokens import Ids, end_to_end

Floats32 = NDArray[np.float32]


class Targets:
    """The targets of a topic, a row each of ``vectors``; ``digests`` are those of their pages (0: not a page)."""

    def __init__(self, vocabulary: Vocabulary, idf: Floats32, counts: csr_matrix, digests: Sequence[int]) -> None:
        self.vocabulary = vocabulary
        self.idf = idf
        self.digests = np.array(digests, np.int64)
        self.vectors = tfidf(counts, idf)

    @classmethod
    def of_pages(cls, pages: Sequence[Page], wanted: Sequence[bool]) -> Self:
        """From the example pages of a topic."""
        vocabulary = Vocabulary(pages, min_pages_for(len(pages)))
        counts = vocabulary.matrix([page.bag for page in pages])
        idf = inverse_frequencies(counts).astype(np.float32)
        rows = np.flatnonzero(wanted)
        return cls(vocabulary, idf, counts[rows], [pages[row].digest for row in rows.tolist()])

    def described_by(self, words: Ids) -> Targets | None:
        """One target beside these, a text given as the ids of its words; None if no target has any of them."""
        counts = self.vocabulary.matrix([np.unique(words, return_counts=True)])
        return Targets(self.vocabulary, self.idf, counts, [0]) if counts.nnz else None

    @classmethod
    def of_words(cls, spelled: dict[int, str]) -> Self:
        """From the words of a topic, by id."""
        vocabulary = Vocabulary([], more=spelled)
        ids = vocabulary.ids
        return cls(vocabulary, np.ones(len(ids), np.float32), vocabulary.matrix([(ids, np.ones(len(ids), int))]), [0])

    def __len__(self) -> int:
        return int(self.vectors.shape[0])

    def cosines(self, bags: Sequence[Bag]) -> Floats32:
        """The cosine of each page (a row), given as its bag, to each target (a column)."""
        return np.asarray((tfidf(self.vocabulary.matrix(bags), self.idf) @ self._columns).toarray(), np.float32)

    def likeness(self, page: Page) -> float:
        """The greatest cosine of a page to a target that is not this very page."""
        others = self.cosines([page.bag])[0][self.digests != page.digest]
        return float(others.max(initial=0.0))

    def text_likeness(self, texts: Sequence[Ids]) -> Floats32:
        """The greatest cosine of each short text, given as the ids of its words."""
        text, columns, counts = self.vocabulary.count(*end_to_end(texts))
        matrix = csr_matrix((counts.astype(np.float64), (text, columns)), (len(texts), len(self.vocabulary)))
        cosines = tfidf(matrix, self.idf) @ self._columns
        greatest = np.zeros(len(texts))
        np.maximum.at(greatest, np.repeat(np.arange(len(texts)), np.diff(cosines.indptr)), cosines.data)
        return greatest.astype(np.float32)

    @cached_property
    def _columns(self) -> csr_matrix:
        # Transposed anew for each product, it took longer than the product.
        return self.vectors.T.tocsr()
