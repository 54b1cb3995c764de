"""Every way in which a job folder may be damaged, by name; and what may come of it."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import product
from pathlib import Path

from focused.frontier.layout import FORMAT, RULES
from focused.frontier.records import FILE

Damage = Callable[[Path], object]

WAL, SHM, LOCK = f"{FILE}-wal", f"{FILE}-shm", "lock"
VALUES: dict[str, object] = {
    "null": None,
    "text": "no number at all",
    "a blob": b"\x00\xff\xfe",
    "below zero": -1,
    "2 milliards": 2_000_000_000,
    "2**62": 2**62,
    "nan": float("nan"),
    "much": bytes(3_000_000),
}
_PAGE = 4096
_MOST_MEMORY = 2**30
_LONGEST = 60


def copy_of(job: Path, folder: Path) -> Path:
    """The job once more, as one that was killed leaves it: the last of it is beside the file."""
    shutil.copytree(job, folder)
    with closing(sqlite3.connect(folder / FILE)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE links SET tries = tries + 1")
        writer.commit()
        for name in (WAL, SHM):
            shutil.copy(folder / name, folder / f"kept-{name}")
    for name in (WAL, SHM):
        (folder / f"kept-{name}").rename(folder / name)
    return folder


def _rewritten(name: str, change: Callable[[bytes], bytes]) -> Damage:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def _replaced(name: str, make: Callable[[Path], object]) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return damage


def _flipped(seed: int, count: int) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        places, changed = random.Random(seed), bytearray(data)
        for _ in range(count):
            changed[places.randrange(len(data))] ^= 1 << places.randrange(8)
        return bytes(changed)

    return flip


def _without_page(number: float) -> Callable[[bytes], bytes]:
    """``number``: which page is zeroed, as a share of all."""

    def zero(data: bytes) -> bytes:
        at = int(number * (len(data) // _PAGE)) * _PAGE
        return data[:at] + bytes(_PAGE) + data[at + _PAGE :]

    return zero


def _cut(share: float) -> Callable[[bytes], bytes]:
    return lambda data: data[: int(share * len(data))]


def _other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE meta(about TEXT)")


_INSTEAD: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
    "a loop of links": lambda path: path.symlink_to(path),
    "a link to nowhere": lambda path: path.symlink_to(path.with_name("nowhere")),
    "a pipe": os.mkfifo,
    "a device without end": lambda path: path.symlink_to("/dev/zero"),
    "a device without content": lambda path: path.symlink_to("/dev/null"),
    "gone": lambda path: None,
    "a text": lambda path: path.write_text("not a database, but long enough to be taken for one" * 20),
    "another database": _other_database,
}


def of_files() -> Iterator[tuple[str, Damage]]:
    """Damage to files as such."""
    for name in (FILE, WAL, SHM, LOCK):
        for what, make in _INSTEAD.items():
            yield f"{name} is {what}", _replaced(name, make)
    for name in (FILE, WAL, SHM):
        yield f"{name} is empty", _rewritten(name, lambda data: b"")
        for share in (0.001, 0.3, 0.7, 0.999):
            yield f"{name} ends at {share}", _rewritten(name, _cut(share))
    for share in [number / 12 for number in range(12)]:
        yield f"{FILE} without page {share}", _rewritten(FILE, _without_page(share))
    for count, name, seed in product((1, 100), (FILE, WAL), range(6)):
        yield f"{name} with {count} bits flipped, {seed}", _rewritten(name, _flipped(seed, count))


def _changed(*statements: str, value: object = None) -> Damage:
    def damage(folder: Path) -> None:
        with closing(sqlite3.connect(folder / FILE)) as job, suppress(sqlite3.IntegrityError), job:
            job.execute("PRAGMA ignore_check_constraints = ON")
            for statement in statements:
                job.execute(statement, (value,) if "?" in statement else ())

    return damage


def of_tables() -> Iterator[tuple[str, Damage]]:
    """Damage to tables as a whole."""
    yield "a newer format", _changed("UPDATE meta SET value = ? WHERE key = 'format'", value=str(FORMAT + 1))
    for table, columns in RULES.items():
        yield f"{table} dropped", _changed(f"DROP TABLE {table}")
        yield f"{table} emptied", _changed(f"DELETE FROM {table}")
        yield f"half of {table} gone", _changed(f"DELETE FROM {table} WHERE {next(iter(columns))} % 2 = 1")
        left = ", ".join([*columns][:-1])
        yield (
            f"{table} without its last column",
            _changed(f"CREATE TABLE other AS SELECT {left} FROM {table}", f"DROP TABLE {table}",
                     f"ALTER TABLE other RENAME TO {table}"),
        )  # fmt: skip


def of_values() -> Iterator[tuple[str, Damage]]:
    """Values in the last row of a table that cannot be there."""
    for table, columns in RULES.items():
        first = next(iter(columns))
        for column, (what, value) in product(columns, VALUES.items()):
            where = f"WHERE {first} = (SELECT max({first}) FROM {table})"
            yield f"{table}.{column}: {what}", _changed(f"UPDATE {table} SET {column} = ? {where}", value=value)


DAMAGES = dict([*of_files(), *of_tables(), *of_values()])


@contextmanager
def bounded() -> Iterator[None]:
    """Neither much memory nor for ever."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MOST_MEMORY, limits[1]))
    signal.alarm(_LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
