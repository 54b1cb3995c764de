"""Best-first: a link is worth what its page is worth. The baseline of Chakrabarti, Punera, Subramanyam (2002), §2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer

if TYPE_CHECKING:
    from focused.critics.base import Verdict
    from focused.pages.page import Links, Page


class BestFirst(Prioritizer):
    """The score of (*u*, *v*) is R(*u*): "pages across a hyperlink are more similar than two randomly chosen pages"."""

    name = "best-first"
    dense = ("source relevance",)

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """R(*u*) for every link of *u*."""
        n = len(links)
        relevance = np.full((n, 1), verdict.relevance, np.float32)
        return Evidence.of(np.zeros(n + 1, np.int64), np.zeros(0, np.uint32), relevance, links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """R(*u*), as it is in the evidence."""
        return np.clip(evidence.dense[:, 0], 0, 1)
