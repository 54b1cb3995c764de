"""The status of the crawl of a job folder, from its records alone: they are only read, and the crawl may be running.

Everything is counted from the records, so on a frontier of millions of links this takes seconds; whoever asks again
and again should leave pauses (`Status.seconds`).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from time import monotonic
from typing import Any

from focused.critics.base import RELEVANT
from focused.frontier.layout import MODELS, is_sound, numbers_of
from focused.frontier.store import Outcome, State
from focused.report.status import (
    CUT_SHORT,
    ENDED,
    LATELY,
    RUNNING,
    UNFOLLOWED,
    AnswerCounts,
    HostWaiting,
    Status,
    made_as,
    outcomes_by_name,
    per_minute,
    rounded,
)
from focused.report.text import WIDE, clock, counted, short, time_span
from focused.scheduling.starts import ABOUT, noted, noted_number, read_about, read_starts
from focused.visits.training import LESSONS, MODEL

_ANSWERS = "SELECT said, relevance FROM answers WHERE number IN (SELECT max(number) FROM answers GROUP BY link)"
_TIME = "json_extract(item, '$.time')"


@dataclass(frozen=True, slots=True)
class ModelSaved:
    """What was learned, as the job saved it last: its version in that start, and after which page."""

    version: int
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus(Status):
    """The status of the crawl of a job folder; the last pages are the last 100.

    ``began`` and ``why`` are of the last start; ``pid`` is the process of a running crawl.
    """

    job: str
    pid: int | None
    starts: int
    began: str | None
    ended: str | None
    why: str
    last_page: str | None
    model: ModelSaved | None
    lessons: int | None

    @property
    def title(self) -> str:
        return self.topic or self.job

    def state_in_words(self) -> str:
        if self.is_running:
            return f"running{f' (process {self.pid})' if self.pid else ''}{self._since()}"
        if self.state == CUT_SHORT:
            return "not running; it was cut short" if self.starts else "not running; it is not recorded how it ended"
        # How to go on is said below.
        why = short(self.why.partition("; run the same command again")[0], WIDE)
        return f"not running; it ended {clock(self.ended)}{f': {why}' if why else ''}"

    def _since(self) -> str:
        if not self.began:
            return ""
        seconds = (datetime.fromisoformat(self.read) - datetime.fromisoformat(self.began)).total_seconds()
        return f" since {clock(self.began)}, for {time_span(seconds)}"

    def place_line(self) -> tuple[str, str]:
        times = f"{self.starts:,} times" if self.starts != 1 else clock(self.began)
        return "job", f"{short(self.job, WIDE)}, started {times}"

    def learned_in_words(self) -> str:
        if self.model is None:
            return "it has saved nothing yet"
        if not self.model.page:
            return f"model {self.model.version:,}, which is being taught anew"
        lessons = "" if self.lessons is None else f" and {counted(self.lessons, 'lesson')}"
        return f"model {self.model.version:,}, saved after page {self.model.page:,}{lessons}"

    @property
    def again(self) -> str:
        return f"run the same command again (-s JOBDIR={short(self.job, WIDE)})"


def read_job_status(
    connection: sqlite3.Connection, job: str, pid: int | None, most_hosts: int, *, told: Mapping[str, Any] | None = None
) -> JobStatus:
    """The status now; ``pid`` is the process that uses the job, 0 if unknown, None if none does."""
    start = monotonic()
    running, now = pid is not None, datetime.now(UTC)
    starts = read_starts(connection)
    last = starts[-1] if starts else {}
    if running and last.get("ended"):
        # It is opening the job, and has not written down yet that it has begun.
        last = {}
    return JobStatus(
        job=job,
        pid=pid or None,
        state=RUNNING if running else ENDED if last.get("ended") else CUT_SHORT,
        **_made(connection),
        starts=len(starts),
        began=last.get("began"),
        ended=None if running else last.get("ended"),
        why="" if running else last.get("why", ""),
        **_pages(connection, starts, now if running else None),
        **_links(connection, most_hosts),
        **_learned(connection),
        answers=AnswerCounts.of(connection.execute(_ANSWERS)),
        **(told or {}),
        read=now.isoformat(timespec="seconds"),
        seconds=round(monotonic() - start, 3),
    )


def _made(connection: sqlite3.Connection) -> dict[str, Any]:
    made = noted(connection, ABOUT)
    return made_as(read_about(connection)) if made else dict.fromkeys(("topic", "prioritizer", "critic"), "")


def _pages(connection: sqlite3.Connection, starts: Sequence[Mapping[str, Any]], now: datetime | None) -> dict[str, Any]:
    pages, relevant, harvest, wanted = connection.execute(
        "SELECT count(*), coalesce(sum(relevance >= ?) FILTER (WHERE outcome = 1), 0), "
        "avg(relevance) FILTER (WHERE outcome = 1), total(relevance) FILTER (WHERE outcome = 1) FROM pages",
        (RELEVANT,),
    ).fetchone()
    # One more than is shown: the pace over the last pages begins where the one before them was judged.
    query = f"SELECT relevance, outcome, {_TIME} FROM pages ORDER BY seq DESC LIMIT ?"  # noqa: S608  # a column of ours
    latest = connection.execute(query, (LATELY + 1,)).fetchall()
    relevance = [row[0] for row in latest[:LATELY] if row[1] == Outcome.PAGE]
    times = [time for row in latest if (time := _moment(row[2]))]
    return {
        "pages": pages,
        "relevant": relevant,
        "relevant_now": sum(one >= RELEVANT for one in relevance),
        "wanted": rounded(wanted),
        "harvest": rounded(harvest),
        "harvest_now": rounded(fmean(relevance) if relevance else None),
        "pace": _pace(connection, starts, pages, now) if starts and pages else None,
        "pace_now": _pace_now(datetime.fromisoformat(starts[-1]["began"]), times, now) if starts else None,
        "last_page": times[0].isoformat(timespec="seconds") if times else None,
    }


def _moment(text: str | None) -> datetime | None:
    """A time of day and year with its zone; None where there is none."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _pace(
    connection: sqlite3.Connection, starts: Sequence[Mapping[str, Any]], pages: int, now: datetime | None
) -> float | None:
    """Pages a minute over all starts, without the time between them."""
    seconds = 0.0
    for start, last_page in zip(starts, last_pages(starts, pages), strict=True):
        ended = start.get("ended") or (now.isoformat() if now and start is starts[-1] else "")
        # One that was cut short ended with its last page.
        ended = ended or _time_of_page(connection, last_page)
        if until := _moment(ended):
            span = until - datetime.fromisoformat(start["began"])
            seconds += max(span.total_seconds(), 0.0)
    return per_minute(pages - starts[0]["pages_before"], seconds)


