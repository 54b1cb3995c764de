"""The score of a link from the scores of its pieces of evidence: the first, the best, or their mean.

The script of the frontier in Redis does the same for pieces that come one by one (``merge`` in ``2_records.lua``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer

AnyFloats = NDArray[np.floating[Any]]


def take_in(
    score: AnyFloats,
    pieces: NDArray[np.unsignedinteger[Any]],
    links: NDArray[np.int64],
    new: AnyFloats,
    *,
    how: str,
    most: int,
) -> None:
    """Change scores by new pieces, several of one link too.

    ``score`` and ``pieces`` (all that were seen, kept or not) are by link; ``most`` pieces are kept of each.
    """
    seen = pieces[links]
    np.add.at(pieces, links, pieces.dtype.type(1))
    if how == "mean":
        before = np.minimum(seen, most).astype(score.dtype)
        score[links] *= before
        np.add.at(score, links, new)
        score[links] /= before + (pieces[links] - seen)
    elif how == "max":
        score[links[seen == 0]] = -np.inf
        np.maximum.at(score, links, new)
    else:
        # Of several pieces in one batch the first counts: it is written last.
        first = np.flatnonzero(seen == 0)[::-1]
        score[links[first]] = new[first]


def score_all(
    batches: Iterable[Evidence], prioritizer: Prioritizer, *, size: int, most: int
) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """The scores of links numbered below ``size`` from all evidence there is, and how many pieces each has.

    Evidence that was let go of is of link 0; a crawl that goes on may find more links meanwhile.
    """
    scores, pieces = np.zeros(size, np.float32), np.zeros(size, np.uint16)
    for evidence in batches:
        links, new = evidence.link.astype(np.int64), prioritizer.finite_scores(evidence)
        kept = (links > 0) & (links < size)
        take_in(scores, pieces, links[kept], new[kept], how=prioritizer.combine, most=most)
    return scores, pieces


def combined(scores: AnyFloats, rows: NDArray[np.int64], size: int, how: str) -> AnyFloats:
    """The score of each of ``size`` links from all its pieces, piece *i* being of link ``rows[i]``; 0 without any."""
    score = np.zeros(size, scores.dtype)
    take_in(score, np.zeros(size, np.uint32), rows, scores, how=how, most=len(rows))
    return score
