"""A linear chain of dual states, as arrays: what a conditional random field for paths knows, and its steps.

A path is a chain P1 L2 P3 L4 …: pages and the links between them. Each label is two states, one of pages and one of the
links that lead to such pages (Sajjanhar 2008, §5.1); page-states follow link-states and the other way round, so two
square matrices hold all transitions. A state's weights of features are a column of the table of its kind.

α and δ (§5.2.3, §5.2.5) are carried one step at a time. The thesis begins with α = 1 for every state and multiplies on,
which overflows; here α is divided by its sum at each step, which changes no score, and δ is kept as logarithms, its
largest 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from focused.arrays import look_up
from focused.pages.tokens import Ids
from focused.papers.prioritizers.features import Rows, rows_to_matrix

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Table:
    """Weights of one kind of features: a row for each known id (sorted) and a last one for the bias."""

    ids: Ids
    weights: Floats

    def logits(self, rows: Rows) -> Floats:
        """What the features of each row say for each state."""
        said: Floats = rows_to_matrix(rows, self.ids) @ self.weights[:-1] + self.weights[-1]
        return said

    def of(self, ids: Ids) -> Floats:
        """The weights of some features, a row each; zeros for those that are not known."""
        at, known = look_up(self.ids, ids)
        return np.where(known[:, None], self.weights[at], 0.0)


@dataclass(frozen=True)
class CrfChain:
    """``to_link[a, b]`` weighs the step from a page in state a to a link in state b, ``to_page`` the next one."""

    pages_ids: Ids
    pages_weights: Floats
    links_ids: Ids
    links_weights: Floats
    to_link: Floats
    to_page: Floats

    @property
    def pages(self) -> Table:
        """The weights of what is seen of pages."""
        return Table(self.pages_ids, self.pages_weights)

    @property
    def links(self) -> Table:
        """The weights of what is seen of links."""
        return Table(self.links_ids, self.links_weights)


@dataclass(frozen=True)
class CrfModel(CrfChain):
    """A chain whose states have names, and a reward each."""

    labels: NDArray[np.str_]
    reward: Floats


def start(states: int) -> tuple[Floats, Floats]:
    """α and δ before the first page: nothing speaks for any state."""
    return np.full(states, 1 / states), np.zeros(states)


def alpha_step(alpha: Floats, transitions: Floats, logits: Floats) -> Floats:
    """α of the next step, normalised: a row for each row of logits."""
    return np.asarray(softmax(np.log(np.maximum(alpha @ np.exp(transitions), _TINY)) + logits, axis=-1))


def delta_step(delta: Floats, transitions: Floats, logits: Floats) -> Floats:
    """Log-weight of the best labels that end in each state, the largest 0: a row for each row of logits."""
    best = np.max(delta[:, None] + transitions, axis=0) + logits
    return np.asarray(best - best.max(axis=-1, keepdims=True))


def best_labels(transitions: list[Floats], logits: list[Floats]) -> list[int]:
    """The most probable states of a whole chain (Viterbi); ``transitions[i]`` leads from step i to the next."""
    best = logits[0]
    back: list[NDArray[np.int64]] = []
    for step, said in zip(transitions, logits[1:], strict=True):
        ways = best[:, None] + step
        back.append(np.argmax(ways, axis=0))
        best = ways.max(axis=0) + said
    labels = [int(np.argmax(best))]
    for pointers in reversed(back):
        labels.append(int(pointers[labels[-1]]))
    return labels[::-1]


_TINY = 1e-300
