"""What a crawl achieved: figures from the server's log, the labels and the critic's verdicts.

Example pages are left out of every count: they are neither targets nor misses, and a crawl's pages are counted as
if they were not there. A page counts when it was answered with 200, under whatever spelling; the requests that found
nothing are counted beside the pages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from focused.lab.replay.log import Fetch
from focused.papers.paths.graph import Ints
from focused.warc.web import Web

CURVE_EVERY = 10


class Trace(msgspec.Struct):
    """The pages of one crawl that count, in order: their numbers in the web, and the requests made by then."""

    pages: list[int]
    requests: list[int]
    robots: int = 0


class CrawlFigures(msgspec.Struct, kw_only=True):
    """Figures of one crawl. ``found`` is by number of pages, ``found_by_requests`` by as many requests.

    ``*_at_n`` are taken at N = number of targets.

    What needs more pages than the crawl was allowed to fetch is None; a crawl that had no links left simply stays
    where it was. ``loss`` is the mean of 1 - R over the pages, ``harvest`` the rest; None without verdicts.
    """

    pages: int
    requests: int
    robots: int
    found: dict[int, int]
    found_in_all: int
    r_precision: float | None
    harvest_at_n: float | None
    loss_at_n: float | None
    harvest: float | None
    loss: float | None
    curve: list[int]
    found_by_requests: dict[int, int] = {}


def read_trace(fetches: Sequence[Fetch], web: Web, counts: NDArray[np.bool_], most: int) -> Trace:
    """The first ``most`` pages of a log that count (``counts``: by page number)."""
    trace = Trace([], [])
    requests = 0
    for fetch in fetches:
        if fetch.is_robots:
            trace.robots += 1
            continue
        requests += 1
        row = web.find(fetch.url) if fetch.status == 200 else -1
        if row >= 0 and counts[row] and len(trace.pages) < most:
            trace.pages.append(row)
            trace.requests.append(requests)
    return trace


def measure(
    trace: Trace,
    targets: NDArray[np.bool_],
    *,
    budgets: Sequence[int],
    most: int,
    relevance: NDArray[np.float32] | None = None,
) -> CrawlFigures:
    """The figures of a crawl that was allowed to fetch ``most`` pages; ``relevance`` is R by page number."""
    found = _found(trace.pages, targets)
    wanted = int(targets.sum())
    judged = np.zeros(0, np.float32) if relevance is None else relevance[trace.pages]
    harvest_at_n = _mean(judged, wanted) if wanted <= most else None
    harvest = _mean(judged, most)
    return CrawlFigures(
        pages=len(trace.pages),
        requests=trace.requests[-1] if trace.requests else 0,
        robots=trace.robots,
        found={budget: _at(found, budget) for budget in budgets if budget <= most},
        # A crawl made at least as many requests as it fetched pages.
        found_by_requests={
            budget: _at(found, bisect_right(trace.requests, budget)) for budget in budgets if budget <= most
        },
        found_in_all=_at(found, most),
        r_precision=_at(found, wanted) / wanted if 0 < wanted <= most else None,
        harvest_at_n=harvest_at_n,
        loss_at_n=_rest(harvest_at_n),
        harvest=harvest,
        loss=_rest(harvest),
        curve=[_at(found, pages) for pages in range(0, most + 1, CURVE_EVERY)],
    )


def share_of(figures: CrawlFigures, bound: CrawlFigures) -> float | None:
    """Targets found at the budgets, summed, as a share of what the bound found; at most 1."""
    possible = sum(bound.found.values())
    return min(1.0, sum(figures.found.values()) / possible) if possible else None


def _found(pages: Sequence[int], targets: NDArray[np.bool_]) -> Ints:
    """How many different targets there are among the first 1, 2, … pages."""
    first = np.zeros(len(pages), np.int64)
    first[np.unique(np.array(pages, np.int64), return_index=True)[1]] = 1
    return np.cumsum(first * targets[np.array(pages, np.int64)])


def _at(found: Ints, pages: int) -> int:
    return int(found[min(pages, len(found)) - 1]) if pages and len(found) else 0


def _mean(judged: NDArray[np.float32], pages: int) -> float | None:
    known = judged[:pages][~np.isnan(judged[:pages])]
    return float(np.mean(known)) if len(known) else None


def _rest(share: float | None) -> float | None:
    return None if share is None else 1.0 - share
