"""Logistic regression of R(*v*) on evidence, by scikit-learn's stochastic gradient descent.

A link's log-odds are ``w · x + p · (dense numbers, 1)``: *x* holds 1 / √(n + 1) for each of the row's *n* features.
Four things make plain gradient descent learn from a crawl, where one lesson in twenty is good news:

* **A prior.** The first *p* is not zero but an opinion (links inherit their page's relevance); *w* is zero. So the
  first scores order links as best-first does, and what is learned moves on smoothly from there.
* **Graded labels.** A lesson stands twice among the examples: as a positive one of weight y and as a negative one of
  weight 1 - y. Cut at 0.5, the model would unlearn everything before the first hit.
* **Softness.** y is R(*v*) with its log-odds halved. Before the first hit all there is to learn from
  is the difference between an R of 0.03 and one of 0.003, and the loss hardly feels it. Scores are turned back.
* **A rate for each feature.** A common word must not move as fast as one seen for the first time: as in AdaGrad
  (Duchi, Hazan, Singer 2011), a feature's rate falls with the root of its summed squared gradients. Stretching a
  coordinate by s multiplies its rate by s², so scikit-learn's SGD with s = G^(-1/4) does just that. Only the features
  that occur in a batch take part: a batch is a small problem, whatever the size of the table.

Every batch is mixed with ``replays`` times as many lessons of the past, drawn from a bounded memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack
from sklearn.linear_model import SGDClassifier

from focused.arrays import Arrays, count_in, numbers_in, put_back
from focused.pages.evidence import Evidence
from focused.prioritizers.base import LESSON_COLUMNS, Contribution, Lessons
from focused.prioritizers.rows import fold, logit, row_sums, sigmoid, with_one

_FIRST_TRAVEL = 0.01
# The prior is worth some hundred lessons.
_FIRST_TRAVEL_OF_PRIOR = 1.0
_STUDY_BATCH = 100
_PASSES = 5
_SOFTNESS = np.float32(2)


class LogisticLearner:
    """Logistic regression over 2^``bits`` hashed features and the dense numbers that ``prior`` names.

    It is a snapshot: `learn` and `study` (a whole crawl's lessons, several times over) give a new one.

    ``prior`` maps each dense number, in order, and ``"bias"``, the last, to its first weight. ``rate`` is the step
    size, ``replays`` how many lessons of the past are taken up again for each new one, ``memory`` how many are kept.

    Learned: ``weights`` (hashed features, then dense numbers, then the bias) and ``travel``, the summed squared
    gradients; ``seen`` counts all lessons there were. The rows ``kept`` of ``past`` are the lessons kept: rows that are
    not are cut out only now and then, for that costs more than the learning.
    """

    def __init__(
        self,
        prior: Mapping[str, float],
        *,
        bits: int = 18,
        rate: float = 0.3,
        replays: float = 2.0,
        memory: int = 4_000,
        seed: int = 0,
    ) -> None:
        self.names = tuple(prior)
        self.bits, self.rate, self.replays, self.memory = bits, rate, replays, memory
        self.seed = seed
        self.weights = np.zeros(2**bits + len(prior), np.float32)
        self.weights[2**bits :] = list(prior.values())
        self.travel = self._first_travel()
        self.past: Lessons | None = None
        self.kept = np.zeros(0, np.int64)
        self.seen = 0

    def _first_travel(self) -> NDArray[np.float32]:
        travel = np.full(len(self.weights), _FIRST_TRAVEL, np.float32)
        travel[2**self.bits :] = _FIRST_TRAVEL_OF_PRIOR
        return travel

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        return sigmoid(self._log_odds(evidence) * _SOFTNESS)

    def _log_odds(self, evidence: Evidence) -> NDArray[np.float32]:
        sums = row_sums(self.weights[: 2**self.bits], evidence) * row_scales(evidence)
        odds: NDArray[np.float32] = sums + with_one(evidence.dense) @ self.weights[2**self.bits :]
        return odds

    def learn(self, lessons: Lessons) -> Self:
        rng = np.random.default_rng((self.seed, self.seen))
        new = copy(self)
        new._descend(self._with_replays(lessons, rng))
        new._keep(lessons, rng)
        new.seen = self.seen + len(lessons)
        return new

    def study(self, lessons: Lessons) -> Self:
        rng = np.random.default_rng((self.seed, self.seen))
        new = copy(self)
        for _ in range(_PASSES):
            order = rng.permutation(len(lessons))
            for begin in range(0, len(order), _STUDY_BATCH):
                new._descend(lessons.select(order[begin : begin + _STUDY_BATCH]))
                new.seen += _STUDY_BATCH
        new._keep(lessons, rng)
        return new

    def _with_replays(self, lessons: Lessons, rng: np.random.Generator) -> Lessons:
        if self.past is None:
            return lessons
        count = min(len(self.kept), round(self.replays * len(lessons)))
        chosen = rng.choice(len(self.kept), count, replace=False)
        return Lessons.concat([lessons, self.past.select(self.kept[chosen])])

    def _keep(self, lessons: Lessons, rng: np.random.Generator) -> None:
        """Keep new lessons, too; where that makes too many, each has the same chance to stay."""
        first = len(self.past) if self.past else 0
        self.past = lessons if self.past is None else Lessons.concat([self.past, lessons])
        self.kept = np.append(self.kept, first + np.arange(len(lessons)))
        if len(self.kept) > self.memory:
            self.kept = self.kept[np.sort(rng.choice(len(self.kept), self.memory, replace=False))]
        if len(self.past) > 2 * self.memory:
            self.past, self.kept = self.past.select(self.kept), np.arange(len(self.kept))

    def _descend(self, lessons: Lessons) -> None:
        """One pass over the lessons. Replaces the arrays, for older snapshots hold on to theirs."""
        columns, rows = self._matrix(lessons.evidence)
        weights, travel = self.weights.copy(), self.travel.copy()
        labels = sigmoid(logit(lessons.relevance) / _SOFTNESS)
        slope = (sigmoid(rows @ weights[columns]) - labels) * lessons.weight
        travel[columns] += rows.power(2).T @ slope**2
        stretch = travel[columns] ** np.float32(-0.25)
        rows.data *= stretch[rows.indices]
        sgd = SGDClassifier(
            loss="log_loss",
            penalty=None,
            fit_intercept=False,
            learning_rate="constant",
            eta0=self.rate,
            max_iter=1,
            tol=None,
            random_state=(self.seed + self.seen) % 2**32,
        )
        sgd.fit(
            vstack([rows, rows], format="csr"),
            np.repeat([1, 0], len(lessons)),
            coef_init=(weights[columns] / stretch)[None],
            sample_weight=np.concatenate([lessons.weight * labels, lessons.weight * (1 - labels)]),
        )
        weights[columns] = sgd.coef_[0] * stretch
        self.weights, self.travel = weights, travel

    def _matrix(self, evidence: Evidence) -> tuple[NDArray[np.int64], csr_array]:
        """Which weights the rows touch, and the rows over those alone."""
        touched, at = np.unique(fold(evidence.ids, self.bits), return_inverse=True)
        values = np.repeat(row_scales(evidence), np.diff(evidence.starts))
        shape = (len(evidence), len(touched))
        hashed = csr_array((values, at.astype(np.int32), evidence.starts.astype(np.int32)), shape=shape)
        hashed.sum_duplicates()
        rows = hstack([hashed, csr_array(with_one(evidence.dense))], format="csr", dtype=np.float32)
        # scikit-learn takes 32-bit indices only; scipy makes them 64 bits wide whenever it is not sure.
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return np.concatenate([touched, 2**self.bits + np.arange(len(self.names))]), rows

    def explain(self, evidence: Evidence) -> list[Contribution]:
        columns = fold(evidence.ids, self.bits)
        parts = self.weights[columns] * row_scales(evidence)[0] * _SOFTNESS
        dense = self.weights[2**self.bits :] * with_one(evidence.dense)[0] * _SOFTNESS
        hashed = [Contribution(i, w) for i, w in zip(evidence.ids.tolist(), parts.tolist(), strict=True)]
        return hashed + [Contribution(name, w) for name, w in zip(self.names, dense.tolist(), strict=True)]

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        weights: NDArray[np.float32] = self.weights[fold(ids, self.bits)] * _SOFTNESS
        return weights

    def state(self) -> Arrays:
        touched = np.flatnonzero(self.travel != self._first_travel())
        past = {} if self.past is None else _lessons_to_arrays(self.past.select(self.kept))
        learned = {"weights": self.weights[touched], "travel": self.travel[touched], "seen": np.array(self.seen)}
        return {"touched": touched.astype(np.uint32), **learned, **past}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self.weights, self.travel = self.weights.copy(), self._first_travel()
        self.weights[: 2**self.bits] = 0
        put_back(state, "weights", "touched", self.weights)
        put_back(state, "travel", "touched", self.travel)
        self.seen = count_in(state, "seen")
        self.past = _arrays_to_lessons(state) if "past_evidence" in state else None
        self.kept = np.arange(len(self.past) if self.past else 0)


def row_scales(evidence: Evidence) -> NDArray[np.float32]:
    """1 / √(n + 1) for a row of n features: a long window must not shout down a short one."""
    scales: NDArray[np.float32] = (1 / np.sqrt(np.diff(evidence.starts) + 1)).astype(np.float32)
    return scales


def _lessons_to_arrays(lessons: Lessons) -> Arrays:
    evidence = np.frombuffer(lessons.evidence.to_bytes(), np.uint8)
    return {"past_evidence": evidence, **{f"past_{name}": getattr(lessons, name) for name in LESSON_COLUMNS}}


def _arrays_to_lessons(state: Mapping[str, NDArray[Any]]) -> Lessons:
    evidence = Evidence.from_bytes(state["past_evidence"].tobytes())
    shape = (len(evidence),)
    return Lessons(
        evidence, *(numbers_in(state, f"past_{name}", shape).astype(kind) for name, kind in LESSON_COLUMNS.items())
    )
