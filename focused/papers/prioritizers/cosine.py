"""Best-first by cosine: a link is worth what its page is worth, told by TF-IDF alone.

The baseline of Liu, Milios, Korba, *Focused web crawling using Maximum Entropy Markov Models* (2008), §4.2: "priorities
to all children of the current page using standard lexical cosine similarity between the content of the current page
and target pages". The score of (*u*, *v*) is max over targets *t* of cos(*u*, *t*); targets are the topic's wanted
examples (`focused.critics.targets`, which says how words are weighed). A page that is itself a target is compared with
the others: a seed that happens to be an example must not outrank everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.papers.prioritizers.similarity import Similarity
from focused.prioritizers.base import Combination, Contribution, Prioritizer


class Cosine(Prioritizer):
    """Scores a link by the greatest cosine of its page to a target."""

    name = "cosine"
    dense = ("cosine of the page to the targets",)

    def __init__(self, *, critic: Critic | None = None, combine: Combination = "first", seed: Seed = 0) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self._similarity = Similarity(critic, "cosine", self.name)

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """The cosine of *u*, for every link of *u*."""
        cosine = np.full(len(links), self._similarity.of_page(page, verdict), np.float32)
        return Evidence.of_numbers(cosine, links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The cosine, as it was written down."""
        return np.clip(evidence.dense[:, 0], 0, 1)

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The cosine is all there is."""
        return [Contribution(self.dense[0], float(self.score(evidence)[0]))]
