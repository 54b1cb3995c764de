"""All evidence of a crawl: on disk, in one block per page, with an index from links to rows of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from focused.frontier.evidence import EvidenceReader, Piece, SeenBy, read_blocks
from focused.frontier.held import Batch, Held
from focused.frontier.job_file import JobFile
from focused.pages.evidence import HEADER_SIZE, Evidence


class Blocks(EvidenceReader):
    """Evidence by the page it stands on and by the link it is for. ``count`` = pieces kept.

    While it is little, the evidence of links that are not done is also held in memory: scoring everything again then
    costs no reading and no decoding.
    """

    def __init__(self, file: JobFile) -> None:
        super().__init__(file.rows)
        self._file = file
        self._next: int = file.row("SELECT coalesce(max(id), 0) + 1 FROM blocks")[0]
        self.count: int = file.row("SELECT count(*) FROM evidence")[0]
        self._held = Held()

    def add(self, source: int, evidence: Evidence) -> None:
        """Keep the evidence of a page's links."""
        number, self._next = self._next, self._next + 1
        self._file.write(
            "INSERT INTO blocks VALUES (?, ?, ?, ?)", (number, source, self.sight.version, evidence.to_bytes())
        )
        links = evidence.link.tolist()
        rows = list(zip(links, [number] * len(links), range(len(links)), strict=True))
        self._file.write_many("INSERT INTO evidence VALUES (?, ?, ?)", rows)
        self.count += len(rows)
        self._held.add(number, evidence, self.sight.version)

    def drop(self, source: int) -> list[int]:
        """Forget the evidence on a page; the links it was for."""
        row = self._file.row("SELECT id FROM blocks WHERE source = ?", (source,))
        if row is None:
            return []
        links = [link for link in self.block(row[0]).link.tolist() if link]
        self._file.write_many("DELETE FROM evidence WHERE link = ? AND block = ?", [(link, row[0]) for link in links])
        self._file.write("DELETE FROM blocks WHERE id = ?", row)
        self._kept.pop(row[0], None)
        self._held.forget(row[0])
        self.count -= len(links)
        return list(dict.fromkeys(links))

    def read(self, pieces: Sequence[Piece]) -> Evidence | None:
        """Pieces as one batch, out of memory if they are all there."""
        return self._held.read(pieces, self.sight) or super().read(pieces)

    def look_with(self, sight: SeenBy) -> None:
        """See all evidence by another sight from now on."""
        if sight.version != self.sight.version:
            self._kept.clear()
        self.sight = sight

    def forget(self, pieces: Sequence[tuple[int, Piece]]) -> None:
        """Let go of pieces, each told with its link. Their rows in the blocks are marked by link 0."""
        rows = [(link, block, row) for link, (block, row) in pieces]
        self._file.write_many("DELETE FROM evidence WHERE link = ? AND block = ? AND row = ?", rows)
        for _, block, row in rows:
            self._file.patch(
                *("blocks", "data", block),
                header=HEADER_SIZE,
                at=lambda header, row=row: Evidence.position_of_link(header, row),
                data=bytes(4),
            )
            self._kept.pop(block, None)
            self._held.forget(block, row)
        self.count -= len(rows)

    @property
    def is_held(self) -> bool:
        """Is all evidence in memory?"""
        return self._held.is_whole

    def held(self, done: NDArray[np.bool_]) -> list[Batch] | None:
        """All evidence but that of links that are ``done``, as far as it is in memory; else None.

        Take it before `scan` goes into its thread.
        """
        return self._held.batches(done) if self._held.is_whole else None

    def scan(self, held: list[Batch] | None, wanted: NDArray[np.bool_]) -> Iterator[Evidence]:
        """The evidence for the links that are wanted, in large batches; for a thread. Not held, it is read."""
        sight = self.sight
        if held is not None:
            yield from (_only(batch.seen_by(sight), wanted) for batch in held)
            return
        for blocks in self._read_all():
            # Versions rise with the blocks' numbers. Many old blocks together are renewed at far less cost than each.
            old = [_only(block, wanted) for _, version, block in blocks if version != sight.version]
            new = [_only(block, wanted) for _, version, block in blocks if version == sight.version]
            if old:
                yield sight.renew(Evidence.concat(old))
            if new:
                yield Evidence.concat(new)

    def _read_all(self) -> Iterator[list[tuple[int, int, Evidence]]]:
        """All blocks that were committed, over a connection of its own."""
        with self._file.reader() as reader:
            yield from read_blocks(reader)

    def hold(self, done: NDArray[np.bool_]) -> None:
        """Take the evidence of a job that goes on into memory, but for links that are done."""
        for blocks in self._read_all():
            for number, version, block in blocks:
                self._held.add(number, block, version)
            self._held.batches(done)
            if not self._held.is_whole:
                return

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Links, and how many pieces are kept for each."""
        return self._counted("SELECT link, count(*) FROM evidence GROUP BY link")

    def late_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Links whose page was judged, and on how many pages judged later there is evidence for them.

        Answered from indexes, without reading a block: as quick as `counts`.
        """
        return self._counted(
            "WITH later AS MATERIALIZED (SELECT id AS block, seq FROM blocks JOIN pages ON link = source) "
            "SELECT pages.link, count(DISTINCT later.block) FROM pages CROSS JOIN evidence USING (link) "
            "JOIN later USING (block) WHERE later.seq > pages.seq GROUP BY pages.link"
        )

    def _counted(self, query: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        table = np.array(self._file.rows(query), np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]


def _only(evidence: Evidence, wanted: NDArray[np.bool_]) -> Evidence:
    """The rows for wanted links; all of them where that is nearly all, as leaving some out costs more."""
    rows = np.flatnonzero(wanted[np.minimum(evidence.link, len(wanted) - 1)])
    return evidence if 4 * len(rows) > 3 * len(evidence) else evidence.select(rows)
