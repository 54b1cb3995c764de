"""Crawler traps: a calendar without an end, and a forum that gives every visitor new addresses.

A file holds only so much: the calendar's last month links to one that is dead, and the forum knows a dozen sessions.
"""

from __future__ import annotations

from focused.lab.demo.detours import THREADS
from focused.lab.demo.markup import bullets, paragraphs
from focused.lab.demo.sites import FIRST_MONTH, WITH_CALENDAR, WITH_FORUM, DemoSite, Sites
from focused.lab.demo.web import GeneratedWeb


def add_traps(web: GeneratedWeb, sites: Sites, sessions: list[str], *, months: int) -> None:
    """Add calendars of so many months together, and the forum, as seen in each session."""
    for host in WITH_CALENDAR:
        _add_calendar(web, sites.by_host[host], sites, months // len(WITH_CALENDAR))
    threads = {n: paragraphs(sites.prose["chess"].paragraph(3) for _ in range(4)) for n in range(1, THREADS + 1)}
    for session in sessions:
        _add_forum(web, sites.by_host[WITH_FORUM], threads, session)


def _add_calendar(web: GeneratedWeb, site: DemoSite, sites: Sites, months: int) -> None:
    for number in range(months):
        near = [(name, _month(number + step)) for name, step in _STEPS if number + step >= 0]
        title = f"Calendar: {_month(number).removeprefix('/calendar/').removesuffix('.html')}"
        events = bullets(("/about.html", sites.prose["news"].words(4)) for _ in range(3))
        body = f"{events}\n{bullets((path, name) for name, path in near)}"
        web.add_labelled(site.url(_month(number)), "other", title, site.page(title, body))


_STEPS = (("previous month", -1), ("next month", 1), ("a year later", 12))


def _month(number: int) -> str:
    first = int(FIRST_MONTH.removeprefix("/calendar/")[:4])
    return f"/calendar/{first + number // 12}-{number % 12 + 1:02}.html"


def _add_forum(web: GeneratedWeb, site: DemoSite, threads: dict[int, str], session: str) -> None:
    """Every thread under one session's addresses; each links to others with the session it was asked for with."""
    for number, text in threads.items():
        others = [number % THREADS + 1, (number + 4) % THREADS + 1]
        links = bullets((f"/forum/{other}.php?sid={session}", f"Thread {other}") for other in others)
        url = site.url(f"/forum/{number}.php?sid={session}")
        web.add_labelled(url, "chess", f"Thread {number}", site.page(f"Thread {number}", f"{text}\n{links}"))
        web.hidden.add(url)
