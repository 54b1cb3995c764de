"""The report of a job: one HTML file that loads nothing and runs nothing.

Titles, addresses and words come from strangers' pages. Everything is escaped, cut to a length and set apart from the
text around it (``<bdi>``, or a title could turn the rest of its line around), only http addresses become links, and
the page forbids scripts to itself.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from focused.critics.base import RELEVANT
from focused.files import write_whole
from focused.frontier.records import read_records
from focused.frontier.starts import read_about, read_starts
from focused.frontier.store import JobRefused, Outcome
from focused.pages.evidence import ADDRESS
from focused.report.charts import bar_chart, line_chart
from focused.report.figures import NOW, Figures
from focused.report.learned import OFFSETS, learned_by_offset, read_model
from focused.report.text import short, signed

OUTCOMES = {
    Outcome.PAGE: "page, judged",
    Outcome.DUPLICATE: "same content as a page fetched before",
    Outcome.DEAD: "dead",
    Outcome.DENIED: "denied",
    Outcome.NOT_HTML: "not HTML",
    Outcome.FAILED: "failed",
    Outcome.REDIRECT: "led to another address",
    Outcome.OTHER: "ended without a page",
}
_MOST_HOSTS, _MOST_CLASSES, _MOST_PAGES = 40, 15, 12


def write_report(job: Path, path: Path) -> None:
    """Write the report of a job folder; the job may be under way. JobRefused if there is none."""
    with closing(read_records(job)) as connection:
        text = render_report(connection, job)
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(path) as file:
        file.write(text.encode("utf-8", "replace"))


def render_report(connection: sqlite3.Connection, job: Path) -> str:
    """The report of a job's records, as HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=_number, short=short, where=_where, is_web=_is_web)
    source = resources.files("focused.report").joinpath("templates/report.html").read_text("utf-8")
    return environment.from_string(source).render(**_content(connection, job))


def _content(connection: sqlite3.Connection, job: Path) -> dict[str, Any]:
    figures = Figures(connection)
    try:
        about = read_about(connection)
    except JobRefused:
        about = {"topic": {"name": job.name}, "critic": "", "prioritizer": {"name": "", "options": {}}}
    starts = _starts(connection, figures)
    hosts, host_count = figures.hosts(_MOST_HOSTS)
    return {
        "topic": {"description": "", "keywords": [], "focus": [], "seeds": [], **about["topic"]},
        "critic": about["critic"],
        "prioritizer": about["prioritizer"]["name"],
        "prioritizer_options": about["prioritizer"]["options"],
        "settings": about.get("settings", {}),
        "versions": about.get("versions", {}),
        "job": job,
        "figures": figures,
        "relevant": RELEVANT,
        "now": NOW,
        "starts": starts,
        "ended": _ended(starts),
        "requests": sum(start["requests"] or 0 for start in starts),
        "hosts": hosts,
        "host_count": host_count,
        "classes": figures.classes(_MOST_CLASSES),
        "outcomes": _outcomes(figures),
        "best": figures.best(_MOST_PAGES),
        "latest": figures.latest(_MOST_PAGES),
        "some": figures.some(_MOST_PAGES),
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **_charts(figures),
        **_learned(connection),
    }


def _charts(figures: Figures) -> dict[str, Markup]:
    now, so_far = figures.curve()
    harvest = line_chart(
        {f"the last {NOW} pages": now, "all pages so far": so_far},
        x_label="pages fetched",
        y_label="mean relevance",
        width=960,
        height=320,
    )
    relevance = bar_chart(figures.histogram(), x_label="relevance", y_label="pages", width=560, height=280)
    # The charts escape what they are given, and are SVG.
    return {"harvest_chart": Markup(harvest), "relevance_chart": Markup(relevance)}  # noqa: S704


def _learned(connection: sqlite3.Connection) -> dict[str, Any]:
    try:
        model = read_model(connection)
    except JobRefused:
        return {"learned": []}
    learned = learned_by_offset(connection, model.prioritizer)
    chart = bar_chart(
        [(signed(at.offset), at.mass) for at in learned if at.offset in OFFSETS],
        x_label="offset from the link",
        y_label="weight per link",
        width=960,
        height=220,
    )
    # Who asks the critic learns only what the words say beyond its opinion.
    asks = getattr(model.prioritizer, "reads", False)
    return {"learned": learned, "learned_pages": model.pages, "asks_critic": asks, "mass_chart": Markup(chart)}  # noqa: S704


def _starts(connection: sqlite3.Connection, figures: Figures) -> list[dict[str, Any]]:
    """The starts of a job; how many pages each fetched is told by the next one, or by the records."""
    starts = read_starts(connection)
    before = [start["pages_before"] for start in starts] + [figures.pages]
    return [
        {
            "began": start["began"],
            "ended": start.get("ended"),
            "why": start.get("why") or ("it was cut short" if i + 1 < len(starts) else ""),
            "requests": start.get("requests"),
            "pages": max(before[i + 1] - before[i], 0),
        }
        for i, start in enumerate(starts)
    ]


def _ended(starts: list[dict[str, Any]]) -> str:
    if not starts:
        return "It is not known how this crawl ended."
    if not starts[-1]["ended"]:
        return "This crawl is under way, or it was cut short: the same command goes on with it."
    why = starts[-1]["why"]
    return f"Why it ended: {why}." if why else "The crawl has ended."


def _outcomes(figures: Figures) -> list[dict[str, Any]]:
    counts = sorted(figures.outcomes.items(), key=lambda pair: -pair[1])
    without = {Outcome.PAGE, Outcome.DUPLICATE, Outcome.REDIRECT}
    return [
        {
            "words": OUTCOMES[outcome],
            "links": count,
            "details": [] if outcome in without else figures.details(outcome, 4),
        }
        for outcome, count in counts
    ]


def _number(value: float) -> str:
    return f"{value:,}"


def _where(offset: int) -> str:
    return "address" if offset == ADDRESS else signed(offset)


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))
