"""Evidence in memory: of links that are not done, while it is little enough."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from focused.frontier.evidence import AS_STORED, Piece, SeenBy
from focused.memory import give_memory_back
from focused.pages.evidence import Evidence

_MOST_BYTES = 48 * 2**20
_MOST_ROWS = 8_192
_MOST_LOOSE = 64
# A batch is cut when so large a part of it is done with, and joined with one that is up to so many times as large.
_STALE, _MUCH_LARGER = 0.25, 4
_ROW_BITS = 32


@dataclass(slots=True)
class Batch:
    """Rows of one block or of several, in order. A row that was let go of has link 0.

    ``version`` is that of the critic by which they were seen.
    """

    keys: NDArray[np.int64]
    evidence: Evidence
    version: int = 0

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.evidence.nbytes

    def select(self, rows: NDArray[np.int64]) -> Batch:
        return Batch(self.keys[rows], self.evidence.select(rows), self.version)

    def seen_by(self, sight: SeenBy) -> Evidence:
        """The evidence, and from now on as this sight sees it."""
        if self.version != sight.version:
            # Links are kept: meanwhile some may be let go of.
            self.evidence.dense, self.version = sight.renew(self.evidence).dense, sight.version
        return self.evidence

    @classmethod
    def concat(cls, parts: Sequence[Batch]) -> Batch:
        if len(parts) == 1:
            return parts[0]
        keys, evidence = [part.keys for part in parts], [part.evidence for part in parts]
        return cls(np.concatenate(keys), Evidence.concat(evidence), min(part.version for part in parts))


class Held:
    """The evidence of a crawl, block by block, until it is too much for memory; from then on none.

    What belongs to links that are done is let go of whenever everything is scored again: scoring costs what waits, not
    what there was.
    """

    def __init__(self) -> None:
        self.is_whole = True
        self._batches: list[Batch] = []
        self._begins: list[int] = []
        self._bytes = 0
        self._loose = 0

    def add(self, number: int, evidence: Evidence, version: int = 0) -> None:
        """Take in a block; later ones have greater numbers."""
        if not self.is_whole or not len(evidence):
            return
        # Links are its own, as they are overwritten.
        own = replace(evidence, link=evidence.link.copy())
        self._batches.append(Batch(_key(number, 0) + np.arange(len(own)), own, version))
        self._begins.append(_key(number, 0))
        self._bytes += self._batches[-1].nbytes
        self._loose += 1
        if self._bytes > _MOST_BYTES:
            self.is_whole = False
            self._batches, self._begins = [], []
            give_memory_back()
        elif self._loose >= _MOST_LOOSE:
            self._join(self._batches)

    def forget(self, number: int, row: int | None = None) -> None:
        """Let go of a block, or of one row of it."""
        low = _key(number, row or 0)
        high = _key(number + 1, 0) if row is None else low + 1
        batch = self._batch_with(low)
        if batch is not None:
            begin, end = np.searchsorted(batch.keys, (low, high))
            batch.evidence.link[begin:end] = 0

    def read(self, pieces: Sequence[Piece], sight: SeenBy = AS_STORED) -> Evidence | None:
        """Pieces in their order, as one batch; None if they are not all here."""
        by_batch: list[tuple[Batch, list[int]]] = []
        for block, row in pieces:
            key = _key(block, row)
            batch = self._batch_with(key)
            if batch is None:
                return None
            if not by_batch or by_batch[-1][0] is not batch:
                by_batch.append((batch, []))
            by_batch[-1][1].append(key)
        parts = []
        for batch, keys in by_batch:
            rows = np.searchsorted(batch.keys, keys)
            if rows[-1] == len(batch) or (batch.keys[rows] != keys).any():
                return None
            part = batch.evidence.select(rows)
            parts.append(part if batch.version == sight.version else sight.renew(part))
        return Evidence.concat(parts) if parts else None

    def batches(self, done: NDArray[np.bool_]) -> list[Batch]:
        """Everything but what belongs to links that are done, and a little of that, in the order in which it came."""
        kept = []
        for batch in self._batches:
            rows = np.flatnonzero((batch.evidence.link > 0) & ~done[batch.evidence.link])
            if len(rows):
                kept.append(batch if len(rows) > (1 - _STALE) * len(batch) else batch.select(rows))
        self._join(kept)
        return list(self._batches)

    def _join(self, batches: Sequence[Batch]) -> None:
        """Hold these batches; each joined with its neighbours while those are not much larger."""
        groups: list[list[Batch]] = []
        sizes: list[int] = []
        for batch in batches:
            groups.append([batch])
            sizes.append(len(batch))
            while len(sizes) > 1 and sizes[-2] <= _MUCH_LARGER * sizes[-1] and sizes[-2] + sizes[-1] <= _MOST_ROWS:
                groups[-2:], sizes[-2:] = [groups[-2] + groups[-1]], [sizes[-2] + sizes[-1]]
        self._batches = [Batch.concat(group) for group in groups]
        self._begins = [_key(int(batch.keys[0]) >> _ROW_BITS, 0) for batch in self._batches]
        self._bytes = sum(batch.nbytes for batch in self._batches)
        self._loose = 0

    def _batch_with(self, key: int) -> Batch | None:
        """Where a row would stand: a block is never in two of them."""
        at = bisect_right(self._begins, key)
        return self._batches[at - 1] if at else None


def _key(block: int, row: int) -> int:
    return block << _ROW_BITS | row
