"""Best-first: a link is worth what its page is worth. The baseline of Chakrabarti, Punera, Subramanyam (2002), §2.1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.arrays import known_or
from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.prioritizers.base import Prioritizer


class BestFirst(Prioritizer):
    """The score of (*u*, *v*) is R(*u*): "pages across a hyperlink are more similar than two randomly chosen pages"."""

    name = "best-first"
    dense = ("source relevance",)

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """R(*u*) for every link of *u*."""
        return Evidence.of_numbers(np.full(len(links), verdict.relevance, np.float32), links.first)

    def renewed(self, evidence: Evidence, source_relevance: NDArray[np.float32]) -> Evidence:
        """R(*u*) as it is now."""
        return replace(evidence, dense=known_or(source_relevance, evidence.dense[:, 0])[:, None])

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """R(*u*), as it is in the evidence."""
        return np.clip(evidence.dense[:, 0], 0, 1)
