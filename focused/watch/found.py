"""The pages of a crawl as they are shown: read bit by bit, then filtered, sorted, and written into files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from focused.critics.base import RELEVANT
from focused.frontier.inbox import Mark
from focused.frontier.store import Says
from focused.pages.urls import url_to_host
from focused.report.reader import CrawlReader, PageLine
from focused.report.status import Status
from focused.report.text import short

LONGEST_TITLE = 300
# Pages come in a little out of order: as many as are fetched at once, or fewer.
_LATE = 50
_SLACK = 0.01
_AT_ONCE = 500
# What a spreadsheet would take for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(slots=True)
class HostTally:
    """What came from a host: pages, how many of them are relevant, and the sum of their relevance."""

    pages: int = 0
    found: int = 0
    relevance: float = 0.0

    def add(self, relevance: float, times: int) -> None:
        """Count a page, or take it back."""
        self.pages += times
        self.found += times * (relevance >= RELEVANT)
        self.relevance += times * relevance


class FoundPages:
    """All pages but duplicates, in the order of fetching. New ones are read alone, all again if verdicts changed."""

    def __init__(self) -> None:
        self._by_order: dict[int, PageLine] = {}
        self._sum, self._lacks = 0.0, 0
        self._said: object = ...
        self.hosts: dict[str, HostTally] = {}
        self.is_stale = False
        self.rows: Sequence[PageLine] = ()

    def read_new(self, reader: CrawlReader) -> None:
        """Add the pages that have come since."""
        last = max(self._by_order, default=0)
        if self._add(reader.pages_after(max(last - _LATE, 0))):
            self.rows = [self._by_order[order] for order in sorted(self._by_order)]

    def read_all(self, reader: CrawlReader) -> None:
        """Read all pages again."""
        self._by_order, self._sum, self.hosts = {}, 0.0, {}
        self._add(reader.pages_after(0))
        self.rows = list(self._by_order.values())
        self.is_stale = False

    def compare(self, status: Status) -> None:
        """Does what was read still fit the status from before it? Its sum tells whether pages were judged anew."""
        there = status.pages - status.outcomes.get("duplicate", 0)
        more = len(self.rows) - there
        # Pages that came between the two readings have a relevance, too.
        change = self._sum - (status.wanted or 0.0)
        if (
            more < -max(self._lacks, 0)
            or not -_SLACK <= change <= max(more, 0) + _SLACK
            or (self._said is not ... and status.answers != self._said)
        ):
            self.is_stale = True
        self._said, self._lacks = status.answers, -more

    def _add(self, lines: Iterable[PageLine]) -> bool:
        is_new = False
        for line in lines:
            before = self._by_order.get(line.order)
            if before != line:
                self._count(before, -1)
                self._count(line, 1)
                self._by_order[line.order] = line
                is_new = True
        return is_new

    def _count(self, page: PageLine | None, times: int) -> None:
        if page is not None:
            self._sum += times * page.relevance
            self.hosts.setdefault(url_to_host(page.url), HostTally()).add(page.relevance, times)


@dataclass(frozen=True, slots=True)
class Wish:
    """Which pages somebody wants to see, and in which order: all words in title, address or class; bounds of R."""

    words: tuple[str, ...] = ()
    least: float = 0.0
    most: float = 1.0
    said: str = ""
    host: str = ""
    sort: str = "-relevance"

    def rows(self, pages: Sequence[PageLine], marks: dict[str, Mark]) -> list[PageLine]:
        """The pages that fit."""
        found = [page for page in pages if self._fits(page, marks)]
        key, down = self.sort.removeprefix("-"), self.sort.startswith("-")
        return sorted(found, key=SORTS[key], reverse=down)

    def _fits(self, page: PageLine, marks: dict[str, Mark]) -> bool:
        if not self.least <= page.relevance <= self.most:
            return False
        if self.said and (said_of(page, marks) or "nothing") != self.said:
            return False
        if self.host and url_to_host(page.url) != self.host:
            return False
        text = f"{page.title} {page.url} {page.best_class}".lower() if self.words else ""
        return all(word in text for word in self.words)


SORTS: dict[str, Callable[[PageLine], Any]] = {
    "relevance": lambda page: page.relevance,
    "order": lambda page: page.order,
    "title": lambda page: page.title.lower(),
    "url": lambda page: page.url,
    "class": lambda page: page.best_class,
}
"""What pages can be sorted by; downwards with a minus before it."""


def said_of(page: PageLine, marks: dict[str, Mark]) -> str:
    """What was said of a page last: yes, no or unknown; '' for nothing."""
    mark = marks.get(page.url)
    said = mark.said if mark else page.said
    return "" if said == Says.NOTHING else str(said)


def page_json(page: PageLine, marks: dict[str, Mark]) -> dict[str, Any]:
    """A page as plain data."""
    said = said_of(page, marks)
    return {
        "order": page.order,
        "url": page.url,
        "title": short(page.title, LONGEST_TITLE),
        "relevance": round(page.relevance, 4),
        "class": page.best_class,
        "score": None if page.score is None else round(page.score, 4),
        "said": said,
        "who": (page.who if page.url not in marks else marks[page.url].who) if said else "",
    }


def as_csv(pages: Sequence[PageLine], marks: dict[str, Mark]) -> Iterator[str]:
    """Rows for a spreadsheet, some at a time. A title that begins like a formula has an apostrophe before it."""
    out = StringIO()
    writer = csv.writer(out)
    for first in range(0, max(len(pages), 1), _AT_ONCE):
        lines = [page_json(page, marks) for page in pages[first : first + _AT_ONCE]]
        if not first:
            writer.writerow(["order", "url", "title", "relevance", "class", "score", "said", "who"])
        writer.writerows([_plain(value) for value in line.values()] for line in lines)
        yield out.getvalue()
        out.seek(0)
        out.truncate()


def _plain(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


def as_jsonl(pages: Sequence[PageLine], marks: dict[str, Mark]) -> Iterator[str]:
    """A JSON object a line, some lines at a time."""
    for first in range(0, len(pages), _AT_ONCE):
        some = pages[first : first + _AT_ONCE]
        yield "".join(json.dumps(page_json(page, marks), ensure_ascii=False) + "\n" for page in some)


def as_addresses(pages: Sequence[PageLine], _: dict[str, Mark]) -> Iterator[str]:
    """An address a line."""
    for first in range(0, len(pages), _AT_ONCE):
        yield "".join(f"{page.url}\n" for page in pages[first : first + _AT_ONCE])


PagesWriter = Callable[[Sequence[PageLine], dict[str, Mark]], Iterator[str]]
KINDS: dict[str, tuple[str, PagesWriter]] = {
    "csv": ("text/csv", as_csv),
    "jsonl": ("application/jsonl", as_jsonl),
    "txt": ("text/plain", as_addresses),
}
"""What the pages can be downloaded as, by the ending."""
