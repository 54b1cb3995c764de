"""What a report shows in numbers: the pages in the order of fetching, hosts and classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

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
class HostLine:
    """A host: pages without duplicates, how many of them are relevant, their mean relevance, and links that wait."""

    name: str
    pages: int
    found: int
    mean: float
    waiting: int


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A class of pages, by the critic's first choice."""

    name: str
    pages: int
    mean: float


class PageFigures:
    """Everything that is counted of pages. Duplicates are counted as such, and in nothing else."""

    def __init__(self, table: PageTable) -> None:
        self._table = table
        self._new = np.flatnonzero(table.is_new)
        self.relevance = table.relevance[self._new]
        self.fetched = len(table.link)

    @property
    def duplicates(self) -> int:
        """Pages with the content of one fetched before."""
        return self.fetched - len(self._new)

    @property
    def found(self) -> int:
        """Relevant pages, each content once."""
        return int((self.relevance >= RELEVANT).sum())

    @property
    def harvest(self) -> float:
        """Mean relevance of the pages."""
        return float(self.relevance.mean()) if len(self.relevance) else 0.0

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

    def classes(self, most: int) -> list[ClassLine]:
        """The classes of most pages."""
        pages, _, sums = self._by(self._table.best_class, len(self._table.classes))
        lines = [
            ClassLine(name, int(pages[i]), float(sums[i] / pages[i]))
            for i, name in enumerate(self._table.classes)
            if name and pages[i]
        ]
        return sorted(lines, key=lambda line: (-line.pages, line.name))[:most]

    def hosts(self, waiting: Mapping[str, int], most: int) -> tuple[list[HostLine], int]:
        """The hosts with the most relevance, and how many there are in all; ``waiting`` is links by host."""
        pages, found, sums = self._by(self._table.host, len(self._table.hosts))
        lines = [
            HostLine(name, int(pages[i]), int(found[i]), float(sums[i] / max(pages[i], 1)), waiting.get(name, 0))
            for i, name in enumerate(self._table.hosts)
        ]
        others = set(waiting) - set(self._table.hosts)
        lines += [HostLine(name, 0, 0, 0.0, waiting[name]) for name in others]
        lines.sort(key=lambda line: (-line.mean * line.pages, -line.pages, -line.waiting, line.name))
        return lines[:most], len(lines)

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

    def _by(self, column: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], ...]:
        """Pages, relevant pages, and the sum of relevance for each value of a column."""
        of = column[self._new]
        weights = (None, self.relevance >= RELEVANT, self.relevance)
        pages, found, sums = (np.bincount(of, weight, count) for weight in weights)
        return pages, found, sums

    def _links(self, rows: Sequence[int] | NDArray[np.int64]) -> list[int]:
        links: list[int] = self._table.link[self._new[rows]].tolist()
        return links


def _points(x: NDArray[np.int64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    return list(zip(x.astype(float).tolist(), y.round(5).tolist(), strict=True))
