"""Saves what can be read of a damaged job into a new one, table by table, and says what was lost.

Rows are read in the order of their numbers, from both ends of each stretch that can be read, around what cannot. The
rest follows from what was saved: a link whose page is lost is fetched again; a number that is missing among links or
hosts stays taken, as others refer to it; the index of the evidence is made anew from its blocks.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from focused.arrays import Damaged, load_arrays
from focused.files import make_folder
from focused.frontier.evidence import check_numbers
from focused.frontier.inbox import FILE_NAME
from focused.frontier.layout import FORMAT, MODELS, RULES, SCHEMA, is_sound, numbers_of, problems
from focused.frontier.records import FILE, REPAIRED, file_in, is_no_damage, lock_holder
from focused.frontier.store import JobDamaged, JobRefused, Outcome, State
from focused.pages.evidence import Evidence
from focused.pages.urls import url_to_host, url_to_key
from focused.scheduling.starts import ABOUT, STARTS, check_note

_MOST_PROBES = 20_000
# A link, with its entries in the indexes, takes no less of a file than this.
_LEAST_BYTES = 16
_PAGE_SIZE = 4096
# `evidence` is made anew.
_BY_NUMBER = ("hosts", "links", "blocks", "pages", "gists", "answers", "deaths", "words")
_BY_NAME = ("meta", MODELS)
_EXPECTED = ("topic", "prioritizer", "critic", ABOUT, STARTS)
_INSTEAD = {
    **{"depth": 0, "source": 0, "tries": 0, "base": 0.0, "outcome": 0},
    **{"target": None, "request": None, "detail": None},
}
"""What a link without one of these has in its place."""


@dataclass(slots=True)
class Saved:
    """What a repair has saved: rows by table, and what was lost, in words."""

    rows: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def lose(self, count: int, what: str) -> None:
        """Note that so many things were lost."""
        if count:
            self.lost.append(f"{count:,} {what}")


def repair_job(job: str | Path, folder: Path) -> Saved:
    """Save a job into a new folder. JobRefused if it runs, if there is no job, or if the folder is in use."""
    path = file_in(job)
    if not path.is_file():
        raise JobRefused(f"there is no job in {str(job)!r}: give the JOBDIR of a crawl (it holds {FILE})")
    with suppress(JobDamaged):
        if lock_holder(path.parent) is not None:
            raise JobRefused(f"the job in {str(job)!r} is in use: wait for the crawl to end, then save it")
    make_folder("--repair", folder)
    if any(folder.iterdir()):
        raise JobRefused(f"--repair {str(folder)!r}: it is not empty; give a new folder")
    with _room_in(folder), TemporaryDirectory(dir=folder) as place:
        copy, new = Path(place) / FILE, Path(place) / "new.db"
        shutil.copyfile(path, copy)
        wal = path.with_name(f"{path.name}-wal")
        if wal.is_file():
            shutil.copyfile(wal, copy.with_name(f"{FILE}-wal"))
        with closing(_open(copy)) as old, closing(sqlite3.connect(new)) as into:
            saved = _Repair(old, into, copy.stat().st_size // _LEAST_BYTES).run()
        new.replace(folder / FILE)
    inbox = path.with_name(FILE_NAME)
    if inbox.is_file():
        shutil.copyfile(inbox, folder / FILE_NAME)
    return saved


@contextmanager
def _room_in(folder: Path) -> Iterator[None]:
    """JobRefused if there is none."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        if isinstance(error, sqlite3.Error) and not is_no_damage(error):
            raise
        why = getattr(error, "strerror", None) or error
        raise JobRefused(
            f"--repair {str(folder)!r} cannot be written ({why}): make room for twice the job, or give another folder"
        ) from error


