"""Maximum-entropy models of the next state: p(s | s', o), equations 2 and 3 of Liu, Milios, Korba (2008).

Factored features (their equation 7): an edge feature for each pair of states s' → s, and for each observation a
feature for each state s. So one model serves all states s': p(Tj | Ti, o) ∝ exp(edge[i, j] + Σ_f x_f w[f, j]).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack
from scipy.special import log_softmax, softmax

from focused.arrays import look_up
from focused.pages.evidence import Evidence
from focused.pages.tokens import Ids
from focused.papers.prioritizers.features import rows_to_matrix
from focused.papers.prioritizers.states import STATES, Floats, normalised
from focused.prioritizers.base import Contribution

NO_STATE = -1
"""The state before the first page of a path: no edge feature holds."""


@dataclass(frozen=True)
class MaxEnt:
    """What is seen are rows of evidence. ``known`` are the ids of the features that have weights, sorted; ``usual`` is
    what the numbers are on average: their weights count from there."""

    known: Ids
    usual: Floats
    of_ids: Floats
    of_dense: Floats
    edges: Floats
    bias: Floats

    def says(self, seen: Evidence) -> Floats:
        """The weight of all that is seen for each state, ``[n, j]``."""
        of_ids = rows_to_matrix((seen.starts, seen.ids), self.known) @ self.of_ids
        return np.asarray(of_ids + (seen.dense - self.usual) @ self.of_dense + self.bias)

    def transitions(self, says: NDArray[Any]) -> Floats:
        """p(Tj | Ti, o) as ``[n, i, j]``, from what `says` gave."""
        # exp(edge + says) is exp(edge) · exp(says): five times fewer exponentials.
        joint = softmax(says.astype(np.float64), axis=1)[:, None, :] * np.exp(self.edges)
        return normalised(joint)

    def contributions(self, seen: Evidence, pull: Floats, names: Sequence[str]) -> list[Contribution]:
        """What each feature of one row adds, where the log-odds of Tj count ``pull[j]``."""
        ids = np.intersect1d(seen.ids, self.known)
        told = zip(ids.tolist(), self.weights_of(ids, pull).tolist(), strict=True)
        numbers = (seen.dense[0] - self.usual) * (self.of_dense @ pull)
        parts = [*told, *zip(names, numbers.tolist(), strict=True)]
        return [Contribution(feature, weight) for feature, weight in parts if weight]

    def weights_of(self, ids: Ids, pull: Floats) -> NDArray[np.float32]:
        """What each feature id adds, 0 for those that are not known."""
        at, known = look_up(self.known, ids)
        weights = np.zeros(len(ids), np.float32)
        weights[known] = self.of_ids[at[known]] @ pull
        return weights


@dataclass(frozen=True)
class Samples:
    """What a model is fitted to: what was seen, the state before (or NO_STATE), the state, and how much each counts."""

    seen: Evidence
    before: NDArray[np.int64]
    state: NDArray[np.int64]
    weight: Floats

    def __len__(self) -> int:
        return len(self.state)

    def select(self, chosen: NDArray[np.bool_]) -> Samples:
        """Some of them."""
        seen = self.seen.select(np.flatnonzero(chosen))
        return Samples(seen, self.before[chosen], self.state[chosen], self.weight[chosen])


def fit(samples: Samples, known: Ids, *, strength: float, iterations: int, tick: Callable[[], None]) -> MaxEnt:
    """The most probable model by L-BFGS, with a Gaussian prior on its weights (``strength`` is its variance).

    ``tick`` is called after each iteration.
    """
    dense = samples.seen.dense.astype(np.float64)
    usual, spread = dense.mean(axis=0), dense.std(axis=0)
    scale = np.where(spread > 1e-6, spread, 1)
    edge = np.eye(STATES + 1)[:, 1:][samples.before + 1]
    numbers = np.hstack([edge, (dense - usual) / scale, np.ones((len(samples), 1))])
    words = rows_to_matrix((samples.seen.starts, samples.seen.ids), known)
    loss = _Loss(hstack([csr_matrix(numbers), words], format="csr"), samples, strength)
    found = minimize(
        loss, np.zeros(loss.size), jac=True, method="L-BFGS-B", options={"maxiter": iterations},
        callback=lambda _: tick(),
    )  # fmt: skip
    weights = np.asarray(found.x).reshape(-1, STATES)
    edges, of_dense, bias, of_ids = np.split(weights, np.cumsum([STATES, len(usual), 1]))
    return MaxEnt(known, usual, of_ids, of_dense / scale[:, None], edges, bias[0])


class _Loss:
    """What is minimised, -L'(λ) of §3.2 and the prior, and its gradient."""

    def __init__(self, matrix: csr_matrix, samples: Samples, strength: float) -> None:
        self.size = matrix.shape[1] * STATES
        self._matrix, self._transposed = matrix, matrix.T.tocsr()
        self._at = np.arange(len(samples)), samples.state
        self._weight, self._strength = samples.weight, strength

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(-1, STATES)
        said = log_softmax(self._matrix @ weights, axis=1)
        likelihood = float(self._weight @ said[self._at])
        surplus = np.exp(said)
        surplus[self._at] -= 1
        gradient = self._transposed @ (surplus * self._weight[:, None]) + weights / self._strength
        return float(flat @ flat) / (2 * self._strength) - likelihood, gradient.ravel()
