"""The score of every link: made from its evidence by the prioritizer, kept up as either changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
from numpy.typing import NDArray

from focused.frontier.blocks import Blocks
from focused.frontier.order import Order, Snapshot, sort
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
        self._most_pieces = most_pieces
        self._random = Random(seed)
        self._rescoring = False
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
        return seen < self._most_pieces or self._random.random() * (seen + 1) < self._most_pieces

    def rank(self, link: int) -> float:
        """The place of a link: score and base."""
        return self.score(link) + self.bases.get(link, 0.0)

    def score(self, link: int) -> float:
        """The score of a link, from all its evidence."""
        return self._table.combined_one(link, self._prioritizer.combine, self._most_pieces)

    def wait(self, link: int) -> None:
        """A link waits, in its place."""
        self._order.put(link, int(self._table.host[link]), self.rank(link))

    def add(self, source: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        """Take in the evidence of a page's links; those that wait are put in their new place."""
        links = evidence.link.astype(np.int64)
        table = self._table
        self._forget(source)
        self._blocks.add(source, evidence)
        full = table.pieces[links] >= self._most_pieces
        table.merge(links, scores, self._prioritizer.combine)
        self._evict(list(dict.fromkeys(links[full & (table.state[links] == State.WAITING)].tolist())))
        table.version[links] = self._version
        self._wait_all(np.unique(links[table.state[links] == State.WAITING]))

    def is_outdated(self, link: int) -> bool:
        """Was the score of a link made by an earlier snapshot, and is not being made anew with all others?"""
        old = self._table.version[link] != self._version and not self._rescoring
        return bool(old and self._table.pieces[link])

    def score_again(self, link: int) -> None:
        """Score one link by the snapshot of now."""
        evidence = self._blocks.of([link])
        if evidence is None:
            return
        scores = self._prioritizer.finite_scores(evidence)
        how = self._prioritizer.combine
        self._table.total[link] = {"first": scores[0], "max": scores.max(), "mean": scores.mean()}[how]
        if how == "mean":
            self._table.total[link] *= min(int(self._table.pieces[link]), self._most_pieces)
        self._table.version[link] = self._version

    def rescore(self, size: int) -> Callable[[], Callable[[], None]]:
        """Score all that waits: the work for a thread, which gives the closing step. ``size`` = link numbers given."""
        snapshot, prioritizer, version = self._order.snapshot(), self._prioritizer, self._version
        held = self._blocks.held(self._table.state == State.DONE)
        self._rescoring = True

        def fail(error: Exception) -> None:
            self._rescoring = False
            self._order.abandon()
            raise error

        def work() -> Callable[[], None]:
            try:
                table = self._score_all(prioritizer, held, snapshot.waits, size)
                run = sort(snapshot, self._ranks(snapshot, table, prioritizer.combine))
            except Exception as error:
                return partial(fail, error)
            scored = snapshot.waits & (table.pieces[: len(snapshot.waits)] > 0)

            def finish() -> None:
                self._rescoring = False
                scored[[link for link in self._order.adopt(run) if link < len(scored)]] = False
                np.copyto(self._table.total[: len(scored)], table.total[: len(scored)], where=scored)
                np.copyto(self._table.version[: len(scored)], np.uint32(version), where=scored)

            return finish

        return work

    def _wait_all(self, links: NDArray[np.int64]) -> None:
        scores = self._table.combined(links, self._prioritizer.combine, self._most_pieces).tolist()
        hosts = self._table.host[links].tolist()
        for link, host, score in zip(links.tolist(), hosts, scores, strict=True):
            self._order.put(link, host, score + self.bases.get(link, 0.0))

    def _forget(self, source: int) -> None:
        """A page is fetched a second time (its first fetch was cut short): its evidence is replaced."""
        for link in self._blocks.drop(source):
            self._table.pieces[link] = 0
            self._table.total[link] = 0.0
            left = self._blocks.of([link])
            if left is not None:
                self._table.merge(
                    np.full(len(left), link), self._prioritizer.finite_scores(left), self._prioritizer.combine
                )

    def _evict(self, links: list[int]) -> None:
        """Let go of pieces of evidence beyond the most: not the first, and not the best where the best counts."""
        gone = []
        for link, pieces in self._blocks.pieces(links).items():
            surplus = len(pieces) - self._most_pieces
            if surplus <= 0:
                continue
            spare = list(range(1, len(pieces)))
            if self._prioritizer.combine == "max":
                scores = [
                    float(self._prioritizer.finite_scores(row)[0]) for p in pieces if (row := self._blocks.read([p]))
                ]
                spare = [i for i in spare if i != int(np.argmax(scores))]
            gone += [(link, pieces[i]) for i in self._random.sample(spare, min(len(spare), surplus))]
            if self._prioritizer.combine == "mean":
                # As if an average piece had gone; the next re-scoring knows better.
                self._table.total[link] *= self._most_pieces / (self._most_pieces + surplus)
        self._blocks.forget(gone)

    def _score_all(
        self, prioritizer: Prioritizer, held: list[Evidence] | None, waits: NDArray[np.bool_], size: int
    ) -> LinkTable:
        table = LinkTable()
        table.grow(size)
        # Link 0 marks what was let go of; numbers given after the snapshot are not in it.
        wanted = np.zeros(size + 1, np.bool_)
        wanted[: len(waits)] = waits
        for evidence in self._blocks.scan(held, wanted):
            scores = prioritizer.finite_scores(evidence)
            links = evidence.link.astype(np.int64)
            kept = (links > 0) & (links < size)
            table.merge(links[kept], scores[kept], prioritizer.combine)
        return table

    def _ranks(self, snapshot: Snapshot, table: LinkTable, how: str) -> NDArray[np.float32]:
        ranks = table.combined(snapshot.links, how, self._most_pieces)
        if self.bases or self.pinned:
            bases, pinned = self.bases.copy(), self.pinned.copy()
            for i, link in enumerate(snapshot.links.tolist()):
                if link in bases or link in pinned:
                    ranks[i] = pinned.get(link, ranks[i] + bases.get(link, 0.0))
        return ranks
