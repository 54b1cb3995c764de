"""How a crawl stands, in words for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime

from focused.report.status import CUT_SHORT, RUNNING, JobStatus
from focused.report.text import short

_WIDE = 70
_OUTCOMES = {
    "page": "judged",
    "duplicate": "with content fetched before",
    "redirect": "led elsewhere",
    "dead": "dead",
    "denied": "denied",
    "not_html": "not HTML",
    "failed": "failed",
    "other": "ended without a page",
}


def status_json(status: JobStatus) -> str:
    """One JSON object, in one line."""
    return json.dumps({**asdict(status), "running": status.is_running})


def status_lines(status: JobStatus) -> Iterator[str]:
    """Some lines of words, the hosts at the end."""
    yield f"{short(status.topic or status.job, _WIDE)}: {_state(status)}"
    yield f"  job          {short(status.job, _WIDE)}, {_starts(status)}"
    yield f"  pages        {status.pages:,}, {status.relevant:,} relevant"
    yield f"  harvest      {_both(status.harvest_now, status.harvest, '.3f')}"
    yield f"  pace         {_both(status.pace_now, status.pace, ',.1f', ' pages a minute')}"
    yield f"  links        {_outcomes(status)}"
    yield f"  waiting      {_waiting(status)}"
    yield f"  prioritizer  {short(status.prioritizer or 'not known', _WIDE)}; {_learned(status)}"
    yield f"  critic       {short(status.critic or 'not known', _WIDE)}"
    if status.waiting_by_host:
        more = status.hosts_waiting - len(status.waiting_by_host)
        yield ""
        yield "  links waiting, by host"
        yield from (f"  {line.links:>10,}  {short(line.host, _WIDE)}" for line in status.waiting_by_host)
        if more:
            yield f"              and {more:,} more host{'' if more == 1 else 's'}"
    if not status.is_running:
        yield ""
        yield _how_to_go_on(status)


def _state(status: JobStatus) -> str:
    if status.state == RUNNING:
        process = f" (process {status.pid})" if status.pid else ""
        since = f" since {_clock(status.began)}, for {_span(status.began, status.read)}" if status.began else ""
        return f"running{process}{since}"
    if status.state == CUT_SHORT:
        return "not running; it was cut short"
    ended = f" {_clock(status.ended)}" if status.ended else ""
    return f"not running; it ended{ended}" + (f": {short(status.why, _WIDE)}" if status.why else "")


def _how_to_go_on(status: JobStatus) -> str:
    again = f"start the same command again (-s JOBDIR={short(status.job, _WIDE)})"
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


def _outcomes(status: JobStatus) -> str:
    told = [f"{status.outcomes[name]:,} {words}" for name, words in _OUTCOMES.items() if status.outcomes.get(name)]
    return ", ".join(told) or "none has ended yet"


def _waiting(status: JobStatus) -> str:
    links = f"{status.waiting:,} link{'' if status.waiting == 1 else 's'}"
    hosts = f" of {status.hosts_waiting:,} host{'' if status.hosts_waiting == 1 else 's'}" if status.waiting else ""
    if not status.is_running and not status.leased:
        return links + hosts
    return f"{links}{hosts}, {status.leased:,} {'under way' if status.is_running else 'were under way'}"


def _learned(status: JobStatus) -> str:
    if status.model is None:
        return "nothing it has learned is saved"
    lessons = "" if status.lessons is None else f" and {status.lessons:,} lesson{'' if status.lessons == 1 else 's'}"
    return f"model {status.model.version:,}, saved after page {status.model.page:,}{lessons}"


def _clock(time: str | None) -> str:
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC" if time else "at an unknown time"


def _span(since: str | None, until: str) -> str:
    if since is None:
        return "an unknown time"
    seconds = int((datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds())
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0)} seconds"
