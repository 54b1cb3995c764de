"""Drawing paths from the link graph of a web whose targets are known, by the ways of two papers.

`draw_walks` (Liu, Milios, Korba 2008, §3.3): a page in the outermost layer (4 clicks from a target), then one of its
children at random, and so on until a length drawn from 2 to 10 is reached; never to a layer further out than the last,
never to a page twice. Layers are distances in the whole graph, so a page's is its lowest.

`draw_visits` (Sajjanhar 2008, §5.1): what somebody clicks who looks for targets from the home page of a site, by a
shortest way to each, and what somebody clicks who goes astray.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.papers.paths.graph import Graph
from focused.papers.paths.path import FAIL, GOAL, Path, PathsError, Step
from focused.papers.paths.stops import FURTHEST

Mask = NDArray[np.bool_]
SHORTEST, LONGEST = 2, 10
_TRIES = 20


@dataclass(frozen=True)
class Field:
    """Where paths are drawn: a graph, its targets, and the pages that may be on a path (masks over its pages).

    Visits begin at ``roots``; ``label_of`` gives pages on the way their names.
    """

    graph: Graph
    targets: Mask
    inside: Mask
    roots: Sequence[int] = ()
    label_of: Callable[[int], str] = lambda _: ""

    @property
    def distances(self) -> NDArray[np.int64]:
        """Clicks from each page to the nearest target, -1 where there is no way."""
        return self.graph.distances(self.targets & self.inside, self.inside)

    def children(self, page: int) -> list[tuple[int, int]]:
        """The pages that a page links to, each with the address that it is linked by."""
        addresses = self.graph.links(page)
        pages = self.graph.leads_to[addresses]
        keep = (pages >= 0) & (pages != page)
        found: dict[int, int] = {}
        for child, address in zip(pages[keep].tolist(), addresses[keep].tolist(), strict=True):
            if self.inside[child]:
                found.setdefault(child, address)
        return list(found.items())


def draw_walks(field: Field, *, count: int = 2_000, seed: int = 0, furthest: int = FURTHEST) -> list[Path]:
    """Walks towards targets. PathsError where no page is so far from a target, or none can be walked on from."""
    walker = _Walker(field, furthest, random.Random(seed))
    walks = []
    for _ in range(count * _TRIES):
        walk = walker.walk()
        if len(walk) >= SHORTEST:
            walks.append(_to_path(field, walk, walker.distances))
        if len(walks) == count:
            break
    if not walks:
        raise PathsError([f"no page {furthest} clicks from a target leads to another on a path to it"])
    return walks


class _Walker:
    def __init__(self, field: Field, furthest: int, draw: random.Random) -> None:
        self.distances = field.distances
        self._field, self._draw = field, draw
        self._starts = np.flatnonzero(self.distances == furthest).tolist()
        self._inwards: dict[int, list[tuple[int, int]]] = {}
        if not self._starts:
            deepest = int(self.distances.max(initial=-1))
            there = f"the furthest is {deepest}: draw with --layers {deepest}" if deepest > 0 else "none leads to one"
            raise PathsError([f"no page is {furthest} clicks from a target ({there})"])

    def walk(self) -> list[tuple[int, int]]:
        """Pages, each with the address that it was linked by."""
        start = self._draw.choice(self._starts)
        walk, seen = [(start, start)], {start}
        for _ in range(self._draw.randint(SHORTEST, LONGEST) - 1):
            onward = [step for step in self._children(walk[-1][0]) if step[0] not in seen]
            if not onward:
                break
            walk.append(self._draw.choice(onward))
            seen.add(walk[-1][0])
        return walk

    def _children(self, page: int) -> list[tuple[int, int]]:
        if page not in self._inwards:
            least = self.distances[page]
            children = self._field.children(page)
            self._inwards[page] = [step for step in children if 0 <= self.distances[step[0]] <= least]
        return self._inwards[page]


def _to_path(field: Field, walk: Sequence[tuple[int, int]], distances: NDArray[np.int64]) -> Path:
    steps = [Step(field.graph.urls[address], layer=int(distances[page])) for page, address in walk]
    if distances[walk[-1][0]] == 0:
        steps[-1].label = GOAL
    return Path(steps)


def draw_visits(field: Field, *, astray: float = 0.4, most: int = 1_000, seed: int = 0) -> list[Path]:
    """A shortest way from a root to each target, and so many more (the share ``astray`` of all) that fail.

    A page where a visit fails is no target, has no label, no link to a target, and no target on the way to it.
    """
    draw = random.Random(seed)
    distances = field.distances
    ways = _Ways(field, draw)
    goals = [page for page in np.flatnonzero(field.targets & field.inside).tolist() if page in ways.before]
    if not goals:
        raise PathsError(["no target can be reached from the roots: are they pages of this web, and its hosts inside?"])
    draw.shuffle(goals)
    kept = goals[: max(1, round(most * (1 - astray)))]
    dead_ends = [
        page
        for page in ways.before
        if (distances[page] > 1 or distances[page] < 0) and not field.label_of(page) and not ways.passes_target(page)
    ]
    wanted = round(len(kept) * astray / (1 - astray))
    failures = draw.sample(dead_ends, min(len(dead_ends), wanted))
    found = [ways.path(page, GOAL, distances) for page in kept]
    return found + [ways.path(page, FAIL, distances) for page in failures]


class _Ways:
    """Shortest ways from the roots, drawn at random where several are equally short.

    ``before`` is for each page that is reached the one before it on its way, and the address that it is linked by.
    """

    def __init__(self, field: Field, draw: random.Random) -> None:
        self._field = field
        self.before: dict[int, tuple[int, int]] = {root: (-1, root) for root in field.roots}
        edge = list(field.roots)
        while edge:
            draw.shuffle(edge)
            edge = self._beyond(edge)

    def _beyond(self, edge: Sequence[int]) -> list[int]:
        found = []
        for page in edge:
            for child, address in self._field.children(page):
                if child not in self.before:
                    self.before[child] = (page, address)
                    found.append(child)
        return found

    def passes_target(self, page: int) -> bool:
        """Is there a target on the way to a page, or is it a root?"""
        page = self.before[page][0]
        if page < 0:
            return True
        while page >= 0 and not self._field.targets[page]:
            page = self.before[page][0]
        return page >= 0

    def path(self, page: int, end: str, distances: NDArray[np.int64]) -> Path:
        steps: list[Step] = []
        while page >= 0:
            before, address = self.before[page]
            label = self._field.label_of(page) if steps else end
            steps.append(Step(self._field.graph.urls[address], label, int(distances[page])))
            page = before
        return Path(steps[::-1])
