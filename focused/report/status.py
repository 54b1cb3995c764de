"""How a crawl stands, in numbers, from its job alone: the job is only read, and its crawl may be under way.

All figures are of one moment. They are counted from the records, so on a frontier of millions of links this takes
seconds; whoever asks again and again should leave pauses (`Status.seconds`). Showing them is the business of
`focused.report.status_text`; how a crawl in Redis stands is told by `focused.redis.reading.status`.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from focused.critics.base import RELEVANT
from focused.frontier.records import FILE, lock_holder, read_records
from focused.frontier.resume import LESSONS, MODEL
from focused.frontier.starts import read_about, read_starts
from focused.frontier.store import JobRefused, Outcome, State
from focused.report.figures import NOW

RUNNING, ENDED, CUT_SHORT = "running", "ended", "cut short"
MOST_HOSTS = 10


@dataclass(frozen=True, slots=True)
class HostWaiting:
    """A host, and how many links of it wait."""

    host: str
    links: int


@dataclass(frozen=True, slots=True)
class SavedModel:
    """What was learned, as the job saved it last: its version in that start, and after which page."""

    version: int
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a crawl stands, wherever its frontier is. ``None`` is what cannot be told (yet).

    ``harvest_now`` and ``pace_now`` are of the last pages; paces are pages a minute. ``seconds`` is how long reading
    took.
    """

    state: str
    topic: str
    prioritizer: str
    critic: str
    pages: int
    relevant: int
    harvest: float | None
    harvest_now: float | None
    pace: float | None
    pace_now: float | None
    outcomes: dict[str, int]
    waiting: int
    leased: int
    hosts_waiting: int
    waiting_by_host: list[HostWaiting]
    read: str
    seconds: float = field(compare=False)

    @property
    def is_running(self) -> bool:
        """Is anybody at work on it?"""
        return self.state == RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus(Status):
    """How the crawl of a job folder stands; the last pages are the last 100.

    ``began`` and ``why`` are of the last start; ``pid`` is the process of a running crawl.
    """

    job: str
    pid: int | None
    starts: int
    began: str | None
    ended: str | None
    why: str
    last_page: str | None
    model: SavedModel | None
    lessons: int | None


def read_status(job: str | Path) -> JobStatus:
    """How the crawl of a job folder stands now. JobRefused if there is none."""
    began = monotonic()
    # Before the records: of a crawl that ends meanwhile they then say that it has.
    path = Path(job)
    pid = lock_holder(path if path.is_dir() else path.parent)
    with closing(read_records(job)) as connection:
        try:
            connection.execute("BEGIN")
            figures = _read(connection, running=pid is not None)
        except sqlite3.DatabaseError as error:
            if pid is not None and "no such table" in str(error):
                raise JobRefused(f"the crawl in {str(job)!r} is just starting: ask again in a moment") from error
            name = str(path / FILE if path.is_dir() else path)
            raise JobRefused(f"{name!r} is not a readable job file ({error}): name the JOBDIR of a crawl") from error
    return JobStatus(job=str(job), pid=pid or None, **figures, seconds=round(monotonic() - began, 3))


def _read(connection: sqlite3.Connection, *, running: bool) -> dict[str, Any]:
    now = datetime.now(UTC)
    starts = read_starts(connection)
    last = starts[-1] if starts else {}
    if running and last.get("ended"):
        # It is opening the job, and has not written down yet that it has begun.
        last = {}
    return {
        "state": RUNNING if running else ENDED if last.get("ended") else CUT_SHORT,
        **_made(connection),
        "starts": len(starts),
        "began": last.get("began"),
        "ended": None if running else last.get("ended"),
        "why": "" if running else last.get("why", ""),
        **_pages(connection, starts, now if running else None),
        **_links(connection),
        **_learned(connection),
        "read": now.isoformat(timespec="seconds"),
    }


def _made(connection: sqlite3.Connection) -> dict[str, str]:
    try:
        about = read_about(connection)
    except JobRefused:
        return {"topic": "", "prioritizer": "", "critic": ""}
    return {"topic": about["topic"]["name"], "prioritizer": about["prioritizer"]["name"], "critic": about["critic"]}


