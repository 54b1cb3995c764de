"""The links that wait, in order: the place of one of them, and which come first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from focused.frontier.store import SEED_RANK
from focused.report.reader import LinkLine, WaitingLinks
from focused.report.text import short


def place_of(waiting: WaitingLinks, link: LinkLine) -> Iterator[str]:
    """A link's place among all waiting links and among those of its host; nothing if it is being fetched meanwhile."""
    order = _order(waiting)
    for at in np.flatnonzero(waiting.link[order] == link.number).tolist():
        same = waiting.host[order] == waiting.host[order[at]]
        yield (
            f"Place {at + 1:,} of {len(same):,} waiting links, {same[:at].sum() + 1:,} of {same.sum():,} "
            f"on {short(link.host, 100)}; its score now: {waiting.score[order[at]]:.3f}."
        )


def first_links(waiting: WaitingLinks, most: int) -> Iterator[tuple[int, float | None]]:
    """The links that come next as far as their hosts may be fetched, with their scores; None for a seed."""
    for at in _order(waiting)[:most].tolist():
        yield int(waiting.link[at]), None if waiting.rank[at] >= SEED_RANK else float(waiting.score[at])


def _order(waiting: WaitingLinks) -> NDArray[np.int64]:
    """Equal scores are served in the order of discovery."""
    return np.lexsort((waiting.link, -waiting.rank))
