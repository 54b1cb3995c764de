"""The job's file, for the one crawl that writes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from focused.arrays import Damaged
from focused.files import identity as identity_of
from focused.frontier.records import FILE, Lock, connect, damaged, is_no_damage, open_records, unreadable
from focused.frontier.store import JobGone, StoreBroken


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
            beside = self.path.with_name(f"{self.path.name}-wal")
            # (Some file systems have no shared memory, and so no second file.)
            self._files = {path: found for path in (self.path, beside) if (found := identity_of(path))}
        except BaseException:
            self._lock.release()
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        self._check()
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._break(error) from error

    def row(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """The first row of a query; None if there is none."""
        self._check()
        try:
            return self._db.execute(sql, values).fetchone()
        except sqlite3.DatabaseError as error:
            raise self._break(error) from error

    def write(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Carry out a statement, in the open transaction."""
        self._attempt(lambda: self._db.execute(sql, values))

    def write_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Carry out a statement for each row."""
        self._attempt(lambda: self._db.executemany(sql, rows))

    def patch(self, table: str, column: str, row: int, *, header: int, at: Any, data: bytes) -> None:
        """Overwrite some bytes of a blob; ``at`` finds their place from the first ``header`` bytes."""

        def overwrite() -> None:
            with self._db.blobopen(table, column, row) as blob:
                place = at(blob.read(header))
                if place + len(data) > len(blob):
                    raise Damaged(f"{table} {row} is too short")
                blob.seek(place)
                blob.write(data)

        self._attempt(overwrite)

    def commit(self) -> None:
        """Make everything so far outlast the process; JobGone if its file is no longer where it was.

        One that was only moved has it all, and can be put back.
        """
        self._attempt(self._db.commit)
        self._check_place()

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for a thread; it sees what was committed."""
        self._check_place()
        try:
            with closing(connect(self.path)) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise unreadable(self.path, error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
        self._lock.release()

    def _check(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _attempt(self, work: Callable[[], object]) -> None:
        self._check()
        try:
            work()
        except sqlite3.OperationalError as error:
            raise self._break(error, is_write=True) from error
        except (sqlite3.DatabaseError, Damaged) as error:
            raise self._break(error) from error

    def _check_place(self) -> None:
        """JobGone if a file of the job is no longer there; SQLite goes on writing to one that was deleted."""
        for path, was in self._files.items():
            if identity_of(path) != was:
                self._broken = JobGone(
                    f"the job's file {str(path)!r} is gone (deleted, moved, replaced or unmounted): put back what was "
                    f"there, if you can, and start the same command again"
                )
                raise self._broken

    def _break(self, error: Exception, *, is_write: bool = False) -> StoreBroken:
        """From now on everything is refused: the file cannot be written, or is damaged."""
        if isinstance(error, sqlite3.ProgrammingError):
            raise error
        with suppress(sqlite3.Error):
            self._db.rollback()
        if is_no_damage(error) or (is_write and isinstance(error, sqlite3.OperationalError)):
            self._broken = StoreBroken(
                f"the job's file {str(self.path)!r} cannot be written ({error}); "
                f"what was acknowledged is safe: make room and start the same command again"
            )
        else:
            self._broken = damaged(self.path, error)
        return self._broken
