"""What a crawl's records say in numbers: pages in the order of fetching, hosts, classes, outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import RELEVANT
from focused.report.source import PageLine, Source

NOW = 100
"""Harvest "now" is that of so many pages."""

_MOST_POINTS = 400
_BINS = 20


@dataclass(frozen=True, slots=True)
class HostLine:
    """A host: pages judged, how many of them are relevant, their mean relevance, and links that wait."""

    name: str
    pages: int
    found: int
    mean: float
    waiting: int


class Figures:
    """Everything that is counted for the report. ``relevance`` holds R of each page in the order of fetching."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._judged = source.judged()
        self.relevance = self._judged.relevance
        self.outcomes = source.outcomes()
        self.waiting = source.waiting()

    @property
    def pages(self) -> int:
        """Pages fetched whole and judged, duplicates too."""
        return len(self.relevance)

    @property
    def found(self) -> int:
        """Relevant pages, each content once."""
        return int(self._is_found().sum())

    @property
    def duplicates(self) -> int:
        """Pages with the content of one fetched before."""
        return int((~self._judged.is_new).sum())

    @property
    def harvest(self) -> float:
        """Mean relevance of the pages."""
        return float(self.relevance.mean()) if self.pages else 0.0

    def curve(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """Harvest over the last pages, and so far, by pages fetched; some hundred points of each."""
        if not self.pages:
            return [], []
        sums = np.concatenate([[0.0], np.cumsum(self.relevance)])
        at = np.unique(np.linspace(1, self.pages, min(self.pages, _MOST_POINTS)).astype(np.int64))
        window = np.minimum(at, NOW)
        # The mean of the very first pages jumps between 0 and 1, and would be all one sees.
        settled = at[at >= min(10, self.pages)]
        window = np.minimum(settled, NOW)
        now = (sums[settled] - sums[settled - window]) / window
        return _points(settled, now), _points(settled, sums[settled] / settled)

    def histogram(self) -> list[tuple[str, float]]:
        """How many pages have which relevance, in steps of 0.05."""
        counts, _ = np.histogram(self.relevance, bins=_BINS, range=(0.0, 1.0))
        return [(f"{i / _BINS:g}", float(count)) for i, count in enumerate(counts)]

    def hosts(self, most: int) -> tuple[list[HostLine], int]:
        """The hosts with the most relevance, and how many there are in all."""
        judged, count = self._judged, len(self._judged.hosts)
        pages = np.bincount(judged.host, minlength=count)
        found = np.bincount(judged.host, self._is_found(), count)
        sums = np.bincount(judged.host, self.relevance, count)
        waiting = self._source.waiting_by_host()
        lines = [
            HostLine(
                judged.hosts[h],
                int(pages[h]),
                int(found[h]),
                float(sums[h] / pages[h]),
                waiting.pop(judged.hosts[h], 0),
            )
            for h in np.flatnonzero(pages).tolist()
        ]
        lines += [HostLine(name, 0, 0, 0.0, links) for name, links in waiting.items()]
        lines.sort(key=lambda line: (-line.mean * line.pages, -line.pages, -line.waiting, line.name))
        return lines[:most], len(lines)

    def best(self, most: int) -> list[PageLine]:
        """The most relevant pages."""
        rows = np.flatnonzero(self._judged.is_new)
        return self._lines(rows[np.argsort(-self.relevance[rows], kind="stable")][:most])

    def latest(self, most: int) -> list[PageLine]:
        """The pages fetched last, the latest first."""
        return self._lines(np.flatnonzero(self._judged.is_new)[::-1][:most])

    def some(self, most: int) -> list[PageLine]:
        """Some pages at random, the same ones each time, in the order of fetching."""
        rows = np.flatnonzero(self._judged.is_new).tolist()
        return self._lines(sorted(Random(len(rows)).sample(rows, min(most, len(rows)))))

    def _is_found(self) -> NDArray[np.bool_]:
        return self._judged.is_new & (self.relevance >= RELEVANT)

    def _lines(self, rows: Sequence[int] | NDArray[np.int64]) -> list[PageLine]:
        return [self._source.page(int(self._judged.order[row])) for row in rows]


def _points(x: NDArray[np.int64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    return list(zip(x.astype(float).tolist(), y.round(5).tolist(), strict=True))
