"""The evidence of a job, read from its records: what somebody else could learn from.

A crawl of its own reads them while it runs (`focused.frontier.store_sqlite`); this is for those who come later, and
changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from focused.bounded import Bounded
from focused.frontier.records import LEADING_TO, in_chunks
from focused.pages.evidence import Evidence

_BLOCKS_KEPT = 512


class EvidenceReader:
    """Evidence of links, out of the blocks in which that of a whole page lies together."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._blocks: Bounded[int, Evidence] = Bounded(_BLOCKS_KEPT)

    def of(self, links: Sequence[int]) -> Evidence | None:
        """All kept evidence of some links, in the order in which it was seen."""
        rows: dict[int, list[int]] = {}
        for chunk in in_chunks(links):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT block, row FROM evidence WHERE link IN ({marks}) ORDER BY block, row"  # noqa: S608
            for block, row in self._connection.execute(query, chunk):
                rows.setdefault(block, []).append(row)
        if not rows:
            return None
        return Evidence.concat([self._block(block).select(rows[block]) for block in sorted(rows)])

    def _block(self, number: int) -> Evidence:
        block = self._blocks.get(number)
        if block is None:
            (data,) = self._connection.execute("SELECT data FROM blocks WHERE id = ?", (number,)).fetchone()
            block = self._blocks[number] = Evidence.from_bytes(data)
        return block


def leading_to(connection: sqlite3.Connection, link: int) -> list[int]:
    """A link and all those that redirect to it, in one step or in several."""
    return [row[0] for row in connection.execute(LEADING_TO, (link,))]
