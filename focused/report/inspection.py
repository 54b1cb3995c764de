"""How a job folder stands: is its file whole, and do its tables agree?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from focused.arrays import Damaged, load_arrays
from focused.frontier.evidence import read_blocks
from focused.frontier.layout import MODELS, RULES, is_sound, numbers_of, problems
from focused.frontier.records import check_format, file_of, in_one_line, read_records
from focused.frontier.store import JobDamaged
from focused.scheduling.starts import check_note

_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Inspection:
    """The rows of each table, None where they cannot be counted; and all that is wrong."""

    rows: dict[str, int | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Is nothing wrong?"""
        return not self.problems


def inspect_job(job: str | Path) -> Inspection:
    """Look at all of a job, which is not changed. JobRefused if there is none."""
    found = Inspection()
    try:
        connection = read_records(job)
    except JobDamaged as error:
        found.problems.append(str(error).partition(": ")[0])
        return found
    with closing(connection):
        for look in (_format, _integrity, problems, _notes, _evidence, _models):
            try:
                found.problems.extend(look(connection))
            except (sqlite3.DatabaseError, JobDamaged) as error:
                found.problems.append(in_one_line(error))
        for table in RULES:
            try:
                (found.rows[table],) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
            except sqlite3.DatabaseError:
                found.rows[table] = None
    # One cause shows in several places.
    found.problems[:] = dict.fromkeys(found.problems)
    return found


def _integrity(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST_SHOWN})"):
        if line != "ok":
            yield f"SQLite: {in_one_line(line)}"


def _format(connection: sqlite3.Connection) -> Iterator[str]:
    check_format(connection, Path(file_of(connection.execute)))
    yield from ()


def _notes(connection: sqlite3.Connection) -> Iterator[str]:
    for key, value in connection.execute("SELECT key, value FROM meta").fetchall():
        try:
            check_note(key, value)
        except Damaged:
            yield f"meta: the note {key!r} cannot be read"


def _evidence(connection: sqlite3.Connection) -> Iterator[str]:
    kept = sum(int((block.link > 0).sum()) for blocks in read_blocks(connection) for *_, block in blocks)
    (listed,) = connection.execute("SELECT count(*) FROM evidence").fetchone()
    if kept != listed:
        yield f"evidence: {listed:,} rows for {kept:,} pieces in the blocks"


def _models(connection: sqlite3.Connection) -> Iterator[str]:
    query = f"SELECT name, data, coalesce({is_sound(MODELS)}, 0) FROM models"  # noqa: S608  # our names
    for name, data, is_right in connection.execute(query, numbers_of(connection)).fetchall():
        try:
            load_arrays(data if is_right else b"")
        except Damaged:
            yield f"models: what the {name} has learned cannot be read (a crawl that goes on learns it again)"
