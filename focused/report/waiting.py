"""The links that wait, in order: the place of one of them, and which come first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.frontier.store import SEED_RANK
from focused.pages.evidence import CHANNELS
from focused.prioritizers.base import Prioritizer
from focused.report.learned import OFFSETS, saved_prioritizer
from focused.report.reader import CrawlReader, LinkLine, WaitingLinks
from focused.report.reasons import reasons
from focused.report.text import counted, short
from focused.report.words import WordTable, in_order

_OFFSETS = (*OFFSETS, *CHANNELS)


def place_of(waiting: WaitingLinks, link: LinkLine) -> Iterator[str]:
    """A link's place among all waiting links and among those of its host; nothing if it is being fetched meanwhile."""
    order = _order(waiting)
    for at in np.flatnonzero(waiting.link[order] == link.number).tolist():
        same = waiting.host[order] == waiting.host[order[at]]
        yield (
            f"Place {at + 1:,} of {len(same):,} waiting links, {same[:at].sum() + 1:,} of {same.sum():,} "
            f"on {short(link.host, 100)}; its score now: {waiting.score[order[at]]:.3f}."
        )


@dataclass(frozen=True, slots=True)
class NextLink:
    """A link that waits, its score (None for a seed), and what speaks for and against it, in lines."""

    link: LinkLine
    score: float | None
    reasons: list[str]


def next_links(reader: CrawlReader, *, most: int, why: bool = False) -> tuple[int, list[NextLink]]:
    """How many links wait, and those that come next as far as their hosts may be fetched.

    JobRefused if the prioritizer of the crawl cannot be made again.
    """
    prioritizer, _ = saved_prioritizer(reader)
    waiting = reader.waiting_links(prioritizer)
    table = reader.words() if why and len(waiting.link) else None
    found = []
    for at in _order(waiting)[:most].tolist():
        link = reader.link(int(waiting.link[at]))
        if link is not None:
            score = None if waiting.rank[at] >= SEED_RANK else float(waiting.score[at])
            found.append(NextLink(link, score, _reasons(reader, prioritizer, table, link) if table is not None else []))
    return len(waiting.link), found


def _reasons(reader: CrawlReader, prioritizer: Prioritizer, table: WordTable, link: LinkLine) -> list[str]:
    evidence = reader.evidence_of(link.number)
    if evidence is None:
        return []
    row = evidence.row(int(np.argmax(prioritizer.finite_scores(evidence))))
    return list(reasons(prioritizer, row, in_order(row.ids, table.trace(row.ids, _OFFSETS))))


def list_next(reader: CrawlReader, *, most: int = 10) -> Iterator[str]:
    """The links that come next, line by line."""
    count, found = next_links(reader, most=most)
    if not count:
        yield "No link is waiting."
        return
    yield f"{counted(count, 'link')} waiting; the next ones, with their scores:"
    for one in found:
        score = "seed" if one.score is None else f"{one.score:.3f}"
        yield f"{score:>7}  {short(one.link.url, 2_000)}"


def _order(waiting: WaitingLinks) -> NDArray[np.int64]:
    """Equal scores are served in the order of discovery."""
    return np.lexsort((waiting.link, -waiting.rank))
