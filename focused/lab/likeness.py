"""How similar the pages of a crawl are to what is wanted: the two measures of Liu, Milios, Korba (2008), §4.1.

*Precision* is the share of the pages crawled whose greatest cosine to a target d reaches γ. The *maximum average
similarity* is taken to the one target that the crawl as a whole came closest to:

    σ = max_d Σ_p cos(p, d) / |S|        S = the pages crawled (equation 8)

The sentence under the equation calls |S| the number of targets; but S is the set of pages, an average is taken over
what is summed, and divided by a number of targets σ would grow with every page. So |S| is the number of pages here.

Targets are the wanted example pages, as vectors (`focused.critics.targets`). As in all counts, example pages are not
among the pages p.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from focused.critics.bag import Bag
from focused.lab.measure import CURVE_EVERY
from focused.pages.page import Page
from focused.papers.paths.graph import read_page
from focused.warc.web import Web

GAMMAS = (0.2, 0.3, 0.5, 0.6, 0.7, 0.8)
"""The paper's thresholds, 0.5 to 0.8, and two lower ones: of the articles of an encyclopaedia that are on a topic half
have no cosine above 0.3 to any example of it, while of the others one in a hundred comes to 0.24."""
_DIGITS = 5


class Likeness(msgspec.Struct, kw_only=True):
    """σ, and precision by γ, of one crawl; the curves are their values after 10, 20, 30… pages."""

    sigma: float
    precision: dict[float, float]
    sigma_curve: list[float]
    precision_curve: dict[float, list[float]]


class Bags:
    """The words of a web's pages; a page is parsed once, when it is first asked for."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._bags: dict[int, Bag] = {}

    def keep(self, row: int, page: Page) -> None:
        """Take the words of a page that somebody else has parsed."""
        self._bags[row] = page.bag

    def of(self, row: int) -> Bag:
        """The words of a page, by its number in the web."""
        if row not in self._bags:
            self.keep(row, read_page(self._web, row))
        return self._bags[row]


def measure_likeness(cosines: NDArray[np.float32], gammas: Sequence[float], most: int) -> Likeness | None:
    """The measures of a crawl that was allowed ``most`` pages, given their cosines in order; None without any."""
    pages, targets = cosines.shape
    if not pages or not targets:
        return None
    counts = np.arange(1, pages + 1)
    sigma = np.cumsum(cosines, axis=0, dtype=np.float64).max(axis=1) / counts
    greatest = cosines.max(axis=1)
    precision = {gamma: np.cumsum(greatest >= gamma) / counts for gamma in gammas}
    return Likeness(
        sigma=_rounded(sigma)[-1],
        precision={gamma: _rounded(values)[-1] for gamma, values in precision.items()},
        sigma_curve=_curve(sigma, most),
        precision_curve={gamma: _curve(values, most) for gamma, values in precision.items()},
    )


def _curve(values: NDArray[np.float64], most: int) -> list[float]:
    """A crawl that had no links left stays where it was."""
    at = np.arange(CURVE_EVERY, most + 1, CURVE_EVERY)
    return _rounded(values[np.minimum(at, len(values)) - 1])


def _rounded(values: NDArray[np.float64]) -> list[float]:
    rounded: list[float] = values.round(_DIGITS).tolist()
    return rounded
