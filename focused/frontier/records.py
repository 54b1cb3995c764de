"""The job's records: one SQLite file that holds a crawl, and the only place that knows its tables.

The file is the truth. It is written by one crawl at a time (``open_records`` takes a lock) and may be read by
anybody meanwhile (`read_records`). Everything else (scores, order, lessons not learned yet) can be derived from it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from focused.frontier.store import JobRefused

FORMAT = 1
FILE = "job.db"

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE links(
    id INTEGER PRIMARY KEY, key INTEGER UNIQUE, url TEXT, host INTEGER, depth INTEGER, source INTEGER,
    state INTEGER, outcome INTEGER DEFAULT 0, detail TEXT, tries INTEGER DEFAULT 0, base REAL, target INTEGER,
    request BLOB);
CREATE INDEX links_by_target ON links(target) WHERE target IS NOT NULL;
CREATE INDEX links_leased ON links(id) WHERE state = 2;
CREATE TABLE blocks(id INTEGER PRIMARY KEY, source INTEGER UNIQUE, data BLOB);
CREATE TABLE evidence(link INTEGER, block INTEGER, row INTEGER, PRIMARY KEY(link, block, row)) WITHOUT ROWID;
CREATE TABLE pages(
    link INTEGER PRIMARY KEY, seq INTEGER UNIQUE, url TEXT, title TEXT, relevance REAL, class TEXT, outcome INTEGER,
    digest INTEGER, item TEXT);
CREATE INDEX pages_by_digest ON pages(digest);
CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT);
CREATE TABLE models(name TEXT PRIMARY KEY, seq INTEGER, version INTEGER, data BLOB) WITHOUT ROWID;
"""


class Lock:
    """A lock file: one crawl per job folder."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[str] = (folder / "lock").open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise JobRefused(
                f"job folder {str(folder)!r} is in use by another crawl: wait for it, or give another JOBDIR"
            ) from error

    def release(self) -> None:
        """Let others use the folder."""
        self._file.close()


def connect(path: str | Path) -> sqlite3.Connection:
    """A connection that commits only when told to: fast, and safe against the death of the process."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -12288")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def open_records(path: Path, identity: Mapping[str, str]) -> sqlite3.Connection:
    """Open or make a job's file; refuses one that was made for another topic, or in another format."""
    try:
        connection = connect(path)
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from error
    try:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            _check(connection, path, identity)
        else:
            connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
            connection.executemany("INSERT INTO meta VALUES (?, ?)", {"format": str(FORMAT), **identity}.items())
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _unreadable(path, error) from error
    except JobRefused:
        connection.close()
        raise
    return connection


def check_job(folder: Path, identity: Mapping[str, str]) -> None:
    """Refuse, before anything has begun, a job folder that is in use or of another crawl."""
    if (folder / FILE).exists():
        lock = Lock(folder)
        try:
            open_records(folder / FILE, identity).close()
        finally:
            lock.release()


def _unreadable(path: Path, error: sqlite3.DatabaseError) -> JobRefused:
    return JobRefused(f"{str(path)!r} is not a readable job file ({error}): give another JOBDIR")


def _check(connection: sqlite3.Connection, path: Path, identity: Mapping[str, str]) -> None:
    found = dict(connection.execute("SELECT key, value FROM meta"))
    for key, value in {"format": str(FORMAT), **identity}.items():
        if found.get(key) != value:
            raise JobRefused(
                f"job folder {str(path.parent)!r} was made with {key} {found.get(key)!r}, this crawl has {value!r}: "
                f"give another JOBDIR, or start the crawl as it was"
            )


def read_records(job: str | Path) -> sqlite3.Connection:
    """A job's file, for reading only; ``job`` is the folder or the file."""
    path = Path(job) / FILE if Path(job).is_dir() else Path(job)
    if not path.is_file():
        raise JobRefused(f"there is no job in {str(job)!r}: name the JOBDIR of a crawl (it holds {FILE})")
    # Where nobody may write, SQLite cannot make the file by which readers and writers agree; and none is needed.
    how = "mode=ro" if os.access(path.parent, os.W_OK) else "immutable=1"
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def read_items(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """The items of a job, in the order of fetching."""
    for (item,) in connection.execute("SELECT item FROM pages WHERE outcome = 1 ORDER BY seq"):
        yield json.loads(item)


def in_chunks(values: Sequence[int], size: int = 500) -> Iterable[Sequence[int]]:
    """Slices small enough for one SQL statement."""
    return (values[i : i + size] for i in range(0, len(values), size))


def count_by(connection: sqlite3.Connection, column: str) -> dict[int, int]:
    """How many links there are, by state or by outcome."""
    if column not in {"state", "outcome"}:
        raise ValueError(f"links are not counted by {column!r}")
    with closing(connection.execute(f"SELECT {column}, count(*) FROM links GROUP BY 1")) as rows:  # noqa: S608
        return {int(value): int(count) for value, count in rows}
