"""What a report shows in numbers: the pages in the order of fetching, hosts and classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import RELEVANT
from focused.report.reader import PageTable
from focused.report.status import LATELY

_MOST_POINTS = 400
_BINS = 20
_SETTLED = 10
"""The mean of fewer pages jumps between 0 and 1, and would be all one sees."""


@dataclass(frozen=True, slots=True)
class PageGroup:
    """The pages of a host or a class: how many there are, how many are relevant, and their mean relevance.

    ``waiting`` is how many links of the host wait.
    """

    name: str
    pages: int
    found: int
    mean: float
    waiting: int = 0


class PageFigures:
    """What is counted of pages. Duplicates count in nothing."""

    def __init__(self, table: PageTable) -> None:
        self._table = table
        self._new = np.flatnonzero(table.is_new)
        self.relevance = table.relevance[self._new]

    def curve(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """Harvest over the last pages, and over all so far, by pages fetched; some hundred points of each."""
        count = len(self.relevance)
        if not count:
            return [], []
        sums = np.concatenate([[0.0], np.cumsum(self.relevance)])
        at = np.unique(np.linspace(min(_SETTLED, count), count, min(count, _MOST_POINTS)).astype(np.int64))
        window = np.minimum(at, LATELY)
        return _points(at, (sums[at] - sums[at - window]) / window), _points(at, sums[at] / at)

    def histogram(self) -> list[tuple[str, float]]:
        """How many pages have which relevance, in steps of 0.05."""
        counts, _ = np.histogram(self.relevance, bins=_BINS, range=(0.0, 1.0))
        return [(f"{i / _BINS:g}", float(count)) for i, count in enumerate(counts)]

    def classes(self, most: int) -> list[PageGroup]:
        """The classes of most pages, by the critic's first choice."""
        groups = [group for group in self._groups(self._table.best_class, {}) if group.name and group.pages]
        return sorted(groups, key=lambda group: (-group.pages, group.name))[:most]

    def hosts(self, waiting: Mapping[str, int], most: int) -> tuple[list[PageGroup], int]:
        """The hosts with the most relevance, and how many there are in all; ``waiting`` is links by host."""
        groups = self._groups(self._table.host, waiting)
        groups.sort(key=lambda group: (-group.mean * group.pages, -group.pages, -group.waiting, group.name))
        return groups[:most], len(groups)

    def best(self, most: int, *, least: float = 0.0) -> list[int]:
        """The links of the most relevant pages, of at least a relevance."""
        rows = np.argsort(-self.relevance, kind="stable")
        return self._links(rows[self.relevance[rows] >= least][:most])

    def latest(self, most: int) -> list[int]:
        """The links of the pages fetched last, the latest first."""
        return self._links(np.arange(len(self._new))[::-1][:most])

    def some(self, most: int) -> list[int]:
        """The links of some pages at random, the same ones each time, in the order of fetching."""
        count = len(self._new)
        return self._links(sorted(Random(count).sample(range(count), min(most, count))))

    def _groups(self, names: Sequence[str], waiting: Mapping[str, int]) -> list[PageGroup]:
        by_name: dict[str, list[float]] = {name: [] for name in (*names, *waiting)}
        for row, relevance in zip(self._new.tolist(), self.relevance.tolist(), strict=True):
            by_name[names[row]].append(relevance)
        return [
            PageGroup(name, len(of), sum(one >= RELEVANT for one in of), fmean(of) if of else 0.0, waiting.get(name, 0))
            for name, of in by_name.items()
        ]

    def _links(self, rows: Sequence[int] | NDArray[np.int64]) -> list[int]:
        links: list[int] = self._table.link[self._new[rows]].tolist()
        return links


def _points(x: NDArray[np.int64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    return list(zip(x.astype(float).tolist(), y.round(5).tolist(), strict=True))
