"""A crawl as plain data, for the page and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from focused.defaults import DEFAULTS, SETTINGS
from focused.frontier.store import Says
from focused.pages.evidence import ADDRESS, NAMED
from focused.pages.tokens import words
from focused.report.charts import line_chart
from focused.report.figures import PageFigures
from focused.report.learned import AtOffset, LearnedWord, learned_by_offset, saved_prioritizer
from focused.report.nearby import text_near
from focused.report.now import MOST_HOSTS, MOST_WARNINGS
from focused.report.questions import pages_to_ask_about
from focused.report.reader import CrawlReader, PageLine, PageTable
from focused.report.status import LATELY, Status
from focused.report.text import OUTCOMES, counted, short
from focused.report.waiting import next_links
from focused.watch.crawls import LastLook, Watched
from focused.watch.found import HostTally, page_json

_LATEST, _MOST_HOSTS, _MOST_WORDS, _MOST_SEEDS, _MOST_ORDERS = 12, 10, 12, 20, 100
_STOPS = "_STOP_"
_GROUPS = (
    ("in the text of a link", lambda offset: offset == 0),
    ("around a link", lambda offset: offset not in {0, ADDRESS, NAMED}),
    ("in its address", lambda offset: offset == ADDRESS),
    ("of its place, and what the critic says of its text", lambda offset: offset == NAMED),
)


def brief(crawl: Watched) -> dict[str, Any]:
    """A crawl among others: one line."""
    status = crawl.seen.status
    figures: dict[str, Any] = {}
    if status is not None:
        figures = {
            "title": short(status.title, 200),
            "state": status.state,
            "state_in_words": status.state_in_words(),
            "pages": status.pages,
            "found": status.relevant,
            "harvest": status.harvest,
            "waiting": status.waiting,
        }
    return {"id": crawl.key, "name": short(crawl.name, 200), "problem": crawl.seen.problem, **figures}


def view(crawl: Watched) -> dict[str, Any]:
    """All that changes while a crawl runs."""
    seen = crawl.seen
    whole = {**brief(crawl), "number": seen.number}
    return whole if seen.status is None else {**whole, **_view(seen.status, seen, crawl.hosts)}


def _view(status: Status, seen: LastLook, hosts: Mapping[str, HostTally]) -> dict[str, Any]:
    about, marks = seen.about or {}, dict(seen.marks or {})
    settings = about.get("settings", {})
    return {
        "topic": short(status.topic, 200),
        "is_running": status.is_running,
        "next_step": "" if status.is_running else status.next_step(),
        "wanted": status.wanted,
        "found_lately": status.relevant_now,
        "harvest_lately": status.harvest_now,
        "lately": min(LATELY, status.pages),
        "pace": status.pace,
        "pace_lately": status.pace_now,
        "leased": status.leased,
        "limits": _limits(settings, status.orders),
        "is_paused": status.paused,
        "orders": [short(order, 300) for order in status.orders[:_MOST_ORDERS]],
        "not_done": [short(order, 300) for order in status.not_done[-_MOST_ORDERS:]],
        "unread_orders": status.unread_orders,
        "answers": status.answers.in_words() if status.answers else "",
        "unread": status.unread,
        "marked": sum(mark.said != Says.NOTHING for mark in marks.values()),
        "outcomes": [[OUTCOMES[name], count] for name, count in status.outcomes.items() if count],
        "unfollowed": status.unfollowed,
        "hosts": _hosts(status, hosts),
        "hosts_waiting": status.hosts_waiting,
        "sparing": _sparing(settings),
        "left_alone": [
            {"host": short(one.host, 300), "seconds": one.seconds, "why": short(one.why, 200)}
            for one in seen.now.hosts[:MOST_HOSTS]
        ]
        if status.is_running
        else [],
        "warnings": [
            {"time": short(one.time, 40), "level": short(one.level, 20), "words": short(one.words, 600)}
            for one in seen.now.warnings[-MOST_WARNINGS:]
        ],
        "lines": [[label, short(words, 1_000)] for label, words in _lines(status)],
        "latest": [page_json(page, marks) for page in seen.pages[: -_LATEST - 1 : -1]],
    }


def _limits(settings: Mapping[str, Any], orders: Sequence[str]) -> dict[str, Any]:
    """The limits of the crawl, by the names of their arguments; those that were ordered count."""
    stops = {name: one.argument for name, one in SETTINGS.items() if _STOPS in name and one.argument}
    limits = {argument: settings[name] for name, argument in stops.items() if settings.get(name)}
    ordered = (order.removeprefix("limit ").partition("=") for order in orders if order.startswith("limit "))
    return limits | {name: int(value) if value.isdecimal() else value for name, _, value in ordered}


def _lines(status: Status) -> Iterator[tuple[str, str]]:
    """What is shown of it as words, not as a figure."""
    yield status.place_line()
    yield "prioritizer", f"{status.prioritizer or 'not recorded'}; {status.learned_in_words()}"
    yield "critic", status.critic or "not recorded"
    yield from status.further_lines()
    yield from (("", line.strip()) for line in status.further_lists() if line.strip())


def _hosts(status: Status, tallies: Mapping[str, HostTally]) -> list[dict[str, Any]]:
    """Those with most waiting links, and those with most relevance."""
    waiting = {line.host: line.links for line in status.waiting_by_host}
    best = sorted(tallies, key=lambda host: -tallies[host].relevance)[:_MOST_HOSTS]
    lines: list[dict[str, Any]] = []
    for host in dict.fromkeys([*waiting, *best]):
        tally = tallies.get(host, HostTally())
        mean = tally.relevance / tally.pages if tally.pages else None
        figures = {"pages": tally.pages, "found": tally.found, "relevance": mean and round(mean, 3)}
        lines.append({"host": short(host, 300), "waiting": waiting.get(host), **figures})
    return lines


def _sparing(settings: Mapping[str, Any]) -> list[str]:
    """How hosts are spared by the settings of the crawl, in words."""
    lines = []
    if "DOWNLOAD_DELAY" in settings:
        adapts = ", longer where servers are slow" if _is_on(settings.get("AUTOTHROTTLE_ENABLED")) else ""
        at_once = settings.get("CONCURRENT_REQUESTS_PER_DOMAIN")
        lines.append(short(f"a host: {settings['DOWNLOAD_DELAY']} s between requests{adapts}, {at_once} at once", 200))
    for name, what in (("DOMAIN", "all hosts of a domain"), ("ADDRESS", "all hosts at an address")):
        units = (("RATE", "requests a second"), ("AT_ONCE", "at once"), ("NEW_HOSTS", "new hosts a minute"))
        ceilings = [(settings.get(key, DEFAULTS[key]), unit) for end, unit in units if (key := f"FOCUSED_{name}_{end}")]
        words = ", ".join(short(f"{value} {unit}", 40) for value, unit in ceilings if _is_on(value))
        lines.append(f"{what}: at most {words}" if words else f"{what}: no ceiling")
    robots = "obeyed" if _is_on(settings.get("ROBOTSTXT_OBEY", True)) else "not obeyed"
    return [*lines, f"robots.txt: {robots}"]


def _is_on(value: Any) -> bool:
    """A setting of Scrapy's as it was given, perhaps on a command line."""
    return str(value).lower() not in {"", "0", "0.0", "false", "none"}


