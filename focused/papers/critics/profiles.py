"""Lexical profiles of phrases, on word ids, and the lexical similarity of many phrases at once.

After M. Greenwood's thesis on lexical profiles, §3.1 and §3.2. The profile P(t) of a term is the set of its words and
of all longer runs of words in it (table 3.1). With h the head of a term, its last word, two terms are alike by

    LS(t₁, t₂) = |P(h₁) ∩ P(h₂)| / (|P(h₁)| + |P(h₂)|) + |P(t₁) ∩ P(t₂)| / (|P(t₁)| + |P(t₂)|)        (eq. 3.1)

which is 1 for the same term, and 0 where no word is shared. A head is one word, so its part is ½ or nothing.

A run of words is a 64-bit number made from the ids of the words, so that a page's runs are a few array operations.
An inverted index (run → terms, a sparse matrix) gives the size of every intersection in one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from focused.arrays import look_up, ranges, starts_of
from focused.pages.tokens import Ids

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Runs = NDArray[np.uint64]

LONGEST = 5
"""Terms have so many words at most; of a longer phrase only runs up to this length can be found in one."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_APART = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT = np.uint64(29)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases, each so many words of ``ids`` from ``begin`` on. Any may be empty."""

    ids: Ids
    begin: Ints
    length: Ints

    @classmethod
    def of(cls, texts: Sequence[Ids]) -> Phrases:
        """From separate texts."""
        length = np.array([len(text) for text in texts], np.int64)
        return cls(np.concatenate([np.zeros(0, np.uint32), *texts]), np.cumsum(length) - length, length)

    def __len__(self) -> int:
        return len(self.begin)

    def select(self, rows: Ints) -> Phrases:
        """Some of them, in the order given."""
        return Phrases(self.ids, self.begin[rows], self.length[rows])

    def words_of(self, row: int) -> list[int]:
        """The ids of the words of one phrase."""
        found: list[int] = self.ids[self.begin[row] : self.begin[row] + self.length[row]].tolist()
        return found

    @property
    def heads(self) -> Ids:
        """The last word of each; 0 for an empty one."""
        heads = np.zeros(len(self), np.uint32)
        some = self.length > 0
        heads[some] = self.ids[(self.begin + self.length - 1)[some]]
        return heads

    def profiles(self) -> tuple[Ints, Runs, Ints]:
        """The runs up to the longest length: which phrase, which run, each pair once; and |P| of each phrase."""
        runs = runs_of(self.ids)
        rows, found = [], []
        for words in range(1, LONGEST + 1):
            count = np.maximum(self.length - words + 1, 0)
            rows.append(np.repeat(np.arange(len(self)), count))
            found.append(runs[words - 1][ranges(self.begin, count)])
        row, run = np.concatenate(rows), np.concatenate(found)
        with np.errstate(over="ignore"):
            _, first = np.unique(run ^ (row.astype(np.uint64) * _APART), return_index=True)
        beyond = np.maximum(self.length - LONGEST, 0)
        size = np.bincount(row[first], minlength=len(self)) + beyond * (beyond + 1) // 2
        return row[first], run[first], size


class TermIndex:
    """Terms in groups (levels), and how alike other phrases are to them."""

    def __init__(self, terms: Phrases, group: Ints, weight: Floats, groups: int) -> None:
        self.group, self.weight = group, weight
        self.count = np.bincount(group, minlength=groups)
        self.terms, self.heads = terms, terms.heads
        self.words = np.unique(terms.ids)
        row, run, self.size = terms.profiles()
        self.runs: Runs = np.unique(run)
        at = np.searchsorted(self.runs, run)
        ones = np.ones(len(row), np.float32)
        self._terms_of_run = csr_matrix((ones, (at, row)), (len(self.runs), len(terms)))

    def similar(self, phrases: Phrases) -> tuple[Ints, Ints, Floats]:
        """Every pair of a phrase and a term that share a word: the phrase, the term, their LS."""
        hopeful = np.flatnonzero(self._known_words(phrases))
        phrase, term, alike = self._similar(phrases.select(hopeful))
        return hopeful[phrase], term, alike

    def _known_words(self, phrases: Phrases) -> Ints:
        """How many words of each phrase are in any term: most phrases of a page have none, and need no more work."""
        _, known = look_up(self.words, phrases.ids)
        before = starts_of(known)
        counts: Ints = before[phrases.begin + phrases.length] - before[phrases.begin]
        return counts

    def _similar(self, phrases: Phrases) -> tuple[Ints, Ints, Floats]:
        row, run, size = phrases.profiles()
        at, known = look_up(self.runs, run)
        ones = np.ones(int(known.sum()), np.float32)
        there = csr_matrix((ones, (row[known], at[known])), (len(phrases), len(self.runs)))
        shared = (there @ self._terms_of_run).tocoo()
        phrase, term = shared.row.astype(np.int64), shared.col.astype(np.int64)
        alike = shared.data / (size[phrase] + self.size[term]) + 0.5 * (phrases.heads[phrase] == self.heads[term])
        return phrase, term, alike


def runs_of(ids: Ids) -> list[Runs]:
    """For each length up to the longest, the number of the run that begins at each word (nonsense past the end)."""
    runs = [ids.astype(np.uint64) * _STEP]
    for words in range(1, LONGEST):
        longer = (runs[-1] ^ (runs[-1] >> _SHIFT)) * _STEP
        longer[: max(len(ids) - words, 0)] += ids[words:]
        runs.append(longer)
    return runs


def runs_in(texts: Phrases) -> tuple[Phrases, Ints]:
    """All runs of words of some texts, up to the longest length: as phrases, and of which text each is."""
    begins, lengths, rows = [], [], []
    for words in range(1, LONGEST + 1):
        count = np.maximum(texts.length - words + 1, 0)
        begins.append(ranges(texts.begin, count))
        lengths.append(np.full(int(count.sum()), words, np.int64))
        rows.append(np.repeat(np.arange(len(texts)), count))
    return Phrases(texts.ids, np.concatenate(begins), np.concatenate(lengths)), np.concatenate(rows)
