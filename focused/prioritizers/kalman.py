"""Logistic regression that knows how sure it is of each weight, and so how far a lesson should move it.

Every weight *w* is Gaussian. Its first mean and spread are the prior: how far such a feature may speak for or against
a link before anything was learned. A lesson with label y (R(*v*), graded) and features *x* moves all weights at once by
one step of the extended Kalman filter for the logistic link, with V the covariance of the weights (*x* is the slope of
the log-odds for each weight)::

    p = σ(log-odds)   h = p (1 - p)      w += V x (y - p) / (1 + h x' V x)      V -= V x x' V · h / (1 + h x' V x)

A new feature moves far, one that was seen often hardly at all, and each feature takes its share of what was wrong with
a whole link: no rate has to be chosen, and one pass is enough (no lesson is taken up again). For hashed features V is
diagonal; for the few numbers, which are correlated, it is full. The idea is from Graepel, Candela, Borchert, Herbrich,
*Web-scale Bayesian click-through rate prediction* (ICML 2010), there with a probit link.

Which kind of feature is informative differs from web to web: where only the side of a word matters, what became of a
page's other links is noise; on a school's web it is the best there is. So each kind of feature has a *trust*, a number
that multiplies what all its features say together. It begins at 1 and is learned like the weights of the numbers, but
only from first lessons, of pages of which nothing was learned yet: predicting a page again from its own list or address
is not a prediction, and trust that counts it grows without end. At other lessons trust does not move, and its
uncertainty stays as it was (Schmidt's *consider filter*).

Features that occur with almost every link (``www``, ``html``, ``of``, the elements of a template) say nothing about any
of them, but would take their share of what most links have in common: that they are bad. A link with a short address,
in which such words weigh more, would then be worse than one with a long address. So a feature counts less in *x* the
more lessons had it: 1 - lessons with it / (all lessons + `_DOUBTED`).

What the features are, and how far each may move a score at first, is declared elsewhere (`features`). Spreads are put
into *x*, so that all hashed weights begin alike, with N(0, 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import inf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from focused.arrays import Arrays, count_in, numbers_in, put_back
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Contribution, Lessons
from focused.prioritizers.features import Layout
from focused.prioritizers.rows import expectation, fold, run_sums, sigmoid, with_one

_TRUST_BITS = 5
"""This many bits hold the number of a kind of features."""
TRUST = 1.0
"""How far the trust in a kind of feature may move from 1: the standard deviation of its prior."""

_DOUBTED = 10.0
"""After this many pages, a feature that all of them had counts half."""

_HASHED = {"weights": 0.0, "doubt": 1.0, "common": 0.0}
"""Tables of the hashed features, and what they hold at first."""


class KalmanLearner:
    """Weights of the features of a ``layout``, as (mean, spread): words and places are hashed to 2^``bits`` of them.

    ``bias`` is the prior of the bias. Without ``rarity``, common features count like all others.

    Learned: ``weights`` and ``doubt`` (their variances) of the hashed features, ``means`` and ``covariance`` of the
    numbers, the bias, and the trust in each kind of features; ``common``, the lessons that had each hashed feature, by
    their weights, of ``all_lessons``; ``seen`` counts the lessons.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        bias: tuple[float, float],
        rarity: bool = True,
        bits: int = 18,
        seed: int = 0,
    ) -> None:
        if len(layout.trusts) > 2**_TRUST_BITS:
            raise ValueError(f"{len(layout.trusts)} kinds of features: there can be at most {2**_TRUST_BITS}")
        self.layout, self.bits, self.seed = layout, bits, seed
        self.names = (*(number.name for number in layout.numbers), "bias")
        self.doubted = _DOUBTED if rarity else inf
        self.weights = np.zeros(2**bits, np.float32)
        self.doubt = np.ones(2**bits, np.float32)
        self.common = np.zeros(2**bits, np.float32)
        self.all_lessons = 0.0
        priors = [*((number.mean, number.spread) for number in layout.numbers), bias]
        priors += [(1.0, TRUST)] * len(layout.trusts)
        self.means = np.array([mean for mean, _ in priors])
        self.covariance = np.diag([spread**2 for _, spread in priors])
        self.seen = 0
        self._remembered: NDArray[np.float32] | None = None

    def _rarity(self, columns: NDArray[np.int64] | slice) -> NDArray[np.float32]:
        """How much features count."""
        return np.maximum(1 - self.common[columns] / np.float32(self.all_lessons + self.doubted), 0)

    @property
    def _weighed(self) -> NDArray[np.float32]:
        """All weights by how much their features count. Made by the first to score: not all that learn do."""
        if self._remembered is None:
            self._remembered = self.weights * self._rarity(slice(None))
        return self._remembered

    @property
    def trust(self) -> NDArray[np.float64]:
        """What each kind of features says is multiplied by this."""
        return self.means[len(self.names) :]

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """Estimates of R(*v*)."""
        means = self.means.astype(np.float32)
        return sigmoid(np.hstack([self._numbers(evidence), self._sums(evidence)]) @ means)

    def _sums(self, evidence: Evidence) -> NDArray[np.float32]:
        """What each kind of features says, a row for each row of evidence."""
        layout, kinds = self.layout, len(self.layout.words)
        segments = layout.segments(evidence)
        texts = run_sums(self._weighed, evidence.ids, segments).reshape(-1, kinds + 1)[:, :kinds]
        placed = self._weighed[fold(evidence.ids[layout.places_in(evidence)], self.bits)] @ layout.spreads_of_places()
        return np.hstack([texts * layout.scales(segments), placed])

    def _numbers(self, evidence: Evidence) -> NDArray[np.float32]:
        return with_one(self.layout.numbers_in(evidence))

    def learn(self, lessons: Lessons) -> Self:
        """A learner that knows these lessons, too."""
        new = copy(self)
        new.weights, new.doubt = self.weights.copy(), self.doubt.copy()
        new.means, new.covariance, new.common = self.means.copy(), self.covariance.copy(), self.common.copy()
        rows, numbers = self._rows(lessons.evidence), self._numbers(lessons.evidence).astype(np.float64)
        columns, kinds = rows.indices >> _TRUST_BITS, rows.indices & (2**_TRUST_BITS - 1)
        starts, weights, labels = rows.indptr.tolist(), lessons.weight.tolist(), lessons.relevance.tolist()
        # In random order, for the links of one page come one after the other; what is new before what is not.
        order = np.random.default_rng((self.seed, self.seen)).permutation(len(lessons))
        for i in order[np.argsort(~lessons.first[order], kind="stable")].tolist():
            at = slice(starts[i], starts[i + 1])
            step = new._step if lessons.first[i] else new._step_in_trust
            step(columns[at], kinds[at], rows.data[at], numbers[i], label=labels[i], weight=weights[i])
        new.seen = self.seen + len(lessons)
        np.add.at(new.common, columns, np.repeat(lessons.weight, np.diff(rows.indptr)))
        new.all_lessons = self.all_lessons + float(lessons.weight.sum())
        new._remembered = None
        return new

    def _rows(self, evidence: Evidence) -> csr_array:
        """Values in *x*, a row for each row of evidence; the lowest bits of a column say of which kind it is."""
        columns = fold(evidence.ids, self.bits).astype(np.int64) << _TRUST_BITS | self.layout.trusted_as(evidence)
        rows = csr_array(
            # A copy: taking duplicates together rewrites it.
            (self.layout.values(evidence), columns, evidence.starts.copy()),
            shape=(len(evidence), 2 ** (self.bits + _TRUST_BITS)),
        )
        rows.sum_duplicates()
        rows.data *= self._rarity(rows.indices >> _TRUST_BITS)
        return rows

    def _step(
        self,
        columns: NDArray[np.int64],
        kinds: NDArray[np.int64],
        values: NDArray[np.float32],
        numbers: NDArray[np.float64],
        *,
        label: float,
        weight: float,
    ) -> None:
        """One lesson, into this learner's own arrays."""
        numbers = np.concatenate([numbers, np.bincount(kinds, self.weights[columns] * values, len(self.layout.trusts))])
        expected, slope = expectation(float(self.means @ numbers))
        certainty = weight * slope
        slopes = values * self.trust.astype(np.float32)[kinds]
        if (columns[1:] == columns[:-1]).any():
            # Two kinds share a column of the table.
            first = np.flatnonzero(np.diff(columns, prepend=-1))
            columns, slopes = columns[first], np.add.reduceat(slopes, first)
        doubt = self.doubt[columns]
        toward, toward_numbers = doubt * slopes, self.covariance @ numbers
        shrink = 1 + certainty * (float(toward @ slopes) + float(toward_numbers @ numbers))
        gain = weight * (label - expected) / shrink
        self.weights[columns] += np.float32(gain) * toward
        self.doubt[columns] = doubt - np.float32(certainty / shrink) * toward * toward
        self.means += gain * toward_numbers
        self.covariance -= np.outer(toward_numbers, toward_numbers) * (certainty / shrink)

    def _step_in_trust(self, *lesson: Any, **rest: Any) -> None:
        """One lesson that is not the first of its page."""
        trust = slice(len(self.names), None)
        means, covariance = self.means[trust].copy(), self.covariance[trust, trust].copy()
        self._step(*lesson, **rest)
        self.means[trust], self.covariance[trust, trust] = means, covariance

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """What each feature of one row adds to its log-odds, in no order."""
        trusted = self.layout.values(evidence) * self.trust[self.layout.trusted_as(evidence)]
        added = (self._weighed[fold(evidence.ids, self.bits)] * trusted).tolist()
        places = [place.name for place in self.layout.places]
        named: list[int | str] = [*evidence.ids[: len(added) - len(places)].tolist(), *places, *self.names]
        dense = (self._numbers(evidence)[0] * self.means[: len(self.names)]).tolist()
        return [Contribution(feature, part) for feature, part in zip(named, added + dense, strict=True)]

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What was learned of each feature, before its kind and its number in a row are taken into account."""
        weights: NDArray[np.float32] = self._weighed[fold(ids, self.bits)]
        return weights

    def state(self) -> Arrays:
        """All that was learned."""
        touched = np.flatnonzero(self.common)
        hashed = {name: getattr(self, name)[touched] for name in _HASHED}
        counts = {"seen": np.array(self.seen), "all_lessons": np.array(self.all_lessons)}
        return {
            "touched": touched.astype(np.uint32),
            **hashed,
            "means": self.means,
            "covariance": self.covariance,
        } | counts

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave; ValueError if it is something else."""
        for name, at_first in _HASHED.items():
            table = np.full(2**self.bits, at_first, np.float32)
            put_back(state, name, "touched", table)
            setattr(self, name, table)
        self.means = numbers_in(state, "means", self.means.shape)
        self.covariance = numbers_in(state, "covariance", self.covariance.shape)
        self.seen, self.all_lessons = count_in(state, "seen"), float(numbers_in(state, "all_lessons", ()))
        self._remembered = None
