"""Breadth-first: what was found first is fetched first. The yardstick that knows nothing of the topic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.prioritizers.base import Prioritizer


class BreadthFirst(Prioritizer):
    """The same score for every link: a frontier that breaks ties first-in-first-out is then a plain queue."""

    name = "breadth-first"

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """Nothing but the leaves of the links."""
        return Evidence.of_numbers(np.zeros((len(links), 0), np.float32), links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """0.5 for each link."""
        return np.full(len(evidence), 0.5, np.float32)
