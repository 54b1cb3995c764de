"""The ground that some paths cover: its pages, how far each is from a target, and the steps between them.

Walks that are drawn at random go over the same pages again and again; features are made of each page once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from focused.pages.page import Page
from focused.papers.paths.path import FAIL
from focused.papers.paths.stops import FURTHEST, Stops
from focused.papers.prioritizers.states import STATES, Floats
from focused.papers.prioritizers.taught import FiguresByName, NotTaught

NO_PAGE = -1
LEAST_STEPS = 10
"""From how many steps a chain of layers can be learned."""
_HELD_OUT = 5

LayerStep = tuple[int, int, int]
"""The page before (NO_PAGE: a path begins), the row of its links that was followed (-1: not known), the page."""


@dataclass
class Ground:
    """Pages and their layers, the steps of each path, and how often each step was taken.

    ``failed`` are the pages that were never anything but the failure at the end of a path.
    """

    pages: list[Page] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    paths: list[list[LayerStep]] = field(default_factory=list)
    steps: Counter[LayerStep] = field(default_factory=Counter)
    failed: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, paths: Sequence[Stops]) -> Ground:
        """What some paths cover."""
        ground = cls()
        numbers: dict[str, int] = {}
        for stops in paths:
            ground._add(stops, numbers)
        went_on = {numbers[stop.page.url] for stops in paths for stop in stops if stop.state != FAIL}
        ground.failed = set(range(len(ground.pages))) - went_on
        return ground

    def _add(self, stops: Stops, numbers: dict[str, int]) -> None:
        before, link = NO_PAGE, -1
        path: list[LayerStep] = []
        for stop in stops:
            number = numbers.setdefault(stop.page.url, len(self.pages))
            if number == len(self.pages):
                self.pages.append(stop.page)
                self.layers.append(FURTHEST)
            self.layers[number] = min(self.layers[number], stop.layer)
            path.append((before, link, number))
            before, link = number, stop.link
        self.paths.append(path)
        self.steps.update(path)

    def check(self, least_steps: int = 0) -> None:
        """NotTaught if nothing can be learned here of the way to a target."""
        onward = sum(u != NO_PAGE for u, _, _ in self.steps)
        if not self.pages:
            raise NotTaught("there are no paths: draw some with 'scrapy paths', or write them")
        if 0 not in self.layers:
            raise NotTaught(
                f"none of the {len(self.pages)} pages on the paths is a target: some paths must end at a page that is "
                "labelled 'goal', or has layer 0"
            )
        if len(set(self.layers)) == 1:
            raise NotTaught(
                f"all {len(self.pages)} pages on the paths are targets: what is on the way to a target is learned from "
                "paths that begin further away ('scrapy paths' draws such)"
            )
        if onward < least_steps:
            raise NotTaught(
                f"{len(self.paths)} paths with {onward} different steps from a page to the next are too few: give at "
                f"least {least_steps} steps"
            )

    def held_out(self) -> NDArray[np.bool_]:
        """The pages that figures are measured on, and the training before that does not see."""
        return np.array([is_held_out(page.url) for page in self.pages])

    def led_to(self) -> dict[str, int]:
        """The page behind each address that is known to lead to one."""
        known = {page.url: number for number, page in enumerate(self.pages)}
        known.update({self.pages[u].links.urls[link]: v for u, link, v in self.steps if u != NO_PAGE and link >= 0})
        return known

    def links(self) -> list[LayerStep]:
        """All links of all pages, as steps; to NO_PAGE where it is not known what is behind one."""
        behind = self.led_to()
        urls = [(u, link, url) for u, page in enumerate(self.pages) for link, url in enumerate(page.links.urls)]
        return [(u, link, behind.get(url, NO_PAGE)) for u, link, url in urls]


def is_held_out(url: str) -> bool:
    """Is this one of the pages (one in five, by its address) that figures are measured on?"""
    return crc32(url.encode("utf-8", "surrogatepass")) % _HELD_OUT == 0


def figures_of(what: str, said: NDArray[Any], true: NDArray[np.int64], weight: Floats, prior: Floats) -> FiguresByName:
    """How well layers were recognised, as a share and as a log-loss, beside the log-loss of the prior."""
    if not len(true):
        return {}
    share = weight / weight.sum()
    chance = np.maximum(said[np.arange(len(true)), true], 1e-12)
    return {
        f"{what}: layers told right": float(share @ (said.argmax(axis=1) == true)),
        f"{what}: by telling the most frequent": float(share @ (true == prior.argmax())),
        f"{what}: log-loss": float(-share @ np.log(chance)),
        f"{what}: log-loss of the prior": float(-share @ np.log(prior[true])),
    }


def prior_of(layers: NDArray[np.int64], weight: Floats) -> Floats:
    """How frequent the layers are; none is impossible."""
    counts = np.bincount(layers, weight, STATES) + 0.5
    return np.asarray(counts / counts.sum())
