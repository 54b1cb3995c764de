"""Naive Bayes over two buckets of relevance: the learner of Chakrabarti, Punera, Subramanyam (2002), §2.3.

Lessons of high R(*v*) fall into one bucket, those of low R(*v*) into the other; every ⟨t, d⟩ around a link is an
occurrence of a feature, and counts as much as its lesson weighs. A bucket's rates are the paper's equation 1, its share
of the lessons the prior::

    θ(c, t) = (1 + n(c, t)) / (|T| + Σ n(c, τ))        Pr(c | link) ∝ Pr(c) · Π θ(c, t)

with |T| the number of features seen so far. The score is Pr(high | link), as in the paper. It believes far too much
in itself, as naive Bayes does, and where one lesson in twenty is good it trails logistic regression.

The buckets are "equally probable intervals as far as possible": they are cut at the value of R that comes nearest to
having half of the lessons (by weight) on either side; lessons of the same R are never parted. Lessons come in batches:
each batch is cut by all lessons so far, itself included, and what was counted stays in its bucket when the cut moves,
for lessons are not kept. So the order of the batches matters. A single value of R cannot be cut: then, and always with
``cut="half"``, R ≥ 0.5 is high.

Until the scarcer bucket has something in it, the score is mostly R(*u*), in place of the paper's fixed prior: the
estimate counts for m / (m + 10), where m is the number of lessons in that bucket.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays, numbers_in, put_back
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Contribution, Lessons
from focused.prioritizers.rows import fold, row_sums, sigmoid

Cut = Literal["median", "half"]
_HALF = 0.5
_PATIENCE = 10


class NaiveBayesLearner:
    """A snapshot of what was learned over 2^``bits`` features; `learn` and `study` give a new one.

    Learned: ``counts`` of features in the buckets low and high (two rows), and ``lessons`` in each; ``met``, the values
    of R so far (half precision is enough: three digits), and the weight of the lessons that had each. The first dense
    number of the evidence is R(*u*), as log-odds.
    """

    def __init__(self, *, bits: int = 18, cut: Cut = "median") -> None:
        self.bits = bits
        self.cut = cut
        self.counts = np.zeros((2, 2**bits), np.float32)
        self.lessons = np.zeros(2)
        self.met: NDArray[np.float16] = np.zeros(0, np.float16)
        self.met_weight: NDArray[np.float64] = np.zeros(0)

    @property
    def high(self) -> float:
        """Where the buckets are cut, by all lessons so far: a lesson of this R is *high*."""
        if self.cut == "half" or len(self.met) < 2:
            return _HALF
        below = np.cumsum(self.met_weight)
        return float(self.met[1 + np.abs(below[:-1] - below[-1] / 2).argmin()])

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        trust = self.trust
        learned = sigmoid(row_sums(self.log_rates, evidence) + self.prior)
        score: NDArray[np.float32] = trust * learned + (1 - trust) * sigmoid(evidence.dense[:, 0])
        return score

    @cached_property
    def trust(self) -> np.float32:
        """How far the counts are believed, from 0 to 1."""
        scarce = self.lessons.min()
        return np.float32(scarce / (scarce + _PATIENCE))

    @cached_property
    def prior(self) -> np.float32:
        """Log-odds of the bucket *high* before anything is seen of a link."""
        low, high = self.lessons + 1
        return np.float32(np.log(high / low))

    @cached_property
    def log_rates(self) -> NDArray[np.float32]:
        """log θ(high, t) - log θ(low, t) of every feature t."""
        kinds = max(1, np.count_nonzero(self.counts.any(axis=0)))
        totals = self.counts.sum(axis=1, dtype=np.float64)
        low, high = np.log1p(self.counts)
        rates: NDArray[np.float32] = high - low + np.float32(np.log((kinds + totals[0]) / (kinds + totals[1])))
        return rates

    def learn(self, lessons: Lessons) -> Self:
        evidence, lengths = lessons.evidence, np.diff(lessons.evidence.starts)
        new = type(self)(bits=self.bits, cut=self.cut)
        relevance = lessons.relevance
        if self.cut == "median":
            relevance = relevance.astype(np.float16)
            new.met, at = np.unique(np.concatenate([self.met, relevance]), return_inverse=True)
            new.met_weight = np.bincount(at, np.concatenate([self.met_weight, lessons.weight])).astype(np.float64)
        bucket = (relevance >= new.high).astype(np.int64)
        cells = np.repeat(bucket << self.bits, lengths) + fold(evidence.ids, self.bits)
        cells, at = np.unique(cells, return_inverse=True)
        new.counts = self.counts.copy()
        new.counts.reshape(-1)[cells] += np.bincount(
            at, weights=np.repeat(lessons.weight, lengths), minlength=len(cells)
        )
        new.lessons = self.lessons + np.bincount(bucket, weights=lessons.weight, minlength=2)
        return new

    def study(self, lessons: Lessons) -> Self:
        """One pass: counting the same lessons again would add nothing."""
        return self.learn(lessons)

    def explain(self, evidence: Evidence) -> list[Contribution]:
        parts = zip(evidence.ids.tolist(), self.weights_of(evidence.ids).tolist(), strict=True)
        return [*(Contribution(i, weight) for i, weight in parts), Contribution("bias", float(self.trust * self.prior))]

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        weights: NDArray[np.float32] = self.trust * self.log_rates[fold(ids, self.bits)]
        return weights

    def state(self) -> Arrays:
        seen = np.flatnonzero(self.counts.any(axis=0)).astype(np.uint32)
        counted = {"features": seen, "counts": self.counts[:, seen], "lessons": self.lessons.copy()}
        return {**counted, "met": self.met.copy(), "met_weight": self.met_weight.copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self.counts = np.zeros_like(self.counts)
        for row, counts in zip(self.counts, state["counts"], strict=True):
            put_back({**state, "counts": counts}, "counts", "features", row)
        self.lessons = numbers_in(state, "lessons", self.lessons.shape).astype(np.float64)
        if "met" in state:  # states from before do without: they were cut at a half
            size = (state["met"].size,)
            self.met = numbers_in(state, "met", size).astype(np.float16)
            self.met_weight = numbers_in(state, "met_weight", size).astype(np.float64)
        for derived in ("trust", "prior", "log_rates"):
            self.__dict__.pop(derived, None)
