"""The links that wait, in order: the place of one of them, and which come first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.frontier.store import SEED_RANK
from focused.report.reader import WaitingLinks


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """A link's score, and its place among all waiting links and among those of its host."""

    score: float
    place: int
    waiting: int
    place_on_host: int
    waiting_on_host: int


def place_of(waiting: WaitingLinks, link: int) -> QueuePlace | None:
    """The place of one link; None if it has begun to be fetched meanwhile."""
    order = _order(waiting)
    own = np.flatnonzero(waiting.link[order] == link)
    if not len(own):
        return None
    at = int(own[0])
    same = waiting.host[order] == waiting.host[order[at]]
    score = float(waiting.score[order[at]])
    return QueuePlace(score, at + 1, len(same), int(same[:at].sum()) + 1, int(same.sum()))


def first_links(waiting: WaitingLinks, most: int) -> list[tuple[int, float | None]]:
    """The links that come next as far as their hosts may be fetched, with their scores; None for a seed."""
    order = _order(waiting)[:most]
    is_seed = waiting.rank[order] >= SEED_RANK
    scores = zip(waiting.score[order].tolist(), is_seed.tolist(), strict=True)
    return list(zip(waiting.link[order].tolist(), [None if seed else score for score, seed in scores], strict=True))


def _order(waiting: WaitingLinks) -> NDArray[np.int64]:
    """Equal scores are served in the order of discovery."""
    return np.lexsort((waiting.link, -waiting.rank))
