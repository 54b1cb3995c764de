"""From paths to clicks: all links of the pages on them, and how far from a target the page behind each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.pages.page import Page
from focused.paths.path import FAIL
from focused.paths.stops import FURTHEST, Stops

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
        """The clicks that some paths tell of, and those beside them."""
        pages = {stop.page.url: stop.page for stops in paths for stop in stops}
        layers = _known_layers(paths)
        own = np.array([layers[url] for url in pages], np.int64)
        links = [(url, page.url) for page in pages.values() for url in page.links.urls]
        behind = np.array([layers.get(url, -1) for url, _ in links], np.int64)
        page = np.repeat(np.arange(len(pages)), [len(page.links) for page in pages.values()])
        away = np.array([url != source for url, source in links], np.bool_)
        return cls(list(pages.values()), own, page, np.where(behind < 0, NOWHERE, behind), behind >= 0, away)


def _known_layers(paths: Sequence[Stops]) -> dict[str, int]:
    """The layer of each page on the paths, by its own address and by those that links to it have."""
    layers: dict[str, int] = {}
    for stops in paths:
        for i, stop in enumerate(stops):
            layer = NOWHERE if stop.state == FAIL else stop.layer
            before = stops[i - 1] if i else stop
            linked_as = before.page.links.urls[before.link] if i and before.link >= 0 else stop.page.url
            for url in (stop.page.url, linked_as):
                layers[url] = min(layer, layers.get(url, NOWHERE))
    return layers