def made(seen: LastLook) -> dict[str, Any]:
    """How a crawl was made: its topic in short, and the settings that were recorded."""
    about = seen.about or {}
    topic = about.get("topic", {})
    return {
        "topic": {
            "name": short(topic.get("name", ""), 200),
            "description": short(topic.get("description", ""), 1_000),
            "keywords": [short(word, 60) for word in topic.get("keywords", [])[:100]],
            "focus": [short(name, 80) for name in topic.get("focus", [])[:100]],
            "seeds": [short(url, 500) for url in topic.get("seeds", [])[:_MOST_SEEDS]],
        },
        "critic": about.get("critic", ""),
        "prioritizer": about.get("prioritizer", {}).get("name", ""),
        "settings": {name: json.dumps(value, default=str) for name, value in about.get("settings", {}).items()},
    }


def harvest_chart(pages: Sequence[PageLine], width: int) -> str:
    """Harvest over time as SVG: of the last pages, and of all so far."""
    return line_chart(_curves(pages), x_label="pages", y_label="mean relevance", width=width, height=260)


def harvest(pages: Sequence[PageLine]) -> dict[str, Any]:
    """The same as points."""
    return _curves(pages)


def _curves(pages: Sequence[PageLine]) -> dict[str, Any]:
    relevance = np.array([page.relevance for page in pages], np.float64)
    table = PageTable(np.zeros(len(pages), np.int64), relevance, np.ones(len(pages), np.bool_), (), ())
    now, so_far = PageFigures(table).curve()
    return {f"the last {LATELY} pages": now, "all pages so far": so_far}


def learned(reader: CrawlReader, links: Sequence[int]) -> dict[str, Any]:
    """What the prioritizer has learned, in four groups of words."""
    prioritizer, when = saved_prioritizer(reader)
    offsets = learned_by_offset(reader, prioritizer, links)
    groups = [
        {"where": where, "for": _loudest(those, 1), "against": _loudest(those, -1)}
        for where, is_in in _GROUPS
        if (those := [at for at in offsets if is_in(at.offset)])
    ]
    shown = [group for group in groups if group["for"] or group["against"]]
    return {"prioritizer": prioritizer.name, "learns": prioritizer.learns, "when": when, "groups": shown}


def _loudest(offsets: Sequence[AtOffset], sign: int) -> list[dict[str, Any]]:
    """The words that weigh most at any of some offsets, each once."""
    best: dict[str, LearnedWord] = {}
    for at in offsets:
        for word in at.speak_for if sign > 0 else at.speak_against:
            if word.word not in best or abs(word.weight) > abs(best[word.word].weight):
                best[word.word] = word
    loud = sorted(best.values(), key=lambda word: -abs(word.weight))[:_MOST_WORDS]
    return [{"word": short(one.word, 60), "weight": round(one.weight, 3), "pages": one.seen} for one in loud]


def waiting(reader: CrawlReader, most: int) -> dict[str, Any]:
    """The links that come next, with what speaks for and against them."""
    count, links = next_links(reader, most=most, why=True)
    lines = [
        {
            "url": one.link.url,
            "host": one.link.host,
            "depth": one.link.depth,
            "score": None if one.score is None else round(one.score, 4),
            "is_seed": one.score is None,
            "reasons": one.reasons,
        }
        for one in links
    ]
    return {"waiting": counted(count, "link"), "next": lines}


def questions(reader: CrawlReader, most: int) -> list[dict[str, Any]]:
    """The pages of which it helps most to know whether they are wanted, with the words that set them apart."""
    return [
        {**page_json(asked.page, {}), "words": [short(word, 40) for word in asked.words]}
        for asked in pages_to_ask_about(reader, most)
    ]


def near(reader: CrawlReader, pages: Sequence[PageLine]) -> dict[str, list[tuple[str, str]]]:
    """The text around the links that led to some pages, by the number of the page."""
    prioritizer, _ = saved_prioritizer(reader)
    table, topic = reader.words(), reader.about()["topic"]
    sought = {word for keyword in topic.get("keywords", []) for word in words(keyword)}
    return {str(page.order): text_near(reader, prioritizer, table, sought, page.link) for page in pages}
