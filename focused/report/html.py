"""The report of a crawl: one HTML file that loads nothing. Its one script sorts and searches the list of found pages.

Titles, addresses and words come from strangers' pages. Everything is escaped, cut to a length and set apart from the
text around it (``<bdi>``, or a title could turn the rest of its line around), only http addresses become links, and
the page forbids itself all scripts but ours, by its hash.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from focused.critics.base import RELEVANT
from focused.files import write_whole
from focused.frontier.store import JobRefused, Outcome
from focused.pages.evidence import ADDRESS, NAMED
from focused.prioritizers.base import CRITIC
from focused.report.charts import bar_chart, line_chart
from focused.report.figures import PageFigures
from focused.report.learned import OFFSETS, learned_by_offset, saved_prioritizer
from focused.report.reader import CrawlReader
from focused.report.status import LATELY, Status
from focused.report.text import OUTCOMES, clock, short, signed

_MOST_HOSTS, _MOST_CLASSES, _MOST_PAGES, _MOST_DETAILS = 40, 15, 12, 4
_MOST_FOUND = 10_000
_WITHOUT_DETAILS = {"page", "duplicate", "redirect"}
_WIDE, _NARROW = 960, 340
_ROWS = {ADDRESS: "address", NAMED: "named"}
_KINDS = {0: "words near a link, by their offset", ADDRESS: "words of its address", NAMED: "features with a name"}


def write_report(reader: CrawlReader, path: Path) -> None:
    """Write the report of a crawl, which may be under way."""
    text = render_report(reader)
    with write_whole(path) as file:
        file.write(text.encode("utf-8", "replace"))


def render_report(reader: CrawlReader) -> str:
    """The report of a crawl, as HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        clock=clock, number="{:,}".format, short=short, weight=_weight, where=_where, is_web=_is_web
    )
    script = template("found.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    page = environment.from_string(template("report.html"))
    # Script and looks are ours, and have no figure of the crawl in them.
    ours = {"script": Markup(script), "looks": Markup(template("looks.css"))}  # noqa: S704
    return page.render(**_content(reader), **ours, script_hash=digest)


def template(name: str) -> str:
    """A file that the report is made of; the page to watch shares its looks."""
    return resources.files("focused.report").joinpath("templates", name).read_text("utf-8")


def _content(reader: CrawlReader) -> dict[str, Any]:
    status, starts = reader.status(most_hosts=0), reader.starts()
    table = reader.page_table()
    figures = PageFigures(table)
    waiting = {line.host: line.links for line in status.waiting_by_host}
    hosts, host_count = figures.hosts(waiting, _MOST_HOSTS)
    found = figures.best(_MOST_FOUND, least=RELEVANT)
    state = status.state_in_words()
    return {
        **_how_it_was_made(reader),
        "where": reader.where,
        "status": status,
        "state": f"{state[0].upper()}{state[1:]}.",
        "duplicates": status.outcomes["duplicate"],
        "relevant": RELEVANT,
        "lately": LATELY,
        "starts": starts,
        "requests": sum(start.get("requests") or 0 for start in starts),
        "hosts": hosts,
        "host_count": host_count,
        "classes": figures.classes(_MOST_CLASSES),
        "outcomes": _outcomes(reader, status),
        "found": reader.pages(found or figures.best(_MOST_PAGES)),
        "latest": reader.pages(figures.latest(_MOST_PAGES)),
        "some": reader.pages(figures.some(_MOST_PAGES)),
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **_charts(figures),
        **_learned(reader, table.link.tolist()),
    }


def _how_it_was_made(reader: CrawlReader) -> dict[str, Any]:
    nothing: dict[str, Any] = {"settings": {}, "versions": {}}
    try:
        about = nothing | reader.about()
    except JobRefused:
        about = {**nothing, "topic": {"name": reader.name}, "critic": "", "prioritizer": {"name": "", "options": {}}}
    topic = {"description": "", "keywords": [], "focus": [], "seeds": [], **about["topic"]}
    return {**about, "topic": topic}


def _charts(figures: PageFigures) -> dict[str, Markup]:
    now, so_far = figures.curve()
    curves = {f"the last {LATELY} pages": now, "all pages so far": so_far}
    return {
        "harvest_chart": _both(
            lambda width: line_chart(curves, x_label="pages", y_label="mean relevance", width=width, height=300)
        ),
        "relevance_chart": _both(
            lambda width: bar_chart(figures.histogram(), x_label="relevance", y_label="pages", width=width, height=260),
            wide=480,
        ),
    }


def _both(draw: Callable[[int], str], wide: int = _WIDE) -> Markup:
    """A chart as wide as the page, and one for a phone, of which one is shown. Charts escape what they are given."""
    return Markup(f'<div class="on-wide">{draw(wide)}</div><div class="on-phone">{draw(_NARROW)}</div>')  # noqa: S704


def _learned(reader: CrawlReader, pages: Sequence[int]) -> dict[str, Any]:
    try:
        prioritizer, when = saved_prioritizer(reader)
    except JobRefused:
        return {"learned": []}
    learned = learned_by_offset(reader, prioritizer, pages)
    bars = [(signed(at.offset), at.mass) for at in learned if at.offset in OFFSETS]
    titles = {"x_label": "offset from the link", "y_label": "weight per link"}
    chart = _both(lambda width: bar_chart(bars, **titles, width=width, height=220)) if bars else ""
    # A prioritizer that asks the critic learns only what the words say beyond the critic's opinion.
    asks = any(one.heading == CRITIC for name, one in prioritizer.shown.items() if name == "words around")
    kinds = [_KINDS[kind] for kind in (0, ADDRESS, NAMED) if any(at.offset == kind for at in learned)]
    about = {"learned_about": " and ".join(kinds), "learned_when": when, "asks_critic": asks}
    return {"learned": learned, **about, "mass_chart": chart}


def _outcomes(reader: CrawlReader, status: Status) -> list[dict[str, Any]]:
    counts = sorted(status.outcomes.items(), key=lambda pair: -pair[1])
    return [
        {
            "words": OUTCOMES[name],
            "links": count,
            "details": [] if name in _WITHOUT_DETAILS else reader.details(Outcome[name.upper()], _MOST_DETAILS),
        }
        for name, count in counts
        if count
    ]


def _weight(value: float) -> str:
    return f"{value:.2g}".replace("-", "\u2212")


def _where(offset: int) -> str:
    return _ROWS.get(offset) or signed(offset)


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))
