"""Whether R means what it says: of the pages with R = 0.7, are 70 % wanted?

Measured on the pages of a crawl that count, each once, with R as it stands in the crawl's records at the end, against
the true label y (1 for a target, else 0):

    expected calibration error   Σ_b n_b / n · |mean R in b − mean y in b|, over ten bins b of equal width
    Brier score                  mean of (R − y)²
    Brier skill score            1 − Brier score / mean of (y' − y)², y' = mean y of the same crawl; 0 is no better
                                 than to say y' of each page
    sum of R                     "about so many are wanted"

To pool crawls is to put their pages together, except that each keeps its own y'.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import brier_score_loss

from focused.critics.base import RELEVANT

BINS = 10
CLOSE = 1.5
"""A sum of R within this factor of the true number is close to it."""


class Bin(msgspec.Struct, frozen=True):
    """The pages with an R in one tenth of [0, 1]: how many, how many of them are wanted, and their sum of R."""

    pages: int
    wanted: int
    expected: float


class Calibration(msgspec.Struct, kw_only=True):
    """The figures of one crawl, or of several together.

    ``expected`` is the sum of R, and ``wanted`` what it should be. ``chance`` is the Brier score of the constant y'.
    ``accepted`` pages have R ≥ 0.5, and ``right`` of them are wanted.
    """

    pages: int
    wanted: int
    expected: float
    ece: float
    brier: float
    chance: float
    accepted: int
    right: int
    bins: list[Bin]

    @property
    def skill(self) -> float | None:
        """The Brier skill score; None if the pages are all wanted, or none is."""
        return 1 - self.brier / self.chance if self.chance else None

    @property
    def ratio(self) -> float | None:
        """The sum of R by the true number; None if no page is wanted."""
        return self.expected / self.wanted if self.wanted else None

    @property
    def is_close(self) -> bool:
        """Is the sum of R within a factor of the true number?"""
        return max(self.expected, self.wanted) <= CLOSE * min(self.expected, self.wanted)

    @property
    def precision(self) -> float | None:
        """The share of the pages with R ≥ 0.5 that are wanted."""
        return self.right / self.accepted if self.accepted else None

    @property
    def recall(self) -> float | None:
        """The share of the wanted pages that have R ≥ 0.5."""
        return self.right / self.wanted if self.wanted else None


def measure_calibration(
    pages: Sequence[int], targets: NDArray[np.bool_], relevance: NDArray[np.float32]
) -> Calibration | None:
    """The figures of a crawl's pages, by number in the web; None if none of them was judged."""
    rows = np.unique(np.array(pages, np.int64))
    rows = rows[~np.isnan(relevance[rows])]
    if not len(rows):
        return None
    said, truth = relevance[rows].astype(np.float64), targets[rows]
    accepted, base = said >= RELEVANT, float(truth.mean())
    bins = _bins(said, truth)
    return Calibration(
        pages=len(rows),
        wanted=int(truth.sum()),
        expected=float(said.sum()),
        ece=_ece(bins),
        brier=float(brier_score_loss(truth, said)),
        chance=base * (1 - base),
        accepted=int(accepted.sum()),
        right=int((accepted & truth).sum()),
        bins=bins,
    )


def pooled(several: Sequence[Calibration]) -> Calibration:
    """The figures of several crawls together."""
    pages = [one.pages for one in several]
    bins = [
        Bin(sum(one.pages for one in same), sum(one.wanted for one in same), sum(one.expected for one in same))
        for same in zip(*(one.bins for one in several), strict=True)
    ]
    return Calibration(
        pages=sum(pages),
        wanted=sum(one.wanted for one in several),
        expected=sum(one.expected for one in several),
        ece=_ece(bins),
        brier=float(np.average([one.brier for one in several], weights=pages)),
        chance=float(np.average([one.chance for one in several], weights=pages)),
        accepted=sum(one.accepted for one in several),
        right=sum(one.right for one in several),
        bins=bins,
    )


def _bins(said: NDArray[np.float64], truth: NDArray[np.bool_]) -> list[Bin]:
    # R = 1 belongs to the last bin.
    of = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    sums = (np.bincount(of, values, BINS).tolist() for values in (np.ones(len(said)), truth, said))
    return [Bin(int(pages), int(wanted), expected) for pages, wanted, expected in zip(*sums, strict=True)]


def _ece(bins: Sequence[Bin]) -> float:
    return sum(abs(one.expected - one.wanted) for one in bins) / sum(one.pages for one in bins)