def _pages(connection: sqlite3.Connection, starts: Sequence[Mapping[str, Any]], now: datetime | None) -> dict[str, Any]:
    pages, relevant, harvest = connection.execute(
        "SELECT count(*), coalesce(sum(outcome = 1 AND relevance >= ?), 0), avg(relevance) FROM pages", (RELEVANT,)
    ).fetchone()
    # One more than is told: the pace over the last pages begins where the one before them was judged.
    latest = connection.execute("SELECT relevance, item FROM pages ORDER BY seq DESC LIMIT ?", (NOW + 1,)).fetchall()
    relevance = [row[0] for row in latest[:NOW]]
    times = [time for row in latest if (time := _time_in(row[1]))]
    return {
        "pages": pages,
        "relevant": relevant,
        "harvest": rounded(harvest),
        "harvest_now": rounded(sum(relevance) / len(relevance) if relevance else None),
        "pace": _pace(connection, starts, pages, now or (times[0] if times else None)),
        "pace_now": _pace_now(starts, times, now),
        "last_page": times[0].isoformat(timespec="seconds") if times else None,
    }


def _pace(
    connection: sqlite3.Connection, starts: Sequence[Mapping[str, Any]], pages: int, until: datetime | None
) -> float | None:
    """Pages a minute over all starts, without the time between them."""
    if not starts or not pages:
        return None
    seconds = 0.0
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        began = _time(start["began"])
        if start.get("ended"):
            end = _time(start["ended"])
        elif following is None:
            end = until
        else:
            end = _time_of_page(connection, following["pages_before"])
        if began and end:
            seconds += max((end - began).total_seconds(), 0.0)
    return a_minute(pages - starts[0]["pages_before"], seconds)


def _pace_now(starts: Sequence[Mapping[str, Any]], times: Sequence[datetime], now: datetime | None) -> float | None:
    """Pages a minute over the last pages of the last start; while it runs, a standstill counts."""
    began = _time(starts[-1]["began"]) if starts else None
    if began is None:
        return None
    own = [time for time in times if time >= began]
    if not own:
        return None
    since, count = (own[-1], NOW) if len(own) > NOW else (began, len(own))
    return a_minute(count, ((now or own[0]) - since).total_seconds())


def a_minute(pages: int, seconds: float) -> float | None:
    """A pace, if there is one after so little time."""
    # Times are kept in whole seconds.
    return round(60 * pages / seconds, 1) if seconds >= 1 else None


def _time_of_page(connection: sqlite3.Connection, number: int) -> datetime | None:
    query = "SELECT item FROM pages ORDER BY seq LIMIT 1 OFFSET ?"
    row = connection.execute(query, (number - 1,)).fetchone() if number else None
    return _time_in(row[0]) if row else None


def _time_in(item: str) -> datetime | None:
    return _time(json.loads(item).get("time"))


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _links(connection: sqlite3.Connection) -> dict[str, Any]:
    states: Counter[int] = Counter()
    outcomes: Counter[int] = Counter()
    waiting: Counter[int] = Counter()
    # All in one walk over the links.
    for state, outcome, host, count in connection.execute(
        "SELECT state, outcome, CASE state WHEN 1 THEN host END, count(*) FROM links GROUP BY 1, 2, 3"
    ):
        states[state] += count
        outcomes[outcome] += count
        if state == State.WAITING:
            waiting[host] += count
    most = sorted(waiting.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_HOSTS]
    return {
        "outcomes": by_name(outcomes),
        "waiting": states[State.WAITING],
        "leased": states[State.LEASED],
        "hosts_waiting": len(waiting),
        "waiting_by_host": [HostWaiting(_host(connection, host), count) for host, count in most],
    }


def _host(connection: sqlite3.Connection, number: int) -> str:
    row = connection.execute("SELECT name FROM hosts WHERE id = ?", (number,)).fetchone()
    return str(row[0]) if row else ""


def _learned(connection: sqlite3.Connection) -> dict[str, Any]:
    model = connection.execute("SELECT version, seq FROM models WHERE name = ?", (MODEL,)).fetchone()
    lessons = connection.execute("SELECT value FROM meta WHERE key = ?", (LESSONS,)).fetchone()
    return {"model": SavedModel(*model) if model else None, "lessons": int(lessons[0]) if lessons else None}


def by_name(outcomes: Mapping[int, int]) -> dict[str, int]:
    """How many links ended in each way."""
    return {outcome.name.lower(): outcomes.get(outcome, 0) for outcome in Outcome if outcome}


def rounded(value: float | None) -> float | None:
    """Figures with as many digits as say something."""
    return None if value is None else round(value, 4)
