"""Naive Bayes over two buckets of relevance: the learner of Chakrabarti, Punera, Subramanyam (2002), §2.3.

Lessons with R(*v*) ≥ 0.5 fall into the bucket *high*, the others into *low*; every ⟨t, d⟩ is an occurrence of one
feature, and a bucket's rates are equation 1, with counts in place of documents::

    θ(c, t) = (1 + n(c, t)) / (|T| + Σ n(c, τ))

|T| is the number of features seen so far. The score is Pr(high | evidence), as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Contribution, Lessons, State
from focused.prioritizers.learner import Learner
from focused.prioritizers.rows import fold, row_sums, sigmoid


class NaiveBayesLearner(Learner):
    """Counts of 2^``bits`` features in the two buckets, and of the lessons in each."""

    def __init__(self, *, bits: int = 18, patience: float = 10.0) -> None:
        self.bits, self.patience = bits, patience
        self.counts = np.zeros((2, 2**bits), np.float32)
        self.lessons = np.zeros(2)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        log_odds = row_sums(self.table, evidence) + self.prior
        trust = self.trust
        return trust * sigmoid(log_odds) + (1 - trust) * np.clip(evidence.dense[:, 0], 0, 1)

    @property
    def trust(self) -> np.float32:
        """How far the counts are believed, from 0 to 1: by how many lessons the scarcer bucket holds."""
        scarce = self.lessons.min()
        return np.float32(scarce / (scarce + self.patience))

    @cached_property
    def prior(self) -> np.float32:
        low, high = self.lessons + 1
        return np.float32(np.log(high / low))

    @cached_property
    def table(self) -> NDArray[np.float32]:
        kinds = np.count_nonzero(self.counts.sum(axis=0))
        rates = np.log1p(self.counts) - np.log(kinds + self.counts.sum(axis=1, keepdims=True) + 1e-9)
        return (rates[1] - rates[0]).astype(np.float32)

    def learn(self, lessons: Lessons) -> Self:
        new = NaiveBayesLearner(bits=self.bits, patience=self.patience)
        new.counts, new.lessons = self.counts.copy(), self.lessons.copy()
        evidence = lessons.evidence
        high = lessons.relevance >= 0.5
        weight = np.repeat(lessons.weight, np.diff(evidence.starts))
        bucket = np.repeat(high, np.diff(evidence.starts)).astype(np.int64)
        cell = bucket * 2**self.bits + fold(evidence.ids, self.bits)
        np.add.at(new.counts.reshape(-1), cell, weight)
        new.lessons += np.bincount(high.astype(int), weights=lessons.weight, minlength=2)
        return new

    def explain(self, evidence: Evidence) -> list[Contribution]:
        return []

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        return self.table[fold(ids, self.bits)]

    def state(self) -> State:
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        pass
