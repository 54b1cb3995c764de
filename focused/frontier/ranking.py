"""The score of every link: made from its evidence by the prioritizer, kept up as either changes."""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from focused.frontier.blocks import Blocks
from focused.frontier.combining import combined, score_all, take_in
from focused.frontier.order import Order, Run, sort
from focused.frontier.store import State
from focused.frontier.table import LinkTable
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer


class Ranking:
    """Links, their evidence and their order, by one prioritizer.

    ``bases`` are added to scores: the place of seeds and of requests without evidence. ``pinned`` are the places of
    links that were handed out and came back, whatever their scores. Scores made by an earlier snapshot of the
    prioritizer are outdated until everything is scored again, or the link is.
    """

    def __init__(
        self, table: LinkTable, blocks: Blocks, order: Order, prioritizer: Prioritizer, *, most_pieces: int, seed: int
    ) -> None:
        self._table = table
        self._blocks = blocks
        self._order = order
        self._prioritizer = prioritizer
        self._version = 1
        self.most_pieces = most_pieces
        self._random = Random(seed)
        self.is_rescoring = False
        self.bases: dict[int, float] = {}
        self.pinned: dict[int, float] = {}

    @property
    def prioritizer(self) -> Prioritizer:
        """The snapshot that scores."""
        return self._prioritizer

    @prioritizer.setter
    def prioritizer(self, new: Prioritizer) -> None:
        self._prioritizer = new
        self._version += 1

    @property
    def version(self) -> int:
        """Which snapshot of the prioritizer it is that scores."""
        return self._version

    def is_wanted(self, seen: int) -> bool:
        """Is another piece of evidence to be kept, after so many? Each has the same chance to be among those kept."""
        return seen < self.most_pieces or self._random.random() * (seen + 1) < self.most_pieces

    def rank(self, link: int) -> float:
        """The place of a link: score and base."""
        return float(self._table.score[link]) + self.bases.get(link, 0.0)

    def wait(self, link: int) -> None:
        """A link waits, in its place."""
        self._order.put(link, int(self._table.host[link]), self.rank(link))

    def add(self, source: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        """Take in the evidence of a page's links; those that wait are put in their new place."""
        links = evidence.link.astype(np.int64)
        table = self._table
        self._forget(source)
        self._blocks.add(source, evidence)
        full = table.pieces[links] >= self.most_pieces
        self._merge(links, scores)
        self._evict(list(dict.fromkeys(links[full & (table.state[links] == State.WAITING)].tolist())))
        table.version[links] = self._version
        self._wait_all(np.unique(links[table.state[links] == State.WAITING]))

    def is_outdated(self, link: int) -> bool:
        """Was the score of a link made by an earlier snapshot, and is not being made anew with all others?"""
        old = self._table.version[link] != self._version and not self.is_rescoring
        return bool(old and self._table.pieces[link])

    def score_again(self, link: int) -> None:
        """Score one link by the snapshot of now."""
        evidence = self._blocks.of([link])
        if evidence is None:
            return
        scores = self._prioritizer.finite_scores(evidence)
        one = np.zeros(len(scores), np.int64)
        self._table.score[link] = combined(scores, one, 1, self._prioritizer.combine)[0]
        self._table.version[link] = self._version

    def _merge(self, links: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        how, most = self._prioritizer.combine, self.most_pieces
        take_in(self._table.score, self._table.pieces, links, scores, how=how, most=most)

    def _wait_all(self, links: NDArray[np.int64]) -> None:
        columns = links.tolist(), self._table.host[links].tolist(), self._table.score[links].tolist()
        for link, host, score in zip(*columns, strict=True):
            self._order.put(link, host, score + self.bases.get(link, 0.0))

    def _forget(self, source: int) -> None:
        """A page is fetched a second time (its first fetch was cut short): its evidence is replaced."""
        for link in self._blocks.drop(source):
            self._table.pieces[link] = 0
            self._table.score[link] = 0.0
            left = self._blocks.of([link])
            if left is not None:
                self._merge(np.full(len(left), link), self._prioritizer.finite_scores(left))

    def _evict(self, links: list[int]) -> None:
        """Let go of pieces of evidence beyond the most: not the first, and not the best where the best counts."""
        gone = []
        for link, pieces in self._blocks.pieces(links).items():
            surplus = len(pieces) - self.most_pieces
            if surplus <= 0:
                continue
            spare = list(range(1, len(pieces)))
            if self._prioritizer.combine == "max" and (evidence := self._blocks.read(pieces)) is not None:
                best = int(np.argmax(self._prioritizer.finite_scores(evidence)))
                spare = [i for i in spare if i != best]
            gone += [(link, pieces[i]) for i in self._random.sample(spare, min(len(spare), surplus))]
        self._blocks.forget(gone)


class RankingAnew:
    """All that waits is scored anew, by the snapshot of the prioritizer at the moment when this is made.

    ``size`` = link numbers given so far. What came or changed meanwhile keeps the place that it has.
    """

    def __init__(self, ranking: Ranking, table: LinkTable, blocks: Blocks, order: Order, *, size: int) -> None:
        self._ranking, self._table, self._blocks, self._order = ranking, table, blocks, order
        self._prioritizer, self._version = ranking.prioritizer, ranking.version
        self._snapshot = order.snapshot()
        self._evidence = blocks.held(table.state == State.DONE)
        self._size = size
        self._run: Run | None = None
        ranking.is_rescoring = True

    def score(self) -> None:
        """The work, for a thread."""
        size, waits = self._size, self._snapshot.waits
        # Numbers given after the snapshot are not in it.
        wanted = np.zeros(size + 1, np.bool_)
        wanted[: len(waits)] = waits
        batches, most = self._blocks.scan(self._evidence, wanted), self._ranking.most_pieces
        self._score, self._pieces = score_all(batches, self._prioritizer, size=size, most=most)
        self._run = sort(self._snapshot, self._ranks())

    def adopt(self) -> None:
        """Take over the new order; on the event loop. If the scoring failed, scores stay known to be outdated."""
        self._ranking.is_rescoring = False
        if self._run is None:
            self._order.abandon()
            return
        scored = self._snapshot.waits & (self._pieces[: len(self._snapshot.waits)] > 0)
        scored[[link for link in self._order.adopt(self._run) if link < len(scored)]] = False
        np.copyto(self._table.score[: len(scored)], self._score[: len(scored)], where=scored)
        np.copyto(self._table.version[: len(scored)], np.uint32(self._version), where=scored)

    def _ranks(self) -> NDArray[np.float32]:
        links = self._snapshot.links
        ranks: NDArray[np.float32] = self._score[links]
        bases, pinned = self._ranking.bases.copy(), self._ranking.pinned.copy()
        if bases or pinned:
            for i, link in enumerate(links.tolist()):
                if link in bases or link in pinned:
                    ranks[i] = pinned.get(link, ranks[i] + bases.get(link, 0.0))
        return ranks
