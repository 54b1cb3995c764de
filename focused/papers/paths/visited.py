"""From pages in the order in which somebody visited them to labelled paths, whoever has recorded them.

A page was reached by a link of the page that its Referer names, else by one of the last page before it that has such a
link; one without either begins a way of its own. A page that is visited again is the same page: whoever goes back and
on from there makes a branch. The way to a goal is the chain of links that leads there, and ends in ``goal``. A page
from which the visitor turned away without having found a goal there, or that is said not to be wanted, ends in ``fail``
(Sajjanhar 2008, §3.3 and 5.3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from focused.pages.urls import join, url_to_key
from focused.papers.paths.path import FAIL, GOAL, Path, Step

NOT = "not"
"""The label of a page that is not what is sought."""
LONGEST_WAY = 50
"""Of longer ways, the last steps are kept."""
_LOOKED_AT = 100
"""Whose links are looked at for a page that does not say where its link was: so many of the pages before it."""


def keys_of(urls: Iterable[str]) -> NDArray[np.int64]:
    """What is kept of the links of a page: a page may have thousands."""
    return np.fromiter(map(url_to_key, urls), np.int64)


@dataclass(slots=True, eq=False)
class Visited:
    """A page that was visited: the address that was asked for, and those that it was redirected to.

    ``links`` are the keys of the addresses that it links to, if its content is at hand.
    """

    urls: list[str]
    referer: str = ""
    title: str = ""
    links: NDArray[np.int64] = field(default_factory=lambda: keys_of(()))

    @property
    def url(self) -> str:
        """The address that a link to it has."""
        return self.urls[0]


class Tour:
    """The pages that were visited in one go, each once; ``before`` is for each the one that led to it, or -1."""

    def __init__(self, visits: Iterable[Visited] = ()) -> None:
        self.pages: list[Visited] = []
        self.before: list[int] = []
        self.last = -1
        """The page that was visited last: nobody has turned away from it."""
        self._number: dict[str, int] = {}
        for visit in visits:
            self.add(visit)

    def add(self, visit: Visited, before: int | None = None) -> int:
        """The number of a page, which may have been visited before; ``before`` is what led to it, if that is known."""
        known = next((self._number[url] for url in visit.urls if url in self._number), -1)
        if known < 0:
            known = len(self.pages)
            self.before.append(self._source_of(visit) if before is None else before)
            self.pages.append(visit)
        for url in visit.urls:
            self._number.setdefault(url, known)
        self.last = known
        return known

    def _source_of(self, visit: Visited) -> int:
        """The page whose link led to one that is new; -1 if none is known."""
        referer = join(visit.referer, "") if visit.referer else ""
        if referer:
            source = self._number.get(referer, -1)
            # To other sites, browsers name the site alone.
            is_site = urlsplit(referer).path in {"", "/"} and _site(referer) != _site(visit.url)
            return self._last_of_site(referer, visit) if is_site else source
        return self._last_with_link(visit, range(len(self.pages)))

    def _last_of_site(self, referer: str, visit: Visited) -> int:
        own = [i for i, page in enumerate(self.pages) if _site(page.urls[-1]) == _site(referer)]
        linking = self._last_with_link(visit, own)
        return linking if linking >= 0 else max(own, default=-1)

    def _last_with_link(self, visit: Visited, pages: Sequence[int]) -> int:
        wanted = keys_of(visit.urls)
        return next((i for i in reversed(pages[-_LOOKED_AT:]) if np.isin(wanted, self.pages[i].links).any()), -1)

    def way_to(self, page: int) -> list[int]:
        """The chain of pages that leads to one, which is its last."""
        way = []
        while page >= 0:
            way.append(page)
            page = self.before[page]
        return way[::-1]


@dataclass
class ShownWays:
    """The paths of tours, and what could not become one: pages that were opened without a link from another."""

    paths: list[Path] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    cut: int = 0

    def add(self, tour: Tour, labels: Mapping[int, str], *, is_all_said: bool = False) -> None:
        """The paths of a tour whose pages have these labels: ``goal``, `NOT`, or a milestone.

        Unless it ``is_all_said``, a page that was left counts as a failure, too.
        """
        for page in _ends(tour, labels, is_all_said=is_all_said):
            way = tour.way_to(page)
            is_goal = labels.get(page) == GOAL
            if not is_goal:
                way = _from_last_goal(way, labels)
            if len(way) < 2:
                if labels.get(page):
                    self.unreached.append(tour.pages[page].url)
                continue
            self.cut += len(way) > LONGEST_WAY
            steps = [_step(tour.pages[one].url, labels.get(one, "")) for one in way[-LONGEST_WAY:]]
            steps[-1] = Step(tour.pages[page].url, GOAL if is_goal else FAIL)
            self.paths.append(Path(steps))


def _step(url: str, label: str) -> Step:
    """A page on the way to another."""
    if label == GOAL:
        return Step(url, layer=0)
    return Step(url, "" if label == NOT else label)


def _ends(tour: Tour, labels: Mapping[int, str], *, is_all_said: bool) -> list[int]:
    """The pages at which paths end, goals first."""
    goals = [page for page in range(len(tour.pages)) if labels.get(page) == GOAL]
    leading = {page for goal in goals for page in tour.way_to(goal)}
    led_on = set(tour.before)
    failed = []
    for page in range(len(tour.pages)):
        if page in leading:
            continue
        # After a goal, nothing is sought any more.
        was_left = not is_all_said and page not in led_on and page != tour.last and not labels.get(page)
        was_left = was_left and not any(labels.get(one) == GOAL for one in tour.way_to(page))
        if was_left or labels.get(page) == NOT:
            failed.append(page)
    return goals + failed


def _from_last_goal(way: list[int], labels: Mapping[int, str]) -> list[int]:
    goals = [at for at, page in enumerate(way) if labels.get(page) == GOAL]
    return way[goals[-1] :] if goals else way


def _site(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
