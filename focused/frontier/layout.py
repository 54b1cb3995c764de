"""The tables of a job's file, and what must hold of their rows.

A crawl, and whoever reads one, relies on it: numbers of links are places in arrays, and what is text to SQLite may
be anything in a file that was damaged. Checked once, when the file is opened: a look at each row, in no more time than
a crawl needs to take them in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

FORMAT = 3

SCHEMA = """
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

MODELS = "models"
"""What was learned: the one table without which a crawl goes on, as its lessons are in the others."""

_TEXT, _BLOB, _INTEGER = "typeof({0}) = 'text'", "typeof({0}) = 'blob'", "typeof({0}) = 'integer'"
_NUMBER = "typeof({0}) IN ('real', 'integer') AND abs({0}) < 1e30"
_JSON = (
    "typeof({0}) = 'text' AND CASE WHEN json_valid({0}) THEN json_type({0}) = 'object' "
    "AND coalesce(json_type({0}, '$.time') IN ('text', 'null'), 1) "
    "AND coalesce(json_type({0}, '$.score') IN ('real', 'integer', 'null'), 1) ELSE 0 END"
)


def _whole(least: int, most: int | str = 2**31 - 1) -> str:
    return f"{_INTEGER} AND {{0}} BETWEEN {least} AND {most}"


def _or_none(rule: str) -> str:
    return f"({{0}} IS NULL OR {rule})"


# Links and hosts are numbered without a gap. Pages are too, but for those that came to nothing in the end.
_LINK, _HOST, _SOURCE, _PLACE = _whole(1, ":links"), _whole(1, ":hosts"), _whole(0, ":links"), "(:links + 1) * 1000"
_COUNT, _ORDER = _whole(0), _whole(0, _PLACE)
RULES: dict[str, dict[str, str]] = {
    "meta": {"key": _TEXT, "value": _TEXT},
    "hosts": {"id": _HOST, "name": _TEXT},
    "links": {
        "id": _LINK,
        "key": _INTEGER,
        "url": _TEXT,
        "host": _HOST,
        "depth": _COUNT,
        "source": _SOURCE,
        "state": _whole(1, 3),
        "outcome": _whole(0, 9),
        "detail": _or_none(_TEXT),
        "tries": _COUNT,
        "base": _NUMBER,
        "target": _or_none(_LINK),
        "request": _or_none(_BLOB),
    },
    "blocks": {"id": _whole(1), "source": _LINK, "version": _COUNT, "data": _BLOB},
    "evidence": {"link": _LINK, "block": _whole(1), "row": _COUNT},
    "pages": {
        "link": _LINK,
        "seq": _whole(1, _PLACE),
        "url": _TEXT,
        "title": _or_none(_TEXT),
        "relevance": _NUMBER,
        "class": _or_none(_TEXT),
        "outcome": _whole(1, 2),
        "digest": _INTEGER,
        "version": _COUNT,
        "item": _JSON,
    },
    "gists": {"link": _LINK, "data": _BLOB},
    "answers": {
        "number": _INTEGER,
        "link": _whole(1),
        "said": "{0} IN ('yes', 'no', 'unknown', 'nothing')",
        "who": _TEXT,
        "time": _TEXT,
        "relevance": _or_none(_NUMBER),
    },
    "deaths": {"id": _whole(1), "link": _LINK, "seq": _ORDER},
    "words": {"id": _whole(0, 2**32 - 1), "word": _TEXT},
    MODELS: {"name": _TEXT, "seq": _ORDER, "deaths": _COUNT, "version": _COUNT, "data": _BLOB},
}
COUNTS = {"links": "SELECT count(*) FROM links", "hosts": "SELECT count(*) FROM hosts"}
AGREE = {
    "pages: not as many as links that ended with a page": (
        "SELECT (SELECT count(*) FROM pages) = (SELECT count(*) FROM links WHERE outcome IN (1, 2))"
    ),
    "evidence: some is of blocks that do not exist": (
        "SELECT NOT EXISTS (SELECT 1 FROM evidence WHERE block NOT IN (SELECT id FROM blocks))"
    ),
}
"""What must hold of tables together."""


def is_sound(table: str) -> str:
    """The condition of SQL that holds of every sound row of a table; with the parameters of `numbers_of`."""
    return " AND ".join(f"({rule.format(column)})" for column, rule in RULES[table].items())


def numbers_of(connection: sqlite3.Connection) -> dict[str, int]:
    """How many links and hosts there are: others have no greater number than that."""
    return {name: connection.execute(query).fetchone()[0] for name, query in COUNTS.items()}


def problems(connection: sqlite3.Connection) -> Iterator[str]:
    """What does not hold, but of the models; sqlite3.DatabaseError if it cannot be read."""
    lacking = list(_lacking(connection))
    yield from lacking
    if lacking:
        return
    numbers = numbers_of(connection)
    for table, columns in RULES.items():
        if table != MODELS and (row := connection.execute(_unsound(table), numbers).fetchone()):
            wrong = next(name for name, value in zip(columns, row, strict=True) if not value)
            yield f"{table}: a row with an invalid {wrong!r}"
    for what, query in AGREE.items():
        if not connection.execute(query).fetchone()[0]:
            yield what


def _unsound(table: str) -> str:
    """The first row that is not sound: of each column, whether it is."""
    each = ", ".join(f"coalesce({rule.format(column)}, 0)" for column, rule in RULES[table].items())
    return f"SELECT {each} FROM {table} WHERE NOT coalesce({is_sound(table)}, 0) LIMIT 1"  # noqa: S608  # our names


def _lacking(connection: sqlite3.Connection) -> Iterator[str]:
    """The tables that are not there, or not as they were made."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(SCHEMA)
        expected = _tables(fresh)
    found = _tables(connection)
    for name, columns in expected.items():
        if name not in found:
            yield f"there is no table {name!r}"
        elif found[name] != columns:
            yield f"the table {name!r} does not have the columns that it was made with"


def _tables(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
