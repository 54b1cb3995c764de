"""The job's records: one SQLite file that holds a crawl. Its tables are laid out in `layout`.

The file is the truth. It is written by one crawl at a time (``open_records`` takes a lock) and may be read by
anybody meanwhile (`read_records`). Everything else (scores, order, lessons not learned yet) can be derived from it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from stat import S_ISREG
from time import sleep
from types import MappingProxyType
from typing import IO, Any

from focused.files import write_whole
from focused.frontier.layout import FORMAT, SCHEMA, problems
from focused.frontier.store import JobDamaged, JobRefused

FILE = "job.db"
_LOCK = "lock"
REPAIRED = "repaired"
"""The note of a job that was saved from a damaged one."""
_TRIES, _BETWEEN = 5, 0.02
_AROUND = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
# So many numbers fit into one SQL statement.
_AT_ONCE = 500
_ANYBODYS: Mapping[str, str] = MappingProxyType({})

Query = Callable[[str, Sequence[Any]], Iterable[Any]]
"""Asks the records: `sqlite3.Connection.execute`, or what a crawl has in its place."""

LEADING_TO = """
WITH RECURSIVE leading(id) AS (SELECT ? UNION SELECT links.id FROM links JOIN leading ON target = leading.id)
SELECT id FROM leading
"""
"""The links that lead to one: itself, and all that redirect to it in one step or in several."""


class Lock:
    """A lock file: one crawl per job folder. It holds the number of the process, for those who ask."""

    def __init__(self, folder: Path) -> None:
        check_plain(folder / _LOCK)
        try:
            self._file: IO[bytes] = (folder / _LOCK).open("ab", buffering=0)
        except OSError as error:
            raise _cannot(folder / _LOCK, "written", error) from error
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
    check_plain(folder / _LOCK)
    try:
        file = (folder / _LOCK).open("rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot(folder / _LOCK, "read", error) from error
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
    """Open or make a job's file; refuses one of another topic or format, and one that is damaged."""
    check_files(path)
    if not os.path.lexists(path):
        _make(path, identity)
    try:
        connection = connect(path)
        try:
            if connection.execute("SELECT 1 FROM meta WHERE key = ?", (REPAIRED,)).fetchone():
                # Whose it was may be lost; what is still there must fit.
                connection.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", identity.items())
                connection.commit()
            check_format(connection, path, identity)
            _check_sound(connection, path)
        except BaseException:
            connection.close()
            raise
    except sqlite3.DatabaseError as error:
        raise unreadable(path, error) from error
    return connection


def _make(path: Path, identity: Mapping[str, str]) -> None:
    """A job's file in which nothing is recorded yet; whole, or not at all."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        rows = {"format": str(FORMAT), **identity}.items()
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
        connection.commit()
        data = connection.serialize()
    try:
        with write_whole(path) as file:
            file.write(data)
    except OSError as error:
        raise _cannot(path, "written", error) from error


def check_files(path: Path) -> None:
    """JobRefused if a job's file, or one that SQLite keeps beside it, is no plain file, or the first alone is gone."""
    beside = [path.with_name(path.name + end) for end in ("-wal", "-shm")]
    for one in (path, *beside, path.with_name(_LOCK)):
        check_plain(one)
    if os.path.lexists(beside[0]) and not os.path.lexists(path):
        raise JobDamaged(
            f"{str(path)!r} is gone, and {beside[0].name!r} is still there: put it back, or give another JOBDIR"
        )


def check_plain(path: Path) -> None:
    """JobRefused if there is something else than a file, which might never end or never begin."""
    try:
        if os.path.lexists(path) and not S_ISREG(path.stat().st_mode):
            raise JobDamaged(f"{str(path)!r} is not a plain file: move it away, or give another JOBDIR")
    except OSError as error:
        raise _cannot(path, "read", error) from error


def _cannot(path: Path, done: str, error: OSError) -> JobDamaged:
    return JobDamaged(f"{str(path)!r} cannot be {done}: {error.strerror}; fix that, or give another JOBDIR")


def is_no_damage(error: object) -> bool:
    """Did SQLite fail for what is around the file: a full disk, one that is read-only?"""
    code = getattr(error, "sqlite_errorcode", None)
    # A file that is too short is damaged.
    return code is not None and code != sqlite3.SQLITE_IOERR_SHORT_READ and code & 0xFF in _AROUND


def unreadable(path: Path, error: object) -> JobDamaged:
    """A file of which SQLite, or we, cannot make anything; or there is no room to read it."""
    if is_no_damage(error):
        return JobDamaged(
            f"{str(path)!r} cannot be read or written ({in_one_line(error)}): make room, or make it writable, and try "
            f"again"
        )
    return JobDamaged(f"{str(path)!r} is not a readable job file ({in_one_line(error)}): {way_out(path)}")


