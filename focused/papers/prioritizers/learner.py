"""What the apprentice learns with: a model of R(*v*) over evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Contribution, Lessons


class Learner(ABC):
    """A snapshot of what was learned over 2^``bits`` features; `learn` gives a new one and leaves this one alone.

    ``evidence.dense`` holds log-odds; the first column is that of R(*u*).
    """

    @abstractmethod
    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The estimated R(*v*) of each row."""

    @abstractmethod
    def learn(self, lessons: Lessons) -> Self:
        """A snapshot that knows these lessons, too."""

    @abstractmethod
    def study(self, lessons: Lessons, passes: int) -> Self:
        """A snapshot that knows a whole crawl's lessons, gone through in random order as often as it helps."""

    @abstractmethod
    def explain(self, evidence: Evidence) -> list[Contribution]:
        """What each feature of one row adds to its log-odds, in no order."""

    @abstractmethod
    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What was learned of each feature: for its presence above 0, against it below."""

    @abstractmethod
    def state(self) -> Arrays:
        """All that was learned."""

    @abstractmethod
    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
