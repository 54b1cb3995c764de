"""What a job's records say in numbers: pages in the order of fetching, hosts, classes, outcomes."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import RELEVANT
from focused.frontier.records import count_by
from focused.frontier.store import Outcome, State

NOW = 100
"""Harvest "now" is that of so many pages."""

_MOST_POINTS = 400
_BINS = 20


@dataclass(frozen=True, slots=True)
class PageLine:
    """A page as it is shown in a list."""

    order: int
    url: str
    title: str
    relevance: float
    best_class: str


@dataclass(frozen=True, slots=True)
class HostLine:
    """A host: pages judged, how many of them are relevant, their mean relevance, and links that wait."""

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


class Figures:
    """Everything that is counted for the report. ``relevance`` holds R of each page in the order of fetching."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT seq, relevance, outcome FROM pages ORDER BY seq").fetchall()
        self.order = np.array([row[0] for row in rows], np.int64)
        self.relevance = np.array([row[1] for row in rows], np.float64)
        self._is_new = np.array([row[2] == Outcome.PAGE for row in rows], np.bool_)
        self.states = {State(number): count for number, count in count_by(connection, "state").items()}
        self.outcomes = {Outcome(number): count for number, count in count_by(connection, "outcome").items() if number}

    @property
    def pages(self) -> int:
        """Pages fetched whole and judged, duplicates too."""
        return len(self.relevance)

    @property
    def found(self) -> int:
        """Relevant pages, each content once."""
        return int((self._is_new & (self.relevance >= RELEVANT)).sum())

    @property
    def duplicates(self) -> int:
        """Pages with the content of one fetched before."""
        return int((~self._is_new).sum())

    @property
    def harvest(self) -> float:
        """Mean relevance of the pages."""
        return float(self.relevance.mean()) if self.pages else 0.0

    @property
    def waiting(self) -> int:
        """Links that wait, and those that are being fetched."""
        return self.states.get(State.WAITING, 0) + self.states.get(State.LEASED, 0)

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
        judged = self._connection.execute(
            "SELECT l.host, count(*), sum(p.relevance >= ? AND p.outcome = 1), avg(p.relevance) "
            "FROM pages p JOIN links l ON l.id = p.link GROUP BY l.host",
            (RELEVANT,),
        ).fetchall()
        waiting = dict(
            map(tuple, self._connection.execute("SELECT host, count(*) FROM links WHERE state IN (1, 2) GROUP BY host"))
        )
        names = dict(map(tuple, self._connection.execute("SELECT id, name FROM hosts")))
        lines = [HostLine(names[h], n, found, mean, waiting.pop(h, 0)) for h, n, found, mean in judged]
        lines += [HostLine(names[h], 0, 0, 0.0, count) for h, count in waiting.items()]
        lines.sort(key=lambda line: (-line.mean * line.pages, -line.pages, -line.waiting, line.name))
        return lines[:most], len(lines)

    def classes(self, most: int) -> list[ClassLine]:
        """The classes that most pages are of."""
        rows = self._connection.execute(
            "SELECT class, count(*), avg(relevance) FROM pages WHERE class != '' GROUP BY class "
            "ORDER BY count(*) DESC, class LIMIT ?",
            (most,),
        )
        return [ClassLine(*row) for row in rows]

    def details(self, outcome: Outcome, most: int) -> list[tuple[str, int]]:
        """What links with an outcome ended of, the most frequent first."""
        rows = self._connection.execute("SELECT detail FROM links WHERE outcome = ? AND detail != ''", (outcome.value,))
        return Counter(detail for (detail,) in rows).most_common(most)

    def best(self, most: int) -> list[PageLine]:
        """The most relevant pages."""
        rows = np.flatnonzero(self._is_new)
        return self._lines(rows[np.argsort(-self.relevance[rows], kind="stable")][:most])

    def latest(self, most: int) -> list[PageLine]:
        """The pages fetched last, the latest first."""
        return self._lines(np.flatnonzero(self._is_new)[::-1][:most])

    def some(self, most: int) -> list[PageLine]:
        """Some pages at random, the same ones each time, in the order of fetching."""
        rows = np.flatnonzero(self._is_new).tolist()
        return self._lines(sorted(Random(len(rows)).sample(rows, min(most, len(rows)))))

    def _lines(self, rows: Sequence[int] | NDArray[np.int64]) -> list[PageLine]:
        query = "SELECT seq, url, title, relevance, class FROM pages WHERE seq = ?"
        found = (self._connection.execute(query, (int(self.order[row]),)).fetchone() for row in rows)
        return [PageLine(*row) for row in found]


def _points(x: NDArray[np.int64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    return list(zip(x.astype(float).tolist(), y.round(5).tolist(), strict=True))
