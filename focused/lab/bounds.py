"""Crawls on paper: rows of a comparison that show what a crawler could find that knew more than a crawler can.

=============  ====================================================================================================
breadth-first  links in the order they were found: for checking the graph against real crawls
foresight      the critic's verdict on the page behind a link, before it is fetched
oracle         the true label of the page behind a link; among equals the true distance to the nearest target
near-bound     the true distance to the nearest target, whether that was fetched before or not
two-clicks     the true distance to the nearest target not fetched yet, up to two clicks; links to other pages come
               after these, ordered by the critic's verdict on the best page that they were found on so far
bound          the true distance to the nearest target *not fetched yet*
=============  ====================================================================================================

None of these is a strict upper limit; `bound` comes closest, and shares are shares of it. Distances are exact; among
links of the same rank the one that was found first goes first. Only breadth-first requests dead links.

`two-clicks` is what a crawler with very good sight could find: near a target it knows the way, and elsewhere it has
what every crawler has, the critic's verdicts on the pages that it fetched.

The oracle uses labels, so it also wants example pages, which are not counted; distances are to targets only.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.lab.measure import Trace
from focused.papers.paths.graph import Graph, Ints

Keys = NDArray[np.float64]

NEVER = np.inf
ROWS = ("foresight", "oracle", "near-bound", "two-clicks", "bound")
JUDGED = {"foresight", "two-clicks"}
"""Rows that need the critic's verdict on every page."""
SIGHT = 2
"""Clicks between the page behind a link and a target that `two-clicks` sees, at most."""


@dataclass
class Truth:
    """What is true of a web for one topic: masks over its pages (the rows of the graph's ``starts``).

    ``targets`` are wanted, ``labelled`` pages have a wanted label (targets and examples), ``counts`` leaves out the
    examples, ``inside`` are the addresses that a crawl may request, ``relevance`` is the critic's verdict on each page.
    """

    graph: Graph
    targets: NDArray[np.bool_]
    labelled: NDArray[np.bool_]
    counts: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    relevance: NDArray[np.float32] | None = None

    @property
    def pages_inside(self) -> NDArray[np.bool_]:
        """Which pages have addresses that may be requested."""
        return self.inside[: len(self.targets)]


def walk(ground: Truth, seeds: Sequence[int], pages: int, row: str) -> Trace:
    """Crawl a graph up to a number of pages that count, as one of the rows above.

    The waiting address with the lowest key is always requested next.
    """
    if row in JUDGED and ground.relevance is None:
        raise ValueError(f"{row} needs the critic's verdict on every page")
    crawl = _TwoClicks if row == "two-clicks" else _PaperCrawl
    return crawl(ground, pages, row).run(seeds)


class _PaperCrawl:
    def __init__(self, ground: Truth, pages: int, row: str) -> None:
        self.graph = ground.graph
        self.ground = ground
        self.most = pages
        self.forgets = row in {"bound", "two-clicks"}
        self.trace = Trace([], [])
        self.fetched: set[int] = set()
        self.left = ground.targets.copy()
        self.keys = _KEYS[row](ground)
        self.are_old = False
        self.known = ~ground.inside
        self.waiting: list[tuple[float, int, int]] = []
        self.found = 0
        self.asked = 0

    def run(self, seeds: Sequence[int]) -> Trace:
        for seed in seeds:
            self.known[seed] = True
            self._ask(seed)
        while self.waiting and len(self.trace.pages) < self.most:
            # Nothing is better than key 0.
            if self.are_old and self.waiting[0][0] > 0:
                self._rank_again()
            key, _, address = heapq.heappop(self.waiting)
            if key == NEVER:
                break
            self._ask(address)
        return self.trace

    def _rank_again(self) -> None:
        self.are_old = False
        self.keys = _distance(self.ground, self.left)
        self.waiting = [(self._key(address), found, address) for _, found, address in self.waiting]
        heapq.heapify(self.waiting)

    def _key(self, address: int) -> float:
        # -1, where dead addresses lead, has the last key.
        return float(self.keys[self.graph.leads_to[address]])

    def _ask(self, address: int) -> None:
        page = int(self.graph.leads_to[address])
        if address in self.fetched:
            return  # a redirect led there meanwhile
        self.asked += 1
        if page < 0 or page in self.fetched:
            return
        # A redirect costs one request more: hops beyond the first are rare enough to be left out.
        self.asked += page != address
        self.known[page] = True
        self.fetched.add(page)
        if self.forgets and self.left[page]:
            self.left[page], self.are_old = False, True
        if self.ground.counts[page]:
            self.trace.pages.append(page)
            self.trace.requests.append(self.asked)
        self._follow(page, self.graph.links(page).tolist())

    def _follow(self, page: int, links: Sequence[int]) -> None:
        for link in links:
            if not self.known[link]:
                self.known[link] = True
                self._wait(link, self.found)
                self.found += 1

    def _wait(self, address: int, place: int) -> None:
        heapq.heappush(self.waiting, (self._key(address), place, address))


class _TwoClicks(_PaperCrawl):
    """Out of sight of any target a link is as good as the best page on which it was found.

    A link that is found again on a better page waits a second time, with its first place among its equals.
    """

    def __init__(self, ground: Truth, pages: int, row: str) -> None:
        super().__init__(ground, pages, row)
        self.best = np.zeros(len(self.graph.leads_to))
        self.places: dict[int, int] = {}
        self.requested: set[int] = set()

    def _key(self, address: int) -> float:
        clicks = super()._key(address)
        # Out of sight 1 - R, after all that is in sight.
        return clicks if clicks <= SIGHT or clicks == NEVER else SIGHT + 2.0 - float(self.best[address])

    def _ask(self, address: int) -> None:
        if address not in self.requested:
            self.requested.add(address)
            super()._ask(address)

    def _follow(self, page: int, links: Sequence[int]) -> None:
        assert self.ground.relevance is not None
        verdict = float(self.ground.relevance[page])
        better = [link for link in links if verdict > self.best[link]]
        self.best[better] = verdict
        again = [link for link in better if link in self.places and link not in self.requested]
        super()._follow(page, links)
        for link in again:
            self._wait(link, self.places[link])

    def _wait(self, address: int, place: int) -> None:
        self.places[address] = place
        super()._wait(address, place)


def _distance(ground: Truth, targets: NDArray[np.bool_]) -> Keys:
    """Clicks to the nearest target; larger than any distance if none can be reached; infinite for dead links."""
    clicks: Ints = ground.graph.distances(targets & ground.pages_inside, ground.pages_inside)
    return np.append(np.where(clicks < 0, len(clicks) + SIGHT, clicks).astype(np.float64), NEVER)


def _foresight(ground: Truth) -> Keys:
    assert ground.relevance is not None
    # Above 0 even for a sure page: 0 would say that nothing can be better.
    return np.append(2.0 - ground.relevance, NEVER)


def _oracle(ground: Truth) -> Keys:
    return np.where(np.append(ground.labelled, False), 0.0, 1.0 + _distance(ground, ground.targets))


_KEYS: dict[str, Callable[[Truth], Keys]] = {
    "breadth-first": lambda ground: np.zeros(len(ground.targets) + 1),
    "foresight": _foresight,
    "near-bound": lambda ground: _distance(ground, ground.targets),
    "bound": lambda ground: _distance(ground, ground.targets),
    "two-clicks": lambda ground: _distance(ground, ground.targets),
    "oracle": _oracle,
}