def damaged(path: str | Path, what: object) -> JobDamaged:
    """A job's file in which something cannot be."""
    return JobDamaged(f"the job's file {str(path)!r} is damaged ({in_one_line(what)}): {way_out(path)}")


def way_out(path: str | Path) -> str:
    """What can be done about a damaged job."""
    return f"see `scrapy inspect {Path(path).parent}`, which can save what is left, or give another JOBDIR"


def in_one_line(what: object) -> str:
    """A message of somebody else's."""
    return " ".join(str(what).split())


def check_format(connection: sqlite3.Connection, path: Path, identity: Mapping[str, str] = _ANYBODYS) -> None:
    """JobRefused if a job's file is of another format, or was made for another crawl."""
    found = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    if "format" not in found:
        raise damaged(path, "it does not say which format it has")
    for key, value in {"format": str(FORMAT), **identity}.items():
        if not _is_same(key, found.get(key), value):
            raise JobRefused(
                f"job folder {str(path.parent)!r} was made with {key} {found.get(key)!r}, this crawl has {value!r}: "
                f"give another JOBDIR, or start the crawl as it was"
            )


def _is_same(key: str, found: str | None, value: str) -> bool:
    """A topic may be corrected (`focused.scheduling.correction`): its name tells it from others, before the digest."""
    if found is None or key == "critic":
        return found is not None
    if key == "topic":
        found, value = (re.sub(r" \([0-9a-f]{16}\)$", "", one) for one in (found, value))
    return found == value


def _check_sound(connection: sqlite3.Connection, path: Path) -> None:
    for problem in problems(connection):
        raise damaged(path, problem)


def file_in(job: str | Path) -> Path:
    """The file of a job that was given by its folder, or by that file."""
    return Path(job) / FILE if Path(job).is_dir() else Path(job)


def read_records(job: str | Path) -> sqlite3.Connection:
    """A job's file, for reading only; ``job`` is the folder or the file."""
    path = file_in(job)
    check_files(path)
    if not path.is_file():
        if ":/" in str(job):
            raise JobRefused(
                f"{str(job)!r} is not a job folder. For a crawl in Redis use `scrapy status redis://…`, `report`, "
                "`why` or `export`"
            )
        if lock_holder(path.parent) is not None:
            raise JobRefused(f"the crawl in {str(job)!r} is just starting: try again in a moment")
        raise JobRefused(f"there is no job in {str(job)!r}: give the JOBDIR of a crawl (it holds {FILE})")
    # Where we may not write, SQLite cannot make the files by which readers and writers agree. If they are there, they
    # hold what was written last (by a crawl of somebody else); if not, none are needed.
    is_written = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if is_written or os.access(path.parent, os.W_OK) else "immutable=1"
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite3.DatabaseError as error:
        raise unreadable(path, error) from error
    connection.row_factory = sqlite3.Row
    return connection


def check_records(connection: sqlite3.Connection, path: Path) -> None:
    """JobRefused if what is read cannot be relied on: another format, or damage."""
    try:
        connection.execute("BEGIN")
        try:
            check_format(connection, path)
            _check_sound(connection, path)
        finally:
            connection.rollback()
    except sqlite3.DatabaseError as error:
        raise unreadable(path, error) from error


def read_items(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """The items of a job, in the order of fetching."""
    query = "SELECT item, relevance, class, version FROM pages WHERE outcome = 1 ORDER BY seq"
    for item, relevance, best_class, version in connection.execute(query):
        try:
            values = json.loads(item)
        except RecursionError as error:
            raise damaged(file_of(connection.execute), "an item is nested too deeply") from error
        if version != values.get("version", 0):
            # It was judged anew since.
            values |= {"relevance": round(relevance, 6), "class": best_class, "version": version}
        elif "relevance" in values:
            # Somebody may have said whether it is wanted.
            values["relevance"] = round(relevance, 6)
        yield values


def file_of(query: Query) -> str:
    """The file that a query asks."""
    ((path,),) = query("SELECT file FROM pragma_database_list WHERE name = 'main'", ())
    return str(path)


def rows_in(query: Query, sql: str, numbers: Sequence[int]) -> list[Any]:
    """All rows of a query whose ``({})`` stands for a list of numbers of any length."""
    found: list[Any] = []
    for begin in range(0, len(numbers), _AT_ONCE):
        some = numbers[begin : begin + _AT_ONCE]
        found += query(sql.format(",".join("?" * len(some))), some)
    return found
