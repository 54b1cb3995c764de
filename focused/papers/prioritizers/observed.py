"""Best-first with an apprentice looking over its shoulder: the first half of §3.5 of the paper.

The crawl is best-first's, link for link. But the evidence that is kept is what an apprentice would see, so that one can
be trained offline on the lessons of the crawl and lead a second one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays, known_or
from focused.critics.base import Critic, Verdict
from focused.options import Seed, make
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.papers.prioritizers.apprentice import Apprentice
from focused.prioritizers.base import Combination, Lessons, Prioritizer


def for_apprentice(lessons: Lessons) -> Lessons:
    """The lessons of such a crawl, or of an apprentice's own, as an apprentice sees them."""
    seen = np.ascontiguousarray(lessons.evidence.dense[:, : len(Apprentice.dense)])
    return replace(lessons, evidence=replace(lessons.evidence, dense=seen))


class BestFirstObserved(Prioritizer):
    """Scores links by R(*u*); keeps an apprentice's evidence. ``options`` are the apprentice's."""

    name = "best-first-observed"
    studies = True
    # R(u) as it is: the apprentice's own number is cut off at both ends, and would make other ties.
    dense = (*Apprentice.dense, "R(u)")

    def __init__(
        self, *, critic: Critic | None = None, combine: Combination = "first", seed: Seed = 0, **options: Any
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.apprentice = make(Apprentice, {"seed": seed, **options}, table="prioritizer", critic=critic)
        self.sees_fetched = self.apprentice.sees_fetched

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """The apprentice's evidence, and R(*u*)."""
        seen = self.apprentice.evidence(page, verdict, links, **known)
        seen.dense = np.column_stack([seen.dense, np.full(len(links), verdict.relevance, np.float32)])
        return seen

    def renewed(self, evidence: Evidence, source_relevance: NDArray[np.float32]) -> Evidence:
        """R(*u*) as it is now."""
        dense = evidence.dense.copy()
        dense[:, -1] = known_or(source_relevance, dense[:, -1])
        return replace(evidence, dense=dense)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """R(*u*), as it was written down."""
        return np.clip(evidence.dense[:, -1], 0, 1)

    def studied(self, lessons: Lessons) -> Arrays:
        """The state of an apprentice that was trained on the lessons."""
        return self.apprentice.studied(for_apprentice(lessons))
