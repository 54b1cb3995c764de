"""How a crawl stands, in words for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime

from focused.report.status import CUT_SHORT, RUNNING, JobStatus, Status
from focused.report.text import short

WIDE = 70
_OUTCOMES = {
    "page": "judged",
    "duplicate": "with content fetched before",
    "redirect": "redirected elsewhere",
    "dead": "dead",
    "denied": "denied",
    "not_html": "not HTML",
    "failed": "failed",
    "other": "ended without a page",
}


def status_json(status: Status) -> str:
    """One JSON object, in one line."""
    return json.dumps({**asdict(status), "running": status.is_running})


def status_lines(status: JobStatus) -> Iterator[str]:
    """Some lines of words, the hosts at the end."""
    yield f"{short(status.topic or status.job, WIDE)}: {_state(status)}"
    yield f"  job          {short(status.job, WIDE)}, {_starts(status)}"
    yield from figure_lines(status, _learned(status))
    yield from host_lines(status)
    if not status.is_running:
        yield ""
        yield _how_to_go_on(status)


def figure_lines(status: Status, learned: str) -> Iterator[str]:
    """What there is to tell of every crawl; ``learned`` is what its prioritizer has learned, in words."""
    yield f"  pages        {status.pages:,}, {status.relevant:,} relevant"
    yield f"  harvest      {_both(status.harvest_now, status.harvest, '.3f')}"
    yield f"  pace         {_both(status.pace_now, status.pace, ',.1f', ' pages a minute')}"
    yield f"  links        {_outcomes(status)}"
    yield f"  waiting      {_waiting(status)}"
    yield f"  prioritizer  {short(status.prioritizer or 'not known', WIDE)}; {learned}"
    yield f"  critic       {short(status.critic or 'not known', WIDE)}"


def host_lines(status: Status) -> Iterator[str]:
    """The hosts with the most links that wait, below an empty line."""
    if not status.waiting_by_host:
        return
    yield ""
    yield "  links waiting, by host"
    yield from (f"  {line.links:>10,}  {short(line.host, WIDE)}" for line in status.waiting_by_host)
    more = status.hosts_waiting - len(status.waiting_by_host)
    if more:
        yield f"              and {counted(more, 'more host')}"


def counted(number: int, what: str) -> str:
    """1 link, 2 links."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def span(seconds: float) -> str:
    """A time in the largest unit of which it has two."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return counted(max(int(seconds), 0), "second")


def _state(status: JobStatus) -> str:
    if status.state == RUNNING:
        process = f" (process {status.pid})" if status.pid else ""
        since = f" since {_clock(status.began)}, for {_span(status.began, status.read)}" if status.began else ""
        return f"running{process}{since}"
    if status.state == CUT_SHORT:
        return "not running; it was cut short"
    ended = f" {_clock(status.ended)}" if status.ended else ""
    return f"not running; it ended{ended}" + (f": {short(status.why, WIDE)}" if status.why else "")


def _how_to_go_on(status: JobStatus) -> str:
    again = f"start the same command again (-s JOBDIR={short(status.job, WIDE)})"
    if status.state == CUT_SHORT:
        return f"To go on, {again}: what was under way is fetched again, the rest is kept."
    if status.waiting or status.leased:
        return f"To go on, {again}; it goes on as far as its limits allow."
    return "Nothing is left to follow."


def _starts(status: JobStatus) -> str:
    return f"started {status.starts:,} times" if status.starts != 1 else f"started {_clock(status.began)}"


def _both(now: float | None, in_all: float | None, form: str, unit: str = "") -> str:
    """What holds lately and what over all; the unit stands once."""
    told = [
        format(value, form) + over for value, over in ((now, "{} lately"), (in_all, "{} over all")) if value is not None
    ]
    return ", ".join(told).replace("{}", unit, 1).replace("{}", "") if told else "nothing to tell yet"


def _outcomes(status: Status) -> str:
    told = [f"{status.outcomes[name]:,} {words}" for name, words in _OUTCOMES.items() if status.outcomes.get(name)]
    return ", ".join(told) or "none has ended yet"


def _waiting(status: Status) -> str:
    links = counted(status.waiting, "link")
    hosts = f" of {counted(status.hosts_waiting, 'host')}" if status.waiting else ""
    if not status.is_running and not status.leased:
        return links + hosts
    return f"{links}{hosts}, {status.leased:,} {'under way' if status.is_running else 'were under way'}"


def _learned(status: JobStatus) -> str:
    if status.model is None:
        return "nothing it has learned is saved"
    lessons = "" if status.lessons is None else f" and {counted(status.lessons, 'lesson')}"
    return f"model {status.model.version:,}, saved after page {status.model.page:,}{lessons}"


def _clock(time: str | None) -> str:
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC" if time else "at an unknown time"


def _span(since: str | None, until: str) -> str:
    if since is None:
        return "an unknown time"
    return span((datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds())
