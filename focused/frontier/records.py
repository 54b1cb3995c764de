"""The job's records: one SQLite file that holds a crawl. Its tables are laid out here; who reports of a job asks them.

The file is the truth. It is written by one crawl at a time (``open_records`` takes a lock) and may be read by
anybody meanwhile (`read_records`). Everything else (scores, order, lessons not learned yet) can be derived from it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import IO, Any

from focused.frontier.store import JobRefused

FORMAT = 3
FILE = "job.db"
_LOCK = "lock"
_TRIES, _BETWEEN = 5, 0.02
# So many numbers fit into one SQL statement.
_AT_ONCE = 500

Query = Callable[[str, Sequence[Any]], Iterable[Any]]
"""Asks the records: `sqlite3.Connection.execute`, or what a crawl has in its place."""

LEADING_TO = """
WITH RECURSIVE leading(id) AS (SELECT ? UNION SELECT links.id FROM links JOIN leading ON target = leading.id)
SELECT id FROM leading
"""
"""The links that lead to one: itself, and all that redirect to it in one step or in several."""

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE links(
    id INTEGER PRIMARY KEY, key INTEGER UNIQUE, url TEXT, host INTEGER, depth INTEGER, source INTEGER,
    state INTEGER, outcome INTEGER DEFAULT 0, detail TEXT, tries INTEGER DEFAULT 0, base REAL, target INTEGER,
    request BLOB);
CREATE INDEX links_by_target ON links(target) WHERE target IS NOT NULL;
CREATE INDEX links_leased ON links(id) WHERE state = 2;
CREATE TABLE blocks(id INTEGER PRIMARY KEY, source INTEGER UNIQUE, version INTEGER, data BLOB);
CREATE TABLE evidence(link INTEGER, block INTEGER, row INTEGER, PRIMARY KEY(link, block, row)) WITHOUT ROWID;
CREATE TABLE pages(
    link INTEGER PRIMARY KEY, seq INTEGER UNIQUE, url TEXT, title TEXT, relevance REAL, class TEXT, outcome INTEGER,
    digest INTEGER, version INTEGER, item TEXT);
CREATE TABLE gists(link INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE answers(number INTEGER PRIMARY KEY, link INTEGER, said TEXT, who TEXT, time TEXT, relevance REAL);
CREATE INDEX pages_by_digest ON pages(digest);
CREATE TABLE deaths(id INTEGER PRIMARY KEY, link INTEGER, seq INTEGER);
CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT);
CREATE TABLE models(name TEXT PRIMARY KEY, seq INTEGER, deaths INTEGER, version INTEGER, data BLOB) WITHOUT ROWID;
"""


class Lock:
    """A lock file: one crawl per job folder. It holds the number of the process, for those who ask."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] = (folder / _LOCK).open("ab", buffering=0)
        if not _lock(self._file):
            self._file.close()
            raise JobRefused(
                f"job folder {str(folder)!r} is in use by another crawl: wait for it, or give another JOBDIR"
            )
        # A full disk is reported when the job itself cannot be written.
        with suppress(OSError):
            self._file.truncate(0)
            self._file.write(f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others use the folder."""
        self._file.close()


def _lock(file: IO[bytes]) -> bool:
    """Take the lock; who only asks whether a crawl is running (`lock_holder`) has it for a moment."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sleep(_BETWEEN)
        else:
            return True
    return False


def lock_holder(folder: Path) -> int | None:
    """The number of the process that has a job folder in use, 0 if it does not say; None if nobody has."""
    try:
        file = (folder / _LOCK).open("rb")
    except FileNotFoundError:
        return None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            words = file.read(20).strip()
            return int(words) if words.isdigit() else 0
    return None


def connect(path: str | Path) -> sqlite3.Connection:
    """A connection that commits only when asked to: fast, and safe against the death of the process."""
    connection = sqlite3.connect(path, check_same_thread=False)
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
        try:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                _check(connection, path, identity)
            else:
                connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
                rows = {"format": str(FORMAT), **identity}.items()
                connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
                connection.commit()
        except BaseException:
            connection.close()
            raise
    except sqlite3.DatabaseError as error:
        raise JobRefused(f"{str(path)!r} is not a readable job file ({error}): give another JOBDIR") from error
    return connection


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
        if ":/" in str(job):
            raise JobRefused(
                f"{str(job)!r} is not a job folder. For a crawl in Redis use `scrapy status redis://…`, `report`, "
                "`why` or `export`"
            )
        raise JobRefused(f"there is no job in {str(job)!r}: give the JOBDIR of a crawl (it holds {FILE})")
    # Where we may not write, SQLite cannot make the files by which readers and writers agree. If they are there, they
    # hold what was written last (by a crawl of somebody else); if not, none are needed.
    is_written = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if is_written or os.access(path.parent, os.W_OK) else "immutable=1"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    return connection


def read_items(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """The items of a job, in the order of fetching."""
    query = "SELECT item, relevance, class, version FROM pages WHERE outcome = 1 ORDER BY seq"
    for item, relevance, best_class, version in connection.execute(query):
        values = json.loads(item)
        if version != values.get("version", 0):
            # It was judged anew since.
            values |= {"relevance": round(relevance, 6), "class": best_class, "version": version}
        yield values


def rows_in(query: Query, sql: str, numbers: Sequence[int]) -> list[Any]:
    """All rows of a query whose ``({})`` stands for a list of numbers of any length."""
    found: list[Any] = []
    for begin in range(0, len(numbers), _AT_ONCE):
        some = numbers[begin : begin + _AT_ONCE]
        found += query(sql.format(",".join("?" * len(some))), some)
    return found
