"""States along a path: T0 is a target, T1 one click away, … T4 four clicks or more; and how belief in them moves.

What is believed of a page on a path is a distribution over the states (``[..., j]``: the belief in Tj). A step to the
next page multiplies it by transitions, ``[..., i, j]`` = p(Tj | Ti, what is seen). Beliefs are normalised after each
step: the factor is the same for all states, so nothing but overflow is lost.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from focused.pages.evidence import Evidence
from focused.papers.paths.stops import FURTHEST
from focused.prioritizers.base import Contribution

Floats = NDArray[np.float64]

NAMES = tuple(f"T{layer}" for layer in range(FURTHEST + 1))
STATES = len(NAMES)
Inference = Literal["marginal", "viterbi"]
Priority = Literal["discounted", "state"]


def uniform() -> Floats:
    """What is believed before anything was seen."""
    return np.full(STATES, 1 / STATES)


def step(belief: Floats, transitions: Floats, inference: str) -> Floats:
    """Equation 4 (``marginal``: the sum over the state before) or 6 (``viterbi``: the best state before)."""
    joint = belief[..., :, None] * transitions
    return normalised(joint.sum(axis=-2) if inference == "marginal" else joint.max(axis=-2))


def normalised(belief: Floats) -> Floats:
    """Beliefs that sum to 1; uniform where nothing is left."""
    total = belief.sum(axis=-1, keepdims=True)
    shares: Floats = np.where(total > 0, belief / np.where(total > 0, total, 1), 1 / STATES)
    return shares


def belief_on_arrival(arrived_by: Evidence | None, inference: str) -> Floats:
    """What the links that led to a page say of the path so far: it is in their first dense columns.

    Of several links the mean counts: nobody knows which one is "the" path. For Viterbi it is the best for each state,
    as it is over the states before.
    """
    if arrived_by is None or not len(arrived_by):
        return uniform()
    beliefs = arrived_by.dense[:, :STATES].astype(np.float64)
    return normalised(beliefs.mean(axis=0) if inference == "marginal" else beliefs.max(axis=0))


def worth(gamma: float) -> Floats:
    """What each state is worth: 1 for a target, γ for a page one click before it, γ² …"""
    return np.asarray(gamma ** np.arange(STATES, dtype=np.float64))


def priority(belief: Floats, gamma: float, how: str) -> NDArray[np.float32]:
    """``discounted``: Σ γ^j P(Tj). ``state``: by the most probable state, then by its probability."""
    if how == "discounted":
        return np.clip(belief @ worth(gamma), 0, 1).astype(np.float32)
    best = belief.argmax(axis=-1)
    sure = np.take_along_axis(belief, best[..., None], axis=-1)[..., 0]
    scores: NDArray[np.float32] = ((STATES - 1 - best + np.minimum(sure, 1)) / STATES).astype(np.float32)
    return scores


def log_odds(share: float) -> float:
    """A score as log-odds."""
    inside = min(max(share, 1e-9), 1 - 1e-9)
    return float(np.log(inside / (1 - inside)))


def path_told(belief: Floats, weight: float) -> Contribution:
    """What a path says, by its most probable state: ``path so far: T2 0.61``."""
    best = int(belief.argmax())
    return Contribution(f"path so far: {NAMES[best]} {belief[best]:.2f}", weight)
