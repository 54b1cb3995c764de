"""The job's file, for the one crawl that writes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from focused.frontier.records import FILE, Lock, connect, in_chunks, open_records
from focused.frontier.store import StoreBroken


class JobFile:
    """Reads and writes in one open transaction, which `commit` ends; nobody else writes meanwhile.

    A write that failed takes all with it that was not committed. From then on everything is refused: what is told
    later would stand there without what it rests on (a page without its links).
    """

    def __init__(self, folder: Path, identity: Mapping[str, str]) -> None:
        self.path = folder / FILE
        self._broken: StoreBroken | None = None
        self._lock = Lock(folder)
        try:
            self._db = open_records(self.path, identity)
        except BaseException:
            self._lock.release()
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        self._check()
        return self._db.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row of a query; None if there is none."""
        self._check()
        return self._db.execute(sql, values).fetchone()

    def rows_in(self, sql: str, values: Sequence[int]) -> list[Any]:
        """All rows of a query whose ``({})`` stands for a list of numbers of any length."""
        found = []
        for chunk in in_chunks(values):
            found += self.rows(sql.format(",".join("?" * len(chunk))), chunk)
        return found

    def write(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Carry out a statement, in the open transaction."""
        self._begin()
        self._execute(sql, values)

    def write_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Carry out a statement for each row."""
        self._begin()
        try:
            self._db.executemany(sql, rows)
        except sqlite3.OperationalError as error:
            self._fail(error)

    def patch(self, table: str, column: str, row: int, *, header: int, at: Any, data: bytes) -> None:
        """Overwrite some bytes of a blob; ``at`` tells from its first ``header`` bytes where they stand."""
        self._begin()
        try:
            with self._db.blobopen(table, column, row) as blob:
                blob.seek(at(blob.read(header)))
                blob.write(data)
        except sqlite3.OperationalError as error:
            self._fail(error)

    def commit(self) -> None:
        """Make everything so far outlast the process."""
        self._check()
        if self._db.in_transaction:
            self._execute("COMMIT")

    def reader(self) -> sqlite3.Connection:
        """A connection of its own for a thread; it sees what was committed."""
        return connect(self.path)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
        self._lock.release()

    def abandon(self) -> None:
        """Let go of the file as if the process had died: what was not committed is gone."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self.close()

    def _check(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _begin(self) -> None:
        self._check()
        if not self._db.in_transaction:
            self._execute("BEGIN")

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        try:
            self._db.execute(sql, values)
        except sqlite3.OperationalError as error:
            self._fail(error)

    def _fail(self, error: sqlite3.OperationalError) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._broken = StoreBroken(
            f"the job's file {str(self.path)!r} cannot be written ({error}); "
            f"what was acknowledged is safe: make room and start the same command again"
        )
        raise self._broken from error
