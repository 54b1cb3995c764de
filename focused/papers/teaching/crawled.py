"""What a finished crawl with the prioritizer `lexical` has recorded: its pages, their levels, and the links among them.

Read from the job's records. Of a link the records keep some pieces of evidence only (``FOCUSED_EVIDENCE_PIECES``), and
links to pages that were never fetched are left out: their level is not known.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from math import inf

import numpy as np
from numpy.typing import NDArray

from focused.frontier.combining import combined
from focused.frontier.evidence import EvidenceReader, leading_to
from focused.frontier.store import SEED_RANK
from focused.pages.evidence import Evidence
from focused.papers.critics.levels import level_of_name
from focused.papers.prioritizers.lexical import FEATURES, Lexical
from focused.scheduling.starts import read_about, untaught_prioritizer
from focused.teaching.plan import CannotTeach

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crawled:
    """The pages of a crawl in the order of fetching, and pieces of evidence of links among them, as they were seen.

    ``level`` of each page, and whether it was a ``seed``; of each piece the page it stands on (``source``), the one it
    leads to (``target``), and the levels of context, content and page (``places``).
    """

    level: Ints
    seed: NDArray[np.bool_]
    source: Ints
    target: Ints
    places: Floats
    combine: str

    def order_score(self, order: Ints) -> float:
        """Σ level of the k-th page / k, seeds left out (eq. 3.10); low is good."""
        levels = self.level[order[~self.seed[order]]]
        return float((levels / np.arange(1, len(levels) + 1)).sum())

    def by_queue(self, scores: Floats) -> Ints:
        """All pages that were linked, as one queue put in order once, like the thesis does."""
        of_page = _combined(scores, self.target, len(self.level), self.combine)
        return np.argsort(-of_page, kind="stable")

    def by_replay(self, scores: Floats) -> Ints:
        """The pages as a crawl by these scores fetches them: a link counts once its page is there."""
        pieces, seen = defaultdict[int, list[int]](list), defaultdict[int, list[float]](list)
        for piece, source in enumerate(self.source.tolist()):
            pieces[source].append(piece)
        score_of, target_of = scores.tolist(), self.target.tolist()
        order: dict[int, None] = {}
        waiting = [(-inf, number, page) for number, page in enumerate(np.flatnonzero(self.seed).tolist())]
        serial = count(len(waiting))
        while waiting:
            *_, page = heapq.heappop(waiting)
            if page in order:
                continue
            order[page] = None
            for piece in pieces[page]:
                target = target_of[piece]
                seen[target].append(score_of[piece])
                heapq.heappush(waiting, (-_taken_together(seen[target], self.combine), next(serial), target))
        # What only links without a record lead to is the same for every order.
        return np.array(list(order | dict.fromkeys(range(len(self.level)))), np.int64)


def read_crawled(connection: sqlite3.Connection) -> Crawled:
    """The pages and links of a job. CannotTeach if it was led by another prioritizer, or has no such links."""
    prioritizer = untaught_prioritizer(read_about(connection))
    if not isinstance(prioritizer, Lexical):
        raise CannotTeach(
            f"this job was led by the prioritizer {prioritizer.name!r}, which keeps no levels of links: "
            f"crawl with -a prioritizer=lexical first"
        )
    query = "SELECT pages.link, class, base FROM pages JOIN links ON links.id = pages.link ORDER BY seq"
    pages = connection.execute(query).fetchall()
    reader = EvidenceReader(connection.execute)
    pieces = [(number, reader.of(leading_to(connection.execute, link))) for number, (link, _, _) in enumerate(pages)]
    found = [(number, evidence) for number, evidence in pieces if evidence is not None]
    if not found:
        raise CannotTeach("this job followed no links: let it crawl further, then ask again")
    evidence = Evidence.concat([one for _, one in found])
    number_of = {link: number for number, (link, _, _) in enumerate(pages)}
    n = int(evidence.dense[0, Lexical.dense.index("levels")])
    return Crawled(
        level=np.array([level_of_name(name or "", n) for _, name, _ in pages]),
        seed=np.array([base == SEED_RANK for _, _, base in pages]),
        source=np.array([number_of.get(source, -1) for source in evidence.source.tolist()]),
        target=np.repeat([number for number, _ in found], [len(one) for _, one in found]),
        places=evidence.dense[:, : len(FEATURES)].astype(np.float64),
        combine=prioritizer.combine,
    )


def _combined(scores: Floats, target: Ints, pages: int, combine: str) -> Floats:
    """One score a page; what was never linked comes last."""
    is_linked = np.bincount(target, minlength=pages) > 0
    return np.where(is_linked, combined(scores, target, pages, combine), -np.inf)


def _taken_together(seen: list[float], combine: str) -> float:
    if combine == "first":
        return seen[0]
    return max(seen) if combine == "max" else sum(seen) / len(seen)
