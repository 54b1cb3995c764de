"""The hosts of the demonstration web, what is written about where, and how each looks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from random import Random

from focused.lab.demo.markup import Anchor, bar, bullets, document, link, table
from focused.lab.demo.prose import Prose
from focused.lab.demo.words import vocabularies

SHARES = {
    "stars": 0.12, "garden": 0.17, "kitchen": 0.18, "chess": 0.10,
    "sailing": 0.13, "railways": 0.14, "horoscopes": 0.05, "news": 0.11,
}  # fmt: skip
"""How much of what is written is about what."""

# Host → how much it writes about each topic, beside what others write. Small webs have only the first hosts.
_HOSTS: dict[str, dict[str, int]] = {
    "observatory.example": {"stars": 9, "news": 1},
    "botanic.example": {"garden": 8, "kitchen": 1},
    "kitchen.example": {"kitchen": 9},
    "chessclub.example": {"chess": 9},
    "harbour.example": {"sailing": 8, "news": 1},
    "branchline.example": {"railways": 8},
    "gazette.example": {"news": 7, "kitchen": 1, "sailing": 1, "horoscopes": 1, "railways": 1, "stars": 1},
    "library.example": dict.fromkeys(SHARES, 2),
    "nightsky.example": {"stars": 5, "horoscopes": 2, "sailing": 1},
    "zodiac.example": {"horoscopes": 8, "stars": 1},
    "allotment.example": {"garden": 6, "kitchen": 2, "news": 1},
    "cookbook.example": {"kitchen": 6, "garden": 2},
    "gambit.example": {"chess": 5, "news": 1},
    "regatta.example": {"sailing": 5, "news": 2},
    "locomotive.example": {"railways": 6, "news": 1},
    "journal.example": dict.fromkeys(SHARES, 1),
}
FEWEST_HOSTS, MOST_HOSTS = 8, len(_HOSTS)
PORTALS = ("gazette.example", "library.example")
"""Hosts that write about everything."""
WITH_CALENDAR = ("harbour.example", "gazette.example")
WITH_FORUM = "chessclub.example"
FIRST_MONTH = "/calendar/2026-01.html"


@dataclass(frozen=True, slots=True)
class DemoSite:
    """One host: its sections (one a topic) and its neighbours, to which its pages' footers link."""

    host: str
    sections: tuple[str, ...]
    neighbours: tuple[str, ...]
    tabular: bool

    def url(self, path: str) -> str:
        """The address of a path on this host."""
        return f"http://{self.host}{path}"

    def page(self, title: str, body: str, *, language: str = "en", charset: str = "utf-8") -> str:
        """A page in the dress of this host."""
        name = self.host.removesuffix(".example").capitalize()
        content = f"<h1>{escape(title)}</h1>\n{body}\n<hr>\n{self._footer()}"
        header = f"<div>{escape(name)}, a place on the web</div>"
        if self.tabular:
            frame = f"{table(self._navigation())}\n{header}\n<table><tr><td>{content}</td></tr></table>"
        else:
            frame = f"{header}\n{bar(self._navigation())}\n{content}"
        return document(f"{title} - {name}", frame, language=language, charset=charset)

    def _navigation(self) -> list[Anchor]:
        titles = vocabularies()
        sections = [(f"/{section}/", titles[section].title) for section in self.sections]
        calendar = [(FIRST_MONTH, "Calendar")] if self.host in WITH_CALENDAR else []
        return [("/", "Home"), *sections, *calendar, ("/about.html", "About"), ("/search?q=", "Search")]

    def _footer(self) -> str:
        friends = bullets((f"http://{host}/", host) for host in self.neighbours)
        return f"<p>Our friends:</p>\n{friends}\n<p>Made with care. {link('/private/staff.html', 'Staff')}</p>"


class Sites:
    """All hosts, and the prose of every topic."""

    def __init__(self, random: Random, count: int) -> None:
        self._random = random
        self._hosts = list(_HOSTS)[:count]
        self.prose = {kind: Prose(vocabularies()[kind], random) for kind in SHARES}
        self.all = [self._site(host, number) for number, host in enumerate(self._hosts)]
        self.by_host = {site.host: site for site in self.all}

    def some_kind(self) -> str:
        """A topic, the larger ones more often."""
        return self._random.choices(list(SHARES), list(SHARES.values()))[0]

    def some_site(self, kind: str) -> DemoSite:
        """A host that writes about a topic."""
        return self._random.choices(self.all, [_HOSTS[site.host].get(kind, 0) for site in self.all])[0]

    def _site(self, host: str, number: int) -> DemoSite:
        others = [other for other in self._hosts if other != host]
        return DemoSite(host, tuple(_HOSTS[host]), tuple(self._random.sample(others, 3)), tabular=number % 3 == 2)
