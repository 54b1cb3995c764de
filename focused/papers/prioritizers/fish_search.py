"""Fish-search: a school that swims on where it finds food, and dies out where it finds none.

P. De Bra, R. Post, *Information retrieval in the World-Wide Web: making client-based searching feasible* (WWW 1994), as
described by Hersovici et al. (WWW 1998), §2.1. Links are fish. Each has a depth, how many more pages without food its
offspring may meet::

    depth(v) = D                when u is relevant
               depth(u) - 1     when it is not; the depth of a seed is D

and a potential score, by *u* and by the place of the link among its siblings::

    potential(v) = 1            u is relevant, v among its first α·width links
                   0.5          u is not, and has depth left, v among its first width links
                   0            the others

What has no score is not dropped: it waits at the end, as in De Bra's own account, for when nothing else is left. Of two
links with the same potential the one seen first goes first.

Simplified: relevance is the critic's R(*u*) ≥ ``relevant`` in place of a search for strings. Slow servers are not
spared here but by the crawl's politeness. "First" counts links that may still be followed (in scope and not fetched):
a bar of navigation that stands first on every page would use up the width of all of them. Where several links lead to
the same page the greatest potential and depth count, as in Hersovici et al.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.critics.base import RELEVANT, Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.prioritizers.base import Combination, Contribution, Prioritizer
from focused.schema import Share


class FishSearch(Prioritizer):
    """Scores links by food found on the way.

    ``depth``: D, how many irrelevant pages in a row a path may have. ``width``: how many links of an irrelevant page
    are worth following, ``alpha`` times as many of a relevant one. ``relevant``: from which R(*u*) on *u* is food.
    """

    name = "fish-search"
    dense = ("potential score", "remaining depth")
    follows_paths = True

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "max",
        seed: Seed = 0,
        depth: Annotated[int, Meta(ge=1, le=100)] = 3,
        width: Annotated[int, Meta(ge=1, le=10_000)] = 30,
        alpha: Annotated[float, Meta(ge=1, le=100)] = 1.5,
        relevant: Share = RELEVANT,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.depth, self.width, self.alpha, self.relevant = depth, width, alpha, relevant

    def evidence(
        self, page: Page, verdict: Verdict, links: Links, *, arrived_by: Evidence | None = None, **known: Any
    ) -> Evidence:
        """Potential score and depth of each link."""
        dense = np.zeros((len(links), 2), np.float32)
        depth = self.depth if arrived_by is None else float(arrived_by.dense[:, 1].max())
        place = _places(links)
        if verdict.relevance >= self.relevant:
            dense[:, 0] = place < self.alpha * self.width
            dense[:, 1] = self.depth
        elif depth > 0:
            dense[:, 0] = np.where(place < self.width, 0.5, 0)
            dense[:, 1] = depth - 1
        return Evidence.of_numbers(dense, links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The potential score, as it was written down."""
        return np.clip(evidence.dense[:, 0], 0, 1)

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The potential score is all there is."""
        return [Contribution(self.dense[0], float(self.score(evidence)[0]))]


def _places(links: Links) -> NDArray[np.int64]:
    """The place of each link among its siblings, in the order of the page; links to one address share a place."""
    in_order = [links.urls[i] for i in np.argsort(links.first, kind="stable")]
    place = {url: i for i, url in enumerate(dict.fromkeys(in_order))}
    return np.fromiter((place[url] for url in links.urls), np.int64, len(links))
