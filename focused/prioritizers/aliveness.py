"""Is a link alive? How likely a request for it brings a page, apart from what that page would be worth.

Dead links are rarely alone: a site has moved, a directory is gone, an old page is full of them. So the address of a
link, the directory it leads into, and the page and the list that it is on say something about it. Each of these
features has a weight in a logistic model of its own, which learns from every request whether there was a page, by the
Kalman filter of `kalman` with a diagonal covariance. All weights begin at 0: a link to a new host has the usual chance.

A dead link must not count as a page of R = 0: that also teaches that the words around it are bad, and they are often
those of the best links.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays, numbers_in, put_back
from focused.pages.tokens import Ids
from focused.prioritizers.rows import Starts, expectation, fold, run_sums, sigmoid

BITS = 16
_BIAS = (1.0, 1.0)


class Aliveness:
    """A snapshot, as a prioritizer is. Rows of features are given as where each row's ids start, and the ids."""

    def __init__(self) -> None:
        self.weights = np.zeros(2**BITS, np.float32)
        self.doubt = np.ones(2**BITS, np.float32)
        self.bias, self.doubt_of_bias = _BIAS

    def chance(self, starts: Starts, ids: Ids) -> NDArray[np.float32]:
        """How likely there is a page behind each link."""
        return sigmoid(run_sums(self.weights, ids, starts) + np.float32(self.bias))

    def learn(self, starts: Starts, ids: Ids, alive: NDArray[np.bool_]) -> Self:
        """A snapshot that knows these outcomes, too."""
        new = copy(self)
        new.weights, new.doubt = self.weights.copy(), self.doubt.copy()
        columns, at = fold(ids, BITS), starts.tolist()
        for row, is_alive in enumerate(alive.tolist()):
            new._step(np.unique(columns[at[row] : at[row + 1]]), is_alive)
        return new

    def _step(self, columns: NDArray[np.int32], is_alive: bool) -> None:
        """One outcome, into this snapshot's own arrays."""
        expected, certainty = expectation(self.bias + float(self.weights[columns].sum()))
        doubt = self.doubt[columns]
        shrink = 1 + certainty * (self.doubt_of_bias + float(doubt.sum()))
        gain, surer = (is_alive - expected) / shrink, certainty / shrink
        self.weights[columns] += np.float32(gain) * doubt
        self.doubt[columns] -= np.float32(surer) * doubt * doubt
        self.bias += gain * self.doubt_of_bias
        self.doubt_of_bias -= surer * self.doubt_of_bias**2

    def state(self) -> Arrays:
        """All that was learned."""
        touched = np.flatnonzero(self.doubt < 1)
        return {
            "outcomes_of": touched.astype(np.uint32),
            "aliveness": self.weights[touched],
            "doubt_of_aliveness": self.doubt[touched],
            "usual_aliveness": np.array([self.bias, self.doubt_of_bias]),
        }

    @classmethod
    def of(cls, state: Mapping[str, NDArray[Any]]) -> Self:
        """The snapshot that gave this state."""
        aliveness = cls()
        put_back(state, "aliveness", "outcomes_of", aliveness.weights)
        put_back(state, "doubt_of_aliveness", "outcomes_of", aliveness.doubt)
        aliveness.bias, aliveness.doubt_of_bias = numbers_in(state, "usual_aliveness", (2,)).tolist()
        return aliveness