def last_pages(starts: Sequence[Mapping[str, Any]], pages: int) -> list[int]:
    """The number of the last page of each start, of so many pages in all."""
    return [*(start["pages_before"] for start in starts[1:]), pages]


def _pace_now(began: datetime, times: Sequence[datetime], now: datetime | None) -> float | None:
    """Pages a minute over the last pages of the last start; while it runs, a standstill counts."""
    marks = [*(time for time in times if time >= began), began][: LATELY + 1]
    return per_minute(len(marks) - 1, ((now or marks[0]) - marks[-1]).total_seconds()) if len(marks) > 1 else None


def _time_of_page(connection: sqlite3.Connection, number: int) -> str | None:
    query = f"SELECT {_TIME} FROM pages ORDER BY seq LIMIT 1 OFFSET ?"  # noqa: S608  # a column of ours
    row = connection.execute(query, (number - 1,)).fetchone() if number else None
    return row[0] if row else None


def _links(connection: sqlite3.Connection, most_hosts: int) -> dict[str, Any]:
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
    most = sorted(waiting.items(), key=lambda pair: (-pair[1], pair[0]))[: most_hosts or None]
    return {
        "outcomes": outcomes_by_name(outcomes),
        "unfollowed": noted_number(connection, UNFOLLOWED) or 0,
        "waiting": states[State.WAITING],
        "leased": states[State.LEASED],
        "hosts_waiting": len(waiting),
        "waiting_by_host": [HostWaiting(_host(connection, host), count) for host, count in most],
    }


def _host(connection: sqlite3.Connection, number: int) -> str:
    row = connection.execute("SELECT name FROM hosts WHERE id = ?", (number,)).fetchone()
    return str(row[0]) if row else ""


def _learned(connection: sqlite3.Connection) -> dict[str, Any]:
    query = f"SELECT version, seq FROM models WHERE name = :name AND {is_sound(MODELS)}"  # noqa: S608  # our names
    model = connection.execute(query, {"name": MODEL, **numbers_of(connection)}).fetchone()
    return {"model": ModelSaved(*model) if model else None, "lessons": noted_number(connection, LESSONS)}
