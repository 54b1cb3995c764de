"""The figures of crawls in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from focused.report.status import Status
from focused.watch.crawls import Watched

_FIGURES: dict[str, tuple[str, str, Callable[[Status], float | None]]] = {
    "running": ("gauge", "whether anybody is at work on the crawl", lambda status: float(status.is_running)),
    "pages_total": ("counter", "pages that were judged", lambda status: status.pages),
    "found": ("gauge", "relevant pages, without duplicates", lambda status: status.relevant),
    "wanted": ("gauge", "sum of the relevance of all pages", lambda status: status.wanted),
    "harvest": ("gauge", "mean relevance of all pages", lambda status: status.harvest),
    "harvest_lately": ("gauge", "mean relevance of the last pages", lambda status: status.harvest_now),
    "pages_per_minute": ("gauge", "pace of the last pages", lambda status: status.pace_now),
    "links_waiting": ("gauge", "links that wait", lambda status: status.waiting),
    "links_in_progress": ("gauge", "links that are being fetched", lambda status: status.leased),
    "hosts_waiting": ("gauge", "hosts of which links wait", lambda status: status.hosts_waiting),
    "marks_unread": ("gauge", "marks that the crawl has not taken in yet", lambda status: status.unread),
}


def metrics(crawls: Iterable[Watched]) -> str:
    """All figures of all crawls; a crawl that cannot be read is not up, and has no others."""
    every = list(crawls)
    return "".join(f"{line}\n" for line in _lines(every))


def _lines(crawls: list[Watched]) -> Iterator[str]:
    readable = [(_label("crawl", crawl.name), crawl.seen.status) for crawl in crawls if not crawl.seen.problem]
    there = [(label, status) for label, status in readable if status is not None]
    yield from _head("up", "gauge", "whether the crawl could be read")
    for crawl in crawls:
        yield f"focused_up{{{_label('crawl', crawl.name)}}} {int(not crawl.seen.problem)}"
    for name, (kind, words, figure) in _FIGURES.items():
        yield from _head(name, kind, words)
        for label, status in there:
            value = figure(status)
            if value is not None:
                yield f"focused_{name}{{{label}}} {value:.10g}"
    yield from _head("links_ended_total", "counter", "links that have ended, by how")
    for label, status in there:
        for outcome, count in status.outcomes.items():
            yield f"focused_links_ended_total{{{label},{_label('outcome', outcome)}}} {count}"


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP focused_{name} {words}"
    yield f"# TYPE focused_{name} {kind}"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'
