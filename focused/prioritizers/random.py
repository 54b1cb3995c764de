"""Random: links in an order that has nothing to do with the web, but is the same in every run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.pages.urls import url_to_key
from focused.prioritizers.base import Prioritizer

_FINEST = 24  # bits of a float32 between 0 and 1


class Random(Prioritizer):
    """A uniform number for each address, from the address and ``seed`` alone: all links to it agree."""

    name = "random"
    dense = ("number",)

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """The number of each link's address."""
        keys = np.fromiter(map(url_to_key, links.urls), np.uint64, len(links))
        return Evidence.of_numbers(self._numbers(keys), links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The number, as it is in the evidence."""
        return np.clip(evidence.dense[:, 0], 0, 1)

    def _numbers(self, keys: NDArray[np.uint64]) -> NDArray[np.float32]:
        # The finisher of SplitMix64 (Steele, Lea, Flood 2014): neighbouring seeds share nothing.
        with np.errstate(over="ignore"):
            z = keys + np.uint64((self.seed * 0x9E3779B97F4A7C15) % 2**64)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
        return (z >> np.uint64(64 - _FINEST)).astype(np.float32) / np.float32(2**_FINEST)
