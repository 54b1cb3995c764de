"""How often the crawl has been somewhere: what was not looked at yet may be better than it seems.

Before the first hit all links look alike: the critic gives each page of a site some 0.002, and the order of these
numbers says nothing. Left to it, a crawl reads 25 pages of one directory because the first had 0.003. So a link is
worth a little more the fewer pages of its directory were judged so far: ``p + weight (1 - p) / (1 + pages)``. Among
links that score well it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays, put_back
from focused.prioritizers.rows import fold

BITS = 16


class DirectoryVisits:
    """How many pages were judged in each directory, by the directories' numbers (folded to a table)."""

    def __init__(self, pages: NDArray[np.float32] | None = None) -> None:
        self.pages = np.zeros(2**BITS, np.float32) if pages is None else pages

    def with_more(self, directories: NDArray[np.uint32], weights: NDArray[np.float32]) -> DirectoryVisits:
        """These visits and some more; lessons of one page weigh 1 together."""
        pages = self.pages.copy()
        np.add.at(pages, fold(directories, BITS), weights)
        return DirectoryVisits(pages)

    def novelty(self, directories: NDArray[np.uint32]) -> NDArray[np.float32]:
        """1 where nobody was yet, towards 0 the more pages were judged there."""
        return np.reciprocal(1 + self.pages[fold(directories, BITS)], dtype=np.float32)

    def state(self) -> Arrays:
        """Where somebody was, and how often."""
        visited = np.flatnonzero(self.pages)
        return {"visited": visited.astype(np.uint32), "visits": self.pages[visited]}

    @classmethod
    def of(cls, state: Mapping[str, NDArray[Any]]) -> Self:
        """The visits that gave this state."""
        visits = cls()
        put_back(state, "visits", "visited", visits.pages)
        return visits
