"""Logistic regression by stochastic gradient descent, on labels graded by R.

A lesson (evidence, R(*v*)) stands twice among the examples: as a positive one of weight R and as a negative one of
weight 1 - R, so that the model regresses on R and is never told that 0.51 is one and 0.49 nothing. At the beginning
the weights are a fixed prior, σ(2 R(*u*) - 2), which orders links as best-first does; whatever is learned moves on
smoothly from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Contribution, Lessons, State
from focused.prioritizers.learner import Learner
from focused.prioritizers.rows import fold, row_scales, row_sums, sigmoid


class LogisticLearner(Learner):
    """One float32 weight a feature, then one for each dense number, then the bias."""

    def __init__(
        self,
        prior: Mapping[str, float],
        *,
        bits: int = 18,
        rate: float = 1.0,
        decay: float = 1e-6,
        dense_scale: float = 0.3,
        epochs: int = 1,
        replays: float = 2.0,
        memory: int = 4_000,
        seed: int = 0,
    ) -> None:
        self.names = tuple(prior)
        self.bits, self.rate, self.decay, self.dense_scale = bits, rate, decay, dense_scale
        self.epochs, self.replays, self.memory, self.seed = epochs, replays, memory, seed
        self.weights = np.zeros(2**bits + len(prior), np.float32)
        self.weights[2**bits :] = list(prior.values())
        self.weights[2**bits :] /= dense_scale
        self.past: Lessons | None = None
        self.seen = 0

    @property
    def table(self) -> NDArray[np.float32]:
        """The weights of hashed features."""
        return self.weights[: 2**self.bits]

    def _dense(self, evidence: Evidence) -> NDArray[np.float32]:
        bias = np.ones((len(evidence), 1), np.float32)
        return np.hstack([evidence.dense, bias]) * np.float32(self.dense_scale)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        sums = row_sums(self.table, evidence) * row_scales(evidence)
        return sigmoid(sums + self._dense(evidence) @ self.weights[2**self.bits :])

    def learn(self, lessons: Lessons) -> Self:
        new = copy(self)
        rng = np.random.default_rng((self.seed, self.seen))
        rows = lessons
        if self.past is not None and self.replays:
            n = min(len(self.past), round(self.replays * len(lessons)))
            again = rng.choice(len(self.past), n, replace=False)
            rows = Lessons.concat([lessons, take(self.past, again)])
        X, y, weight = self._examples(rows)
        sgd = SGDClassifier(
            loss="log_loss", penalty="l2", alpha=self.decay, learning_rate="constant", eta0=self.rate,
            fit_intercept=False, max_iter=self.epochs, tol=None, random_state=self.seed + self.seen,
        )
        sgd.fit(X, y, coef_init=self.weights.copy()[None], sample_weight=weight)
        new.weights = sgd.coef_[0].astype(np.float32)
        new.past, new.seen = self._remember(lessons, rng), self.seen + len(lessons)
        return new

    def _remember(self, lessons: Lessons, rng: np.random.Generator) -> Lessons:
        rows = lessons if self.past is None else Lessons.concat([self.past, lessons])
        if len(rows) <= self.memory:
            return rows
        return take(rows, np.sort(rng.choice(len(rows), self.memory, replace=False)))

    def _examples(self, lessons: Lessons):
        evidence = lessons.evidence
        n, width = len(evidence), len(self.names)
        lengths = np.diff(evidence.starts)
        columns = fold(evidence.ids, self.bits)
        scales = row_scales(evidence)
        S = csr_array((np.repeat(scales, lengths), columns, evidence.starts.astype(np.int32)), shape=(n, 2**self.bits))
        from scipy.sparse import hstack, vstack
        X = hstack([S, csr_array(self._dense(evidence))], format="csr", dtype=np.float32)
        X = vstack([X, X], format="csr")
        R = np.clip(lessons.relevance, 0, 1)
        weight = np.concatenate([lessons.weight * R, lessons.weight * (1 - R)]).astype(np.float32)
        y = np.repeat([1, 0], n)
        return X, y, weight

    def explain(self, evidence: Evidence) -> list[Contribution]:
        return []

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        return self.table[fold(ids, self.bits)]

    def state(self) -> State:
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        pass


def take(lessons: Lessons, rows: NDArray[np.int64]) -> Lessons:
    """Some of the lessons."""
    return Lessons(lessons.evidence.take(rows), lessons.relevance[rows], lessons.source_relevance[rows],
                   lessons.weight[rows], lessons.alive[rows])
