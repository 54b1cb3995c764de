"""The apprentice of Chakrabarti, Punera, Subramanyam (2002): ⟨token, offset⟩ around a link tell R of its target."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic, Verdict
from focused.pages.evidence import MAX_OFFSET, Evidence, window
from focused.pages.page import Links, Page
from focused.prioritizers.base import Contribution, Lessons, Prioritizer, State
from focused.prioritizers.learner import Learner
from focused.prioritizers.logistic import LogisticLearner
from focused.prioritizers.naive_bayes import NaiveBayesLearner

PRIOR = {"source relevance": 2.0, "bias": -2.0}


class Apprentice(Prioritizer):
    """Learns which words at which offsets from a link speak for the page behind it."""

    name = "apprentice"
    dense = ("source relevance",)
    learns = True

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: str = "mean",
        seed: int = 0,
        d_max: int = 5,
        offsets: bool = True,
        learner: str = "logistic",
        bits: int = 18,
        **learning: Any,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.d_max, self.offsets, self.bits = d_max, offsets, bits
        self.learner: Learner
        if learner == "logistic":
            self.learner = LogisticLearner(PRIOR, bits=bits, seed=seed, **learning)
        else:
            self.learner = NaiveBayesLearner(bits=bits, **learning)

    def evidence(
        self,
        page: Page,
        verdict: Verdict,
        links: Links,
        *,
        fetched: NDArray[np.float32] | None = None,
        arrived_by: Evidence | None = None,
    ) -> Evidence:
        """The words within ``d_max`` leaves of each link, and R(*u*)."""
        starts, ids = window(page, links, self.d_max, offsets=self.offsets)
        dense = np.full((len(links), 1), verdict.relevance, np.float32)
        return Evidence.of(starts, ids, dense, links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The learner's estimate of R(*v*)."""
        return self.learner.score(evidence)

    def learn(self, lessons: Lessons) -> Self | None:
        """A snapshot that knows these lessons, too; dead links teach nothing."""
        alive = np.flatnonzero(lessons.alive)
        if not len(alive):
            return None
        new = copy(self)
        new.learner = self.learner.learn(lessons)
        return new
