"""The evidence of a job, read from its records: by the crawl itself while it runs, and by those who come later.

That of all links of a page lies together in a block; an index leads from links to rows of blocks. Nothing is changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from focused.bounded import Bounded
from focused.frontier.records import LEADING_TO, in_chunks
from focused.pages.evidence import Evidence

_BLOCKS_KEPT = 512
_AT_ONCE = 64

Query = Callable[[str, Sequence[Any]], Iterable[Any]]
"""Asks the records: `sqlite3.Connection.execute`, or what a crawl has in its place."""
Piece = tuple[int, int]
"""A piece of evidence: its block and its row there. Blocks are numbered in the order in which they came."""


class EvidenceReader:
    """Evidence of links, out of blocks; those read last are remembered."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._blocks: Bounded[int, Evidence] = Bounded(_BLOCKS_KEPT)

    def pieces(self, links: Sequence[int]) -> dict[int, list[Piece]]:
        """The pieces of evidence for each of some links, in the order in which they came."""
        found: dict[int, list[Piece]] = {link: [] for link in links}
        for chunk in in_chunks(links):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT link, block, row FROM evidence WHERE link IN ({marks}) ORDER BY block, row"  # noqa: S608
            for link, block, row in self._query(query, chunk):
                found[link].append((block, row))
        return found

    def read(self, pieces: Sequence[Piece]) -> Evidence | None:
        """Pieces as one batch, block by block; None if there are none."""
        by_block: dict[int, list[int]] = {}
        for block, row in pieces:
            by_block.setdefault(block, []).append(row)
        if not by_block:
            return None
        return Evidence.concat([self.block(block).select(rows) for block, rows in by_block.items()])

    def of(self, links: Sequence[int]) -> Evidence | None:
        """All kept evidence for some links, in the order in which it came."""
        return self.read(sorted(piece for pieces in self.pieces(links).values() for piece in pieces))

    def block(self, number: int) -> Evidence:
        """A whole block."""
        block = self._blocks.get(number)
        if block is None:
            ((data,),) = self._query("SELECT data FROM blocks WHERE id = ?", (number,))
            block = self._blocks[number] = Evidence.from_bytes(data)
        return block

    def forget(self, number: int) -> None:
        """A block has changed."""
        self._blocks.pop(number, None)


def read_blocks(connection: sqlite3.Connection) -> Iterator[list[tuple[int, Evidence]]]:
    """All blocks with their numbers, some at a time."""
    with closing(connection.execute("SELECT id, data FROM blocks ORDER BY id")) as rows:
        while blocks := rows.fetchmany(_AT_ONCE):
            yield [(number, Evidence.from_bytes(data)) for number, data in blocks]


def leading_to(query: Query, link: int) -> list[int]:
    """A link and all those that redirect to it, in one step or in several."""
    return [row[0] for row in query(LEADING_TO, (link,))]
