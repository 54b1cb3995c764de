"""The evidence of a job, read from its records: by the crawl itself while it runs, and by those who come later.

That of all links of a page lies together in a block; an index leads from links to rows of blocks. Nothing is changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from focused.arrays import Damaged
from focused.bounded import Bounded
from focused.frontier.records import LEADING_TO, Query, damaged, file_of, rows_in
from focused.pages.evidence import Evidence

_BLOCKS_KEPT = 512
_AT_ONCE = 64
_BLOCKS = (
    "SELECT id, version, data, (SELECT coalesce(max(id), 0) FROM links), (SELECT coalesce(max(id), 0) FROM hosts) "
    "FROM blocks"
)

Piece = tuple[int, int]
"""A piece of evidence: its block and its row there. Blocks are numbered in the order in which they came."""


def _as_it_is(evidence: Evidence) -> Evidence:
    return evidence


@dataclass(frozen=True, slots=True)
class SeenBy:
    """By which ``version`` of the critic evidence is seen; ``renew`` takes evidence from before and sees it so."""

    version: int = 0
    renew: Callable[[Evidence], Evidence] = _as_it_is


AS_STORED = SeenBy()


class EvidenceReader:
    """Evidence of links, out of blocks, by one sight; the blocks read last are remembered."""

    def __init__(self, query: Query, sight: SeenBy = AS_STORED) -> None:
        self._query = query
        self.sight = sight
        self._kept: Bounded[int, Evidence] = Bounded(_BLOCKS_KEPT)

    def pieces(self, links: Sequence[int]) -> dict[int, list[Piece]]:
        """The pieces of evidence for each of some links, in the order in which they came."""
        found: dict[int, list[Piece]] = {link: [] for link in links}
        query = "SELECT link, block, row FROM evidence WHERE link IN ({}) ORDER BY block, row"
        for link, block, row in rows_in(self._query, query, links):
            found[link].append((block, row))
        return found

    def read(self, pieces: Sequence[Piece]) -> Evidence | None:
        """Pieces as one batch, in the order given; None if there are none."""
        if not pieces:
            return None
        return Evidence.concat([self._row(block, row) for block, row in pieces])

    def _row(self, number: int, row: int) -> Evidence:
        block = self.block(number)
        if row >= len(block):
            raise damaged(file_of(self._query), f"block {number} of evidence has no row {row}")
        return block.between(row, row + 1)

    def of(self, links: Sequence[int]) -> Evidence | None:
        """All kept evidence for some links, in the order in which it came."""
        return self.read(sorted(piece for pieces in self.pieces(links).values() for piece in pieces))

    def on(self, source: int) -> Evidence | None:
        """All kept evidence on a page."""
        rows = list(self._query("SELECT id FROM blocks WHERE source = ?", (source,)))
        return self.block(rows[0][0]) if rows else None

    def block(self, number: int) -> Evidence:
        """A whole block."""
        block = self._kept.get(number)
        if block is None:
            found = list(self._query(f"{_BLOCKS} WHERE id = ?", (number,)))
            if not found:
                raise damaged(file_of(self._query), f"there is no block {number} of evidence")
            (_, version, block) = _decode(self._query, found[0])
            if version != self.sight.version:
                block = self.sight.renew(block)
            self._kept[number] = block
        return block


def read_blocks(connection: sqlite3.Connection) -> Iterator[list[tuple[int, int, Evidence]]]:
    """All blocks with their numbers and the versions of the critic by which they were seen, some at a time."""
    with closing(connection.execute(f"{_BLOCKS} ORDER BY id")) as rows:
        while blocks := rows.fetchmany(_AT_ONCE):
            yield [_decode(connection.execute, block) for block in blocks]


def _decode(query: Query, row: Sequence[Any]) -> tuple[int, int, Evidence]:
    """A block with its number and version. Whoever has it takes the numbers in it for places in arrays."""
    number, version, data, links, hosts = row
    try:
        block = Evidence.from_bytes(data if isinstance(data, bytes) else b"")
        check_numbers(block, links, hosts)
    except Damaged as error:
        raise damaged(file_of(query), f"block {number} of evidence: {error}") from error
    return number, version, block


def check_numbers(evidence: Evidence, links: int, hosts: int) -> None:
    """Damaged if evidence is of links or hosts beyond the last ones."""
    for column, last in ((evidence.link, links), (evidence.source, links), (evidence.host, hosts)):
        if column.max(initial=0) > last:
            raise Damaged(f"a number {column.max()} where {last} is the last one")


def leading_to(query: Query, link: int) -> list[int]:
    """A link and all those that redirect to it, in one step or in several."""
    return [row[0] for row in query(LEADING_TO, (link,))]
