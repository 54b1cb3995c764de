"""All evidence of a crawl: on disk, in one block per page, with an index from links to rows of blocks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from focused.frontier.job_file import JobFile
from focused.pages.evidence import HEADER_SIZE, Evidence

_CACHED = 256
_AT_ONCE = 64

Piece = tuple[int, int]
"""A piece of evidence: its block and its row there. Blocks are numbered in the order in which they came."""


class Blocks:
    """Evidence by the page it stands on and by the link it is for. ``count`` = pieces kept."""

    def __init__(self, file: JobFile) -> None:
        self._file = file
        self._cache: OrderedDict[int, Evidence] = OrderedDict()
        self._next: int = file.row("SELECT coalesce(max(id), 0) + 1 FROM blocks")[0]
        self.count: int = file.row("SELECT count(*) FROM evidence")[0]

    def add(self, source: int, evidence: Evidence) -> None:
        """Keep the evidence of a page's links."""
        number, self._next = self._next, self._next + 1
        self._file.write("INSERT INTO blocks VALUES (?, ?, ?)", (number, source, evidence.to_bytes()))
        links = evidence.link.tolist()
        rows = list(zip(links, [number] * len(links), range(len(links)), strict=True))
        self._file.write_many("INSERT INTO evidence VALUES (?, ?, ?)", rows)
        self.count += len(rows)

    def drop(self, source: int) -> list[int]:
        """Forget the evidence on a page; the links it was for."""
        row = self._file.row("SELECT id FROM blocks WHERE source = ?", (source,))
        if row is None:
            return []
        links = [link for link in self._get(row[0]).link.tolist() if link]
        self._file.write_many("DELETE FROM evidence WHERE link = ? AND block = ?", [(link, row[0]) for link in links])
        self._file.write("DELETE FROM blocks WHERE id = ?", row)
        self._cache.pop(row[0])
        self.count -= len(links)
        return list(dict.fromkeys(links))

    def pieces(self, links: Sequence[int]) -> list[Piece]:
        """The pieces of evidence for some links, in the order in which they came."""
        query = "SELECT block, row FROM evidence WHERE link IN ({})"
        return sorted((block, row) for block, row in self._file.rows_in(query, links))

    def read(self, pieces: Sequence[Piece]) -> Evidence | None:
        """Pieces as one batch; None if there are none."""
        by_block: dict[int, list[int]] = {}
        for block, row in pieces:
            by_block.setdefault(block, []).append(row)
        if not by_block:
            return None
        return Evidence.concat([self._get(block).take(rows) for block, rows in by_block.items()])

    def on(self, source: int) -> Evidence | None:
        """All kept evidence on a page."""
        row = self._file.row("SELECT id FROM blocks WHERE source = ?", (source,))
        return self._get(row[0]) if row else None

    def of(self, links: Sequence[int]) -> Evidence | None:
        """All kept evidence for some links, in the order in which it came."""
        return self.read(self.pieces(links))

    def forget(self, link: int, piece: Piece) -> None:
        """Let go of one piece. Its row in the block is marked by link 0."""
        block, row = piece
        self._file.write("DELETE FROM evidence WHERE link = ? AND block = ? AND row = ?", (link, block, row))
        self._file.patch(
            *("blocks", "data", block),
            header=HEADER_SIZE,
            at=lambda header: Evidence.position_of_link(header, row),
            data=bytes(4),
        )
        self._cache.pop(block, None)
        self.count -= 1

    def scan(self) -> Iterator[Evidence]:
        """All evidence that was committed, in large batches; for a thread of its own."""
        reader = self._file.reader()
        try:
            rows = reader.execute("SELECT data FROM blocks ORDER BY id")
            while blocks := rows.fetchmany(_AT_ONCE):
                yield Evidence.concat([Evidence.from_bytes(data) for (data,) in blocks])
        finally:
            reader.close()

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Links, and how many pieces are kept for each."""
        rows = self._file.rows("SELECT link, count(*) FROM evidence GROUP BY link")
        table = np.array(rows, np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def _get(self, number: int) -> Evidence:
        block = self._cache.get(number)
        if block is None:
            (data,) = self._file.row("SELECT data FROM blocks WHERE id = ?", (number,))
            block = self._cache[number] = Evidence.from_bytes(data)
            if len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        else:
            self._cache.move_to_end(number)
        return block
