"""The score of every link: made from its evidence by the prioritizer, kept up as either changes."""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from focused.frontier.blocks import Blocks
from focused.frontier.combining import combined, score_all, take_in
from focused.frontier.order import LinkOrder, Run, sort
from focused.frontier.steering import lifted
from focused.frontier.store import SEED_RANK, State
from focused.frontier.table import LinkTable
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer

RETURN_RANK = SEED_RANK - 1
"""The place of a leased link that is to be fetched again."""


class Ranking:
    """Links, their evidence and their order, by one prioritizer.

    Scores made by an earlier ``version`` of the prioritizer are outdated until everything is scored again, or the link
    is.
    """

    def __init__(
        self, table: LinkTable, blocks: Blocks, order: LinkOrder, prioritizer: Prioritizer, *, most_pieces: int
    ) -> None:
        self.table = table
        self.blocks = blocks
        self.order = order
        self.prioritizer = prioritizer
        self.version = 1
        self.most_pieces = most_pieces
        self._random = Random(0)
        self.is_rescoring = False

    def is_wanted(self, seen: int) -> bool:
        """Is another piece of evidence to be kept, after so many? Each has the same chance to be among those kept."""
        return seen < self.most_pieces or self._random.random() * (seen + 1) < self.most_pieces

    def rank(self, link: int) -> float:
        """The place of a link: score and base; of a leased one that came back the same whatever its score."""
        if self.table.state[link] == State.LEASED:
            return RETURN_RANK
        return self.score(link) + float(self.table.base[link])

    def score(self, link: int) -> float:
        """The score of a link as it counts among others."""
        return float(self._counting(np.array([link]))[0] if self.table.preferred[link] else self.table.score[link])

    def _counting(self, links: NDArray[np.int64]) -> NDArray[np.float32]:
        return lifted(self.table.score[links], self.is_lifted(links, self.table.pieces[links]))

    def is_lifted(self, links: NDArray[np.int64], pieces: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Which links count for more than their score. (One without evidence has none: a user has given its place.)"""
        lifted: NDArray[np.bool_] = self.table.preferred[links] & (pieces > 0)
        return lifted

    def wait(self, link: int) -> None:
        """A link waits, in its place."""
        self.order.put(link, self.rank(link))

    def wait_all(self, links: NDArray[np.int64]) -> None:
        """Many links wait, each in its place."""
        ranks = self._counting(links) + self.table.base[links]
        for link, rank in zip(links.tolist(), ranks.tolist(), strict=True):
            self.order.put(link, rank)

    def add(self, source: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        """Take in the evidence of a page's links; those that wait are put in their new place."""
        links = evidence.link.astype(np.int64)
        table = self.table
        self._forget(source)
        self.blocks.add(source, evidence)
        full = table.pieces[links] >= self.most_pieces
        how, most = self.prioritizer.combine, self.most_pieces
        take_in(table.score, table.pieces, links, scores, how=how, most=most)
        self._evict(list(dict.fromkeys(links[full & (table.state[links] == State.WAITING)].tolist())))
        table.version[links] = self.version
        self.wait_all(np.unique(links[table.state[links] == State.WAITING]))

    def is_outdated(self, link: int) -> bool:
        """Was the score of a link made by an earlier snapshot, and is not being made anew with all others?"""
        old = self.table.version[link] != self.version and not self.is_rescoring
        return bool(old and self.table.pieces[link])

    def score_again(self, link: int) -> None:
        """Score one link by the snapshot of now, from all its evidence."""
        evidence, score = self.blocks.of([link]), 0.0
        if evidence is not None:
            scores = self.prioritizer.finite_scores(evidence)
            score = combined(scores, np.zeros(len(scores), np.int64), 1, self.prioritizer.combine)[0]
        self.table.score[link], self.table.version[link] = score, self.version

    def _forget(self, source: int) -> None:
        """A page is fetched a second time (its first fetch was cut short): its evidence is replaced."""
        for link in self.blocks.drop(source):
            self.table.pieces[link] = len(self.blocks.pieces([link])[link])
            self.score_again(link)

    def _evict(self, links: list[int]) -> None:
        """Let go of pieces of evidence beyond the most: not the first, and not the best where the best counts."""
        gone = []
        for link, pieces in self.blocks.pieces(links).items():
            surplus = len(pieces) - self.most_pieces
            if surplus <= 0:
                continue
            spare = list(range(1, len(pieces)))
            if self.prioritizer.combine == "max" and (evidence := self.blocks.read(pieces)) is not None:
                best = int(np.argmax(self.prioritizer.finite_scores(evidence)))
                spare = [i for i in spare if i != best]
            gone += [(link, pieces[i]) for i in self._random.sample(spare, min(len(spare), surplus))]
        self.blocks.forget(gone)


class RankingAnew:
    """All that waits is scored anew, by the snapshot of the prioritizer at the moment when this is made.

    What comes or changes meanwhile keeps the place that it has; links numbered from ``size`` on are not looked at.
    """

    def __init__(self, ranking: Ranking, size: int) -> None:
        self._ranking, self._prioritizer, self._version = ranking, ranking.prioritizer, ranking.version
        self._snapshot = ranking.order.snapshot(size)
        self._evidence = ranking.blocks.held(ranking.table.state == State.DONE)
        self._run: Run | None = None
        ranking.is_rescoring = True

    def score(self) -> None:
        """The work, for a thread."""
        ranking, wanted = self._ranking, self._snapshot.is_listed
        batches = ranking.blocks.scan(self._evidence, wanted)
        scores, pieces = score_all(batches, self._prioritizer, size=len(wanted), most=ranking.most_pieces)
        self._score, self._is_scored = scores, wanted & (pieces > 0)
        self._pieces = pieces
        self._run = sort(self._snapshot, self._ranks())

    def adopt(self) -> None:
        """Take over the new order; on the event loop. If the scoring failed, scores stay known to be outdated."""
        ranking = self._ranking
        ranking.is_rescoring = False
        if self._run is None:
            ranking.order.abandon()
            return
        size, table = len(self._is_scored), ranking.table
        self._is_scored[[link for link in ranking.order.adopt(self._run) if link < size]] = False
        np.copyto(table.score[:size], self._score, where=self._is_scored)
        np.copyto(table.version[:size], np.uint32(self._version), where=self._is_scored)

    def _ranks(self) -> NDArray[np.float32]:
        links, table = self._snapshot.links, self._ranking.table
        has_come_back = table.state[links] == State.LEASED
        scores = lifted(self._score[links], self._ranking.is_lifted(links, self._pieces[links]))
        return np.where(has_come_back, np.float32(RETURN_RANK), scores + table.base[links])
