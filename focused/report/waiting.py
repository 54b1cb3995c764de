"""The links that wait, in order: the place of one of them, and which come first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from focused.frontier.store import SEED_RANK
from focused.report.learned import saved_prioritizer
from focused.report.reader import CrawlReader, LinkLine, WaitingLinks
from focused.report.text import counted, short


def place_of(waiting: WaitingLinks, link: LinkLine) -> Iterator[str]:
    """A link's place among all waiting links and among those of its host; nothing if it is being fetched meanwhile."""
    order = _order(waiting)
    for at in np.flatnonzero(waiting.link[order] == link.number).tolist():
        same = waiting.host[order] == waiting.host[order[at]]
        yield (
            f"Place {at + 1:,} of {len(same):,} waiting links, {same[:at].sum() + 1:,} of {same.sum():,} "
            f"on {short(link.host, 100)}; its score now: {waiting.score[order[at]]:.3f}."
        )


def list_next(reader: CrawlReader, *, most: int = 10) -> Iterator[str]:
    """The links that come next as far as their hosts may be fetched, line by line.

    JobRefused if the prioritizer of the crawl cannot be made again.
    """
    waiting = reader.waiting_links(saved_prioritizer(reader)[0])
    if not len(waiting.link):
        yield "No link is waiting."
        return
    yield f"{counted(len(waiting.link), 'link')} waiting; the next ones, with their scores:"
    for at in _order(waiting)[:most].tolist():
        link = reader.link(int(waiting.link[at]))
        score = "seed" if waiting.rank[at] >= SEED_RANK else f"{waiting.score[at]:.3f}"
        if link is not None:
            yield f"{score:>7}  {short(link.url, 2_000)}"


def _order(waiting: WaitingLinks) -> NDArray[np.int64]:
    """Equal scores are served in the order of discovery."""
    return np.lexsort((waiting.link, -waiting.rank))
