"""What a job remembers of itself: of whom it is, and each of its starts, with the reason for which it ended.

A report, or an answer to "why was this page fetched?", needs the prioritizer as it was made, and is read long after.
Of the settings only ours and a list of harmless ones are kept: others may hold passwords.
"""

from __future__ import annotations

import json
import platform
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from scrapy.settings import BaseSettings

from focused.arrays import Damaged
from focused.defaults import DEFAULTS, read
from focused.enabling import scheduler_of
from focused.frontier.records import FILE, Lock, damaged, file_of, read_records
from focused.frontier.steering import STEERING, Steering
from focused.frontier.store import FrontierStore, JobRefused
from focused.parts import Parts, choose_prioritizer
from focused.prioritizers.base import Prioritizer
from focused.registry import UnknownName, find_known
from focused.visits.seeds import CRITIC_STATE

ABOUT, STARTS = "about", "starts"
_MOST_STARTS = 100
_MOST_DIGITS = 18
_SCRAPY_SETTINGS = (
    "USER_AGENT",
    "ROBOTSTXT_OBEY",
    "DOWNLOAD_DELAY",
    "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "AUTOTHROTTLE_ENABLED",
    "DOWNLOAD_TIMEOUT",
    "DOWNLOAD_MAXSIZE",
    "RETRY_TIMES",
    "DEPTH_LIMIT",
    "URLLENGTH_LIMIT",
)
_PACKAGES = ("scrapy", "twisted", "lxml", "numpy", "scikit-learn")


def note_start(store: FrontierStore, parts: Parts, settings: BaseSettings) -> None:
    """Remember how the crawl is made this time, and that it has begun."""
    name, options = choose_prioritizer(parts.topic, settings)
    about = {
        "topic": msgspec.to_builtins(parts.topic, enc_hook=str),
        "critic": parts.critic.name,
        "prioritizer": {"name": name, "options": options},
        "settings": _settings(settings),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
    }
    store.note(ABOUT, json.dumps(about, ensure_ascii=False, default=str))
    start = {"began": _now(), "pages_before": store.standing().pages}
    store.revise(STARTS, lambda kept: _one_more(kept, start))


class _Start(msgspec.Struct):
    """What must be right in the note of a start for it to be counted with."""

    began: Annotated[datetime, Meta(tz=True)]
    pages_before: Annotated[int, Meta(ge=0, le=2**53)]
    ended: Annotated[datetime, Meta(tz=True)] | None = None
    why: str = ""


class _Chosen(msgspec.Struct):
    name: str
    options: dict[str, Any]


class _Named(msgspec.Struct):
    """What a report shows of a topic."""

    name: str
    description: str = ""
    keywords: list[str] = []
    seeds: list[str] = []
    focus: list[str] = []


class _About(msgspec.Struct):
    """What must be right in the note of how a crawl was made."""

    topic: _Named
    prioritizer: _Chosen
    critic: str
    settings: dict[str, Any] = {}
    versions: dict[str, str] = {}


_NOTES: dict[str, Any] = {
    ABOUT: _About,
    STARTS: list[_Start],
    CRITIC_STATE: dict[str, Any],
    STEERING: Steering,
}


def check_scheduler(folder: Path, settings: BaseSettings) -> None:
    """JobRefused if another scheduler had the job: each keeps its links in its own way, and finds none of another's."""
    with closing(read_records(folder)) as records:
        about = read_about(records) if noted(records, ABOUT) else {}
    mine = scheduler_of(settings)
    was = about.get("settings", {}).get("SCHEDULER", mine)
    if was != mine:
        raise JobRefused(
            f"job folder {str(folder)!r} was made with SCHEDULER {was!r}, this crawl has {mine!r}: "
            f"give another JOBDIR, or start the crawl as it was"
        )


def _one_more(kept: str | None, start: dict[str, Any]) -> str:
    starts = [*_parse(kept or "[]", list[_Start]), start]
    return json.dumps(starts[-_MOST_STARTS:], ensure_ascii=False)


def note_end(folder: Path, why: str, figures: Mapping[str, Any]) -> None:
    """Remember why the last start ended. The store must have been closed; JobRefused if another crawl has begun."""
    lock = Lock(folder)
    try:
        with closing(sqlite3.connect(folder / FILE)) as connection, connection:
            starts = read_starts(connection)
            if starts:
                starts[-1] |= {"ended": _now(), "why": why, **figures}
                row = (STARTS, json.dumps(starts, ensure_ascii=False))
                connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)
    finally:
        lock.release()


def read_starts(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """The starts of a job, the first one first."""
    with _naming(connection):
        starts: list[dict[str, Any]] = _parse(noted(connection, STARTS) or "[]", list[_Start])
    return starts


def check_note(key: str, text: str) -> None:
    """Damaged if a note is one of ours and does not say what it should."""
    if key in _NOTES:
        _parse(text, _NOTES[key])


def _parse(text: str | bytes, kind: Any) -> Any:
    """A note, if it says what such a note says; Damaged else."""
    try:
        msgspec.json.decode(text, type=kind)
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"a note cannot be read: {error}") from error


@contextmanager
def _naming(connection: sqlite3.Connection) -> Iterator[None]:
    """JobDamaged, which names the file, instead of Damaged."""
    try:
        yield
    except Damaged as error:
        raise damaged(file_of(connection.execute), error) from error


def read_about(connection: sqlite3.Connection) -> dict[str, Any]:
    """How a job was made when it was started last. JobRefused if that is not recorded."""
    with _naming(connection):
        return parse_about(noted(connection, ABOUT))


def parse_about(text: str | bytes | None) -> dict[str, Any]:
    """How a crawl was made, from the note that `note_start` left; Damaged if it cannot be read."""
    if not text:
        raise JobRefused("it is not recorded how this crawl was made: start it once more, then try again")
    about: dict[str, Any] = _parse(text, _About)
    return about


def untaught_prioritizer(about: Mapping[str, Any]) -> Prioritizer:
    """The prioritizer of a crawl as it was made, with nothing learned. JobRefused if it cannot be made again."""
    chosen = about["prioritizer"]
    try:
        prioritizer: Prioritizer = find_known("prioritizer", chosen["name"])(**chosen["options"])
    except (UnknownName, TypeError, ValueError) as error:
        raise JobRefused(f"the prioritizer of this crawl, {chosen['name']!r}, cannot be made again: {error}") from error
    return prioritizer


def noted(connection: sqlite3.Connection, key: str) -> str | None:
    """A note of a job; None if there is none with this key."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def noted_number(connection: sqlite3.Connection, key: str) -> int | None:
    """A note that is a number."""
    text = noted(connection, key)
    return int(text) if text and text.isdecimal() and len(text) < _MOST_DIGITS else None


def _settings(settings: BaseSettings) -> dict[str, Any]:
    ours = {name: read(settings, name) for name in DEFAULTS}
    changed = {name: value for name, value in ours.items() if value != DEFAULTS[name]}
    kept = {name: settings.get(name) for name in _SCRAPY_SETTINGS}
    return {**changed, **kept, "SCHEDULER": scheduler_of(settings)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
