"""From paths to clicks: all links of the pages on them, and how far from a target the page behind each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.pages.page import Page
from focused.papers.paths.stops import FURTHEST, Stops
from focused.papers.prioritizers.ground import NO_PAGE, Ground

NOWHERE = FURTHEST + 1
"""The layer behind links that end in failure, and behind those that no path knows of."""


@dataclass(frozen=True)
class Clicks:
    """The ``pages`` on some paths, each once, and their ``layers``: the shortest way along all paths counts.

    For each link of each page a row: the row of its ``page``, the ``layer`` behind it, whether this is ``known``, and
    whether the link leads ``away`` (one link of a target in ten leads to the target itself, on WebKB).
    """

    pages: list[Page]
    layers: NDArray[np.int64]
    page: NDArray[np.int64]
    layer: NDArray[np.int64]
    known: NDArray[np.bool_]
    away: NDArray[np.bool_]

    @classmethod
    def of(cls, paths: Sequence[Stops]) -> Clicks:
        """The clicks of some paths, and those beside them. NotTaught if they lead to no target, or begin at one."""
        ground = Ground.of(paths)
        ground.check()
        layers = [NOWHERE if page in ground.failed else layer for page, layer in enumerate(ground.layers)]
        page, _, behind = np.array(ground.links(), np.int64).reshape(-1, 3).T
        away = np.array([url != page.url for page in ground.pages for url in page.links.urls], np.bool_)
        layer = np.array([*layers, NOWHERE])[behind]  # the last is that of NO_PAGE
        return cls(ground.pages, np.array(layers, np.int64), page, layer, behind != NO_PAGE, away)
