"""The status of a crawl, as lines for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from focused.report.status import Status
from focused.report.text import WIDE, counted, listed, outcomes_in_words, short


def status_json(status: Status) -> str:
    """One JSON object, in one line."""
    return json.dumps({**asdict(status), "running": status.is_running})


def status_line(status: Status) -> str:
    """One line, where there are several crawls."""
    links = f"{counted(status.pages, 'page')}, {counted(status.waiting, 'link')} waiting"
    return f"  {short(status.title, WIDE)}: {status.state_in_words()}; {links}"


def status_lines(status: Status) -> Iterator[str]:
    """Some lines of words, the hosts at the end."""
    yield f"{short(status.title, WIDE)}: {status.state_in_words()}"
    lines = (
        status.place_line(),
        ("pages", f"{status.pages:,}, {status.relevant:,} relevant"),
        ("harvest", _now_and_overall(status.harvest_now, status.harvest, ".3f")),
        ("pace", _now_and_overall(status.pace_now, status.pace, ",.1f", " pages per minute")),
        ("links", _outcomes(status)),
        ("waiting", _waiting(status)),
        ("prioritizer", f"{short(status.prioritizer or 'not recorded', WIDE)}; {status.learned_in_words()}"),
        ("critic", short(status.critic or "not recorded", WIDE)),
        *status.further_lines(),
    )
    yield from (f"  {label:<12} {words}" for label, words in lines)
    yield from status.further_lists()
    hosts = [(line.links, short(line.host, WIDE)) for line in status.waiting_by_host]
    yield from listed("links waiting, by host", hosts, status.hosts_waiting, "host")
    if not status.is_running:
        yield ""
        yield status.next_step()


def _now_and_overall(now: float | None, overall: float | None, form: str, unit: str = "") -> str:
    """The figure lately and overall, with its unit once."""
    if overall is None:
        return "not known yet"
    lately = "" if now is None else f"{now:{form}}{unit} lately, "
    return f"{lately}{overall:{form}}{'' if lately else unit} overall"


def _outcomes(status: Status) -> str:
    parts = outcomes_in_words(status.outcomes)
    if status.unfollowed:
        parts.append(f"{counted(status.unfollowed, 'link')} of duplicates not followed")
    return ", ".join(parts) or "none has ended yet"


def _waiting(status: Status) -> str:
    links = counted(status.waiting, "link")
    hosts = f" on {counted(status.hosts_waiting, 'host')}" if status.waiting else ""
    if not status.is_running and not status.leased:
        return links + hosts
    return f"{links}{hosts}, {status.leased:,} {'' if status.is_running else 'were '}in progress"
