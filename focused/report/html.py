"""The report of a crawl: one HTML file that loads nothing and runs nothing.

Titles, addresses and words come from strangers' pages. Everything is escaped, cut to a length and set apart from the
text around it (``<bdi>``, or a title could turn the rest of its line around), only http addresses become links, and
the page forbids scripts to itself.
"""

from __future__ import annotations

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
from focused.frontier.store import Outcome
from focused.pages.evidence import ADDRESS
from focused.report.charts import bar_chart, line_chart
from focused.report.figures import NOW, Figures
from focused.report.job_source import JobSource
from focused.report.learned import OFFSETS
from focused.report.source import Source
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
        write_report_of(JobSource(connection, job), path)


def write_report_of(source: Source, path: Path) -> None:
    """Write the report of a crawl, wherever that is kept."""
    text = render_report(source)
    with write_whole(path) as file:
        file.write(text.encode("utf-8", "replace"))


def render_report(source: Source) -> str:
    """The report of a crawl, as HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=_number, short=short, where=_where, is_web=_is_web)
    template = resources.files("focused.report").joinpath("templates/report.html").read_text("utf-8")
    return environment.from_string(template).render(**_content(source))


def _content(source: Source) -> dict[str, Any]:
    figures = Figures(source)
    unknown: dict[str, Any] = {
        "topic": {"name": source.place},
        "critic": "",
        "prioritizer": {"name": "", "options": {}},
    }
    about = source.about() or unknown
    starts = source.starts()
    hosts, host_count = figures.hosts(_MOST_HOSTS)
    return {
        "topic": {"description": "", "keywords": [], "focus": [], "seeds": [], **about["topic"]},
        "critic": about["critic"],
        "prioritizer": about["prioritizer"]["name"],
        "prioritizer_options": about["prioritizer"]["options"],
        "settings": about.get("settings", {}),
        "versions": about.get("versions", {}),
        "place": source.place,
        "figures": figures,
        "relevant": RELEVANT,
        "now": NOW,
        "starts": starts,
        "ended": source.ended(),
        "requests": sum(start.requests or 0 for start in starts),
        "hosts": hosts,
        "host_count": host_count,
        "classes": source.classes(_MOST_CLASSES),
        "outcomes": _outcomes(source),
        "best": figures.best(_MOST_PAGES),
        "latest": figures.latest(_MOST_PAGES),
        "some": figures.some(_MOST_PAGES),
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **_charts(figures),
        **_learned(source),
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


def _learned(source: Source) -> dict[str, Any]:
    found = source.learned()
    if found is None:
        return {"learned": []}
    model, learned = found
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


def _outcomes(source: Source) -> list[dict[str, Any]]:
    counts = sorted(source.outcomes().items(), key=lambda pair: -pair[1])
    without = {Outcome.PAGE, Outcome.DUPLICATE, Outcome.REDIRECT}
    return [
        {
            "words": OUTCOMES[outcome],
            "links": count,
            "details": [] if outcome in without else source.details(outcome, 4),
        }
        for outcome, count in counts
    ]


def _number(value: float) -> str:
    return f"{value:,}"


def _where(offset: int) -> str:
    return "address" if offset == ADDRESS else signed(offset)


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))