@contextmanager
def _until_damage() -> Iterator[None]:
    """Go on after what cannot be read. A full disk is no damage: what is there would count as lost."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_no_damage(error):
            raise


def _open(copy: Path) -> sqlite3.Connection:
    """The old file. Where its first page is damaged, which says where all others are, it is given that of a new one."""
    connection, is_there = sqlite3.connect(copy), None
    with _until_damage():
        connection.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('links', 'pages')").fetchone()
        is_there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'links'").fetchone()
    if not is_there and copy.stat().st_size >= _PAGE_SIZE:
        connection.close()
        with closing(sqlite3.connect(":memory:")) as fresh:
            fresh.executescript(SCHEMA)
            head = bytearray(fresh.serialize()[:_PAGE_SIZE])
        # How many pages there are, and that none of them is free.
        head[28:32] = (copy.stat().st_size // _PAGE_SIZE).to_bytes(4, "big")
        head[32:40] = bytes(8)
        with copy.open("r+b") as file:
            file.write(head)
        connection = sqlite3.connect(copy)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


class _Repair:
    """One repair: ``most`` is the greatest number that a link or a host can have in a file of that size."""

    def __init__(self, old: sqlite3.Connection, new: sqlite3.Connection, most: int) -> None:
        self._old, self._new, self._most = old, new, most
        self._saved = Saved()

    def run(self) -> Saved:
        """All steps, in the order in which they rest on one another."""
        self._new.executescript(SCHEMA)
        for table in (*_BY_NAME, *_BY_NUMBER):
            self._copy(table)
        self._notes()
        self._links()
        self._hosts()
        self._fill_up()
        self._drop_unsound("meta", "pages", "blocks", "gists", "answers", "deaths", "words", MODELS)
        self._agree()
        self._evidence()
        self._models()
        if wrong := list(problems(self._new)):
            raise JobRefused(f"this job cannot be repaired ({'; '.join(wrong)}): begin anew, with another JOBDIR")
        self._new.commit()
        if not self._new.execute("SELECT 1 FROM links LIMIT 1").fetchone():
            raise JobRefused("nothing of this job can be read: begin anew, with another JOBDIR")
        for table in RULES:
            (self._saved.rows[table],) = self._new.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
        return self._saved

    # --- reading -----------------------------------------------------------------------------------------------

    def _copy(self, table: str) -> None:
        there = [row[1] for row in self._ask(f"PRAGMA table_info({table})") if row[1] in RULES[table]]
        if not there:
            self._saved.lost.append(f"the whole table {table}: it does not exist")
            return
        names, places = ", ".join(there), ", ".join("?" * len(there))
        rows = self._by_name(table, names) if table in _BY_NAME else self._by_number(table, names)
        # Closed while the old file is open, whatever comes.
        with closing(rows):
            self._new.executemany(f"INSERT OR IGNORE INTO {table}({names}) VALUES ({places})", rows)  # noqa: S608

    def _ask(self, query: str, *values: Any) -> list[Any]:
        """All that can be read of the answer, in its order."""
        found: list[Any] = []
        with _until_damage():
            found.extend(self._rows(query, *values))
        return found

    def _rows(self, query: str, *values: Any) -> Iterator[Any]:
        with closing(self._old.execute(query, values)) as rows:
            yield from rows

    def _by_name(self, table: str, names: str) -> Generator[Any, None, None]:
        """A few rows: from both ends, and one by one where only a value is damaged."""
        key = next(iter(RULES[table]))
        rows = {}
        for order in ("ASC", "DESC"):
            for row in self._ask(f"SELECT {key}, {names} FROM {table} ORDER BY 1 {order}"):  # noqa: S608  # our names
                rows[row[0]] = row[1:]
            for (name,) in self._ask(f"SELECT {key} FROM {table} ORDER BY 1 {order}"):  # noqa: S608  # our names
                for row in self._ask(f"SELECT {names} FROM {table} WHERE {key} = ?", name):  # noqa: S608  # our names
                    rows[name] = row
        yield from rows.values()

    def _by_number(self, table: str, names: str) -> Generator[Any, None, None]:
        """Rows in stretches, each from both ends; what lies between is divided, the largest first."""
        query = f"SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid"  # noqa: S608
        most = 2**32 if table == "words" else self._most
        stretches, probes, lost = [(-most, 0, most)], 0, False
        while stretches and probes < _MOST_PROBES:
            _, low, high = heappop(stretches)
            probes += 1
            last = low - 1
            is_whole = False
            with _until_damage():
                for number, *row in self._rows(query, low, high):
                    last = number
                    yield row
                is_whole = True
            if is_whole:
                continue
            lost, first = True, high + 1
            with _until_damage():
                for number, *row in self._rows(f"{query} DESC", last + 1, high):
                    first = number
                    yield row
            low, high = last + 1, first - 1
            if low < high:
                middle = (low + high) // 2
                heappush(stretches, (low - middle, low, middle))
                heappush(stretches, (middle - high, middle + 1, high))
        if lost:
            self._saved.lost.append(f"unreadable rows of the table {table}")

    # --- putting in order --------------------------------------------------------------------------------------

    def _notes(self) -> None:
        notes = dict(self._new.execute("SELECT key, value FROM meta").fetchall())
        if str(notes.get("format", "")).isdecimal() and notes["format"] != str(FORMAT):
            raise JobRefused(
                f"this job has format {notes['format']}, not {FORMAT}: save it with the version that made it"
            )
        self._saved.lost.extend(f"the note {key!r}" for key in _EXPECTED if key not in notes)
        for key, value in notes.items():
            try:
                check_note(key, value)
            except (Damaged, TypeError, AttributeError):
                self._new.execute("DELETE FROM meta WHERE key IS ?", (key,))
                self._saved.lost.append(f"the note {key!r}")
        self._new.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?), (?, 'yes')", (str(FORMAT), REPAIRED))

    def _links(self) -> None:
        """Links with numbers that can be; what is wrong in one and not needed is left out."""
        lost = self._new.execute("DELETE FROM links WHERE id NOT BETWEEN 1 AND ?", (self._most,)).rowcount
        lost += self._new.execute("DELETE FROM links WHERE typeof(url) != 'text'").rowcount
        self._saved.lose(lost, "links")
        hosts = dict(self._new.execute("SELECT name, id FROM hosts WHERE id BETWEEN 1 AND ?", (self._most,)).fetchall())
        for link, url, *values in self._new.execute(_UNSOUND_LINKS, self._numbers()).fetchall():
            row = dict(zip(_MENDED, values, strict=True)) | self._mended(link, url, values, hosts)
            changes = ", ".join(f"{name} = :{name}" for name in row)
            with suppress(sqlite3.IntegrityError):
                self._new.execute(f"UPDATE links SET {changes} WHERE id = :id", {**row, "id": link})  # noqa: S608

    def _mended(self, link: int, url: str, values: list[Any], hosts: dict[str, int]) -> dict[str, Any]:
        right = self._new.execute(_RIGHT, {**self._numbers(), "id": link}).fetchone()
        wrong = [name for name, is_right in zip(_MENDED, right, strict=True) if not is_right]
        host = url_to_host(url)
        if "host" in wrong and host not in hosts:
            hosts[host] = max(hosts.values(), default=0) + 1
            self._new.execute("INSERT OR REPLACE INTO hosts VALUES (?, ?)", (hosts[host], host))
        key = url_to_key(url)
        if self._new.execute("SELECT 1 FROM links WHERE key = ? AND id != ?", (key, link)).fetchone():
            key = -link
        state = State.DONE if dict(zip(_MENDED, values, strict=True))["outcome"] else State.WAITING
        instead = {**_INSTEAD, "key": key, "host": hosts.get(host, 0), "state": state.value}
        return {name: instead[name] for name in wrong}

    def _numbers(self) -> dict[str, int]:
        """The greatest numbers to which anything may refer."""
        bound = {"most": self._most}
        links, hosts = self._new.execute(_GREATEST, bound).fetchone()
        return {"links": links, "hosts": hosts}

    def _hosts(self) -> None:
        self._new.execute("DELETE FROM hosts WHERE id NOT BETWEEN 1 AND ? OR typeof(name) != 'text'", (self._most,))
        known = {row[0] for row in self._new.execute("SELECT id FROM hosts")}
        names = {row[0] for row in self._new.execute("SELECT name FROM hosts")}
        for host in range(1, self._numbers()["hosts"] + 1):
            if host not in known:
                row = self._new.execute("SELECT url FROM links WHERE host = ? LIMIT 1", (host,)).fetchone()
                name = url_to_host(row[0]) if row else ""
                name = name if name and name not in names else f"lost-{host}.invalid"
                names.add(name)
                self._new.execute("INSERT INTO hosts VALUES (?, ?)", (host, name))

    def _fill_up(self) -> None:
        """Every number up to the last is that of a link: of one whose page is there, or of one that is lost."""
        numbers = self._numbers()
        sound = f"SELECT link, url, outcome FROM pages WHERE coalesce({is_sound('pages')}, 0)"  # noqa: S608  # our names
        pages = {row[0]: row[1:] for row in self._new.execute(sound, numbers)}
        known = {row[0] for row in self._new.execute("SELECT id FROM links")}
        lost, hosts = 0, dict(self._new.execute("SELECT name, id FROM hosts").fetchall())
        for link in range(1, numbers["links"] + 1):
            if link in known:
                continue
            url, outcome = pages.get(link, ("", Outcome.OTHER.value))
            lost += link not in pages
            name = url_to_host(url)
            if name not in hosts:
                hosts[name] = len(hosts) + 1
                self._new.execute("INSERT INTO hosts VALUES (?, ?)", (hosts[name], name))
            key = url_to_key(url)
            if not url or self._new.execute("SELECT 1 FROM links WHERE key = ?", (key,)).fetchone():
                key = -link
            row = (link, key, url, hosts[name], 0, 0, State.DONE.value, outcome, "its record was lost", 0.0)
            self._new.execute(_LOST_LINK, row)
        self._saved.lose(lost, "links whose addresses are lost")

    def _drop_unsound(self, *tables: str) -> None:
        numbers = numbers_of(self._new)
        for table in tables:
            query = f"DELETE FROM {table} WHERE NOT coalesce({is_sound(table)}, 0)"  # noqa: S608  # our names
            self._saved.lose(self._new.execute(query, numbers).rowcount, f"rows of the table {table}")

    def _agree(self) -> None:
        """The page of a link is there, or the link is fetched once more."""
        self._new.execute(
            "UPDATE links SET state = 3, outcome = (SELECT outcome FROM pages WHERE link = id) "
            "WHERE id IN (SELECT link FROM pages)"
        )
        again = self._new.execute(
            "UPDATE links SET state = 1, outcome = 0 "
            "WHERE outcome IN (1, 2) AND id NOT IN (SELECT link FROM pages) AND url != ''"
        ).rowcount
        self._saved.lose(again, "pages, which are fetched again if the crawl goes on")
        self._new.execute("UPDATE links SET state = 3, outcome = 8 WHERE outcome IN (1, 2) AND url = ''")
        self._new.execute("DELETE FROM gists WHERE link NOT IN (SELECT link FROM pages)")

    def _evidence(self) -> None:
        numbers, lost = numbers_of(self._new), 0
        for number, data in self._new.execute("SELECT id, data FROM blocks").fetchall():
            try:
                block = Evidence.from_bytes(data)
                check_numbers(block, numbers["links"], numbers["hosts"])
            except Damaged:
                lost += 1
                self._new.execute("DELETE FROM blocks WHERE id = ?", (number,))
                continue
            rows = [(link, number, row) for row, link in enumerate(block.link.tolist()) if link]
            self._new.executemany("INSERT INTO evidence VALUES (?, ?, ?)", rows)
        self._saved.lose(lost, "pages' evidence of their links")

    def _models(self) -> None:
        for name, data in self._new.execute("SELECT name, data FROM models").fetchall():
            try:
                load_arrays(data)
            except Damaged:
                self._new.execute("DELETE FROM models WHERE name = ?", (name,))
                self._saved.lost.append(f"what the {name} has learned, which is learned again if the crawl goes on")


_MENDED = [name for name in RULES["links"] if name not in {"id", "url"}]
_UNSOUND_LINKS = f"SELECT id, url, {', '.join(_MENDED)} FROM links WHERE NOT coalesce({is_sound('links')}, 0)"  # noqa: S608
_RULES = ", ".join(f"coalesce({RULES['links'][name].format(name)}, 0)" for name in _MENDED)
_RIGHT = f"SELECT {_RULES} FROM links WHERE id = :id"  # noqa: S608  # our names
_GREATEST = """
SELECT coalesce((SELECT max(number) FROM (
    SELECT max(id) AS number FROM links WHERE id BETWEEN 0 AND :most
    UNION ALL SELECT max(link) FROM pages WHERE link BETWEEN 0 AND :most
    UNION ALL SELECT max(source) FROM blocks WHERE typeof(source) = 'integer' AND source BETWEEN 0 AND :most)), 0),
    coalesce((SELECT max(number) FROM (
    SELECT max(id) AS number FROM hosts WHERE id BETWEEN 0 AND :most
    UNION ALL SELECT max(host) FROM links WHERE typeof(host) = 'integer' AND host BETWEEN 0 AND :most)), 0)
"""
_LOST_LINK = (
    "INSERT INTO links(id, key, url, host, depth, source, state, outcome, detail, base) VALUES (?,?,?,?,?,?,?,?,?,?)"
)
