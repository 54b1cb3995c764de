"""A web in memory: what every address answers, and what its pages are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from focused.warc.reader import Recorded

HTML = "text/html; charset=utf-8"
WANTED = "stars"
"""The class of pages that are wanted, in all generated webs."""


@dataclass
class GeneratedWeb:
    """A generated web. Addresses that are not in ``pages`` are dead.

    ``classes`` says what pages are about; ``hidden`` pages are neither targets nor examples (copies of others, and
    what robots.txt denies); ``examples`` are pages to teach a critic with, and no targets either. Starting pages for a
    crawl (``seeds``) are ``on`` the topic, ``far`` from it (off the topic and, but in the bulk web, linking to no page
    on it), or the ``root`` pages of general hosts.
    """

    name: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    seeds: dict[str, list[str]] = field(default_factory=dict)
    pages: dict[str, Recorded] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, url: str, body: str | bytes, *, kind: str = HTML, encoding: str = "utf-8") -> None:
        """Add a page that is answered with 200."""
        content = body if isinstance(body, bytes) else body.encode(encoding, "xmlcharrefreplace")
        self._answer(url, 200, {"Content-Type": kind}, content)

    def move(self, url: str, to: str, status: int = 301) -> None:
        """Redirect an address."""
        self._answer(url, status, {"Location": to, "Content-Type": HTML})

    def _answer(self, url: str, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        headers["Content-Length"] = str(len(body))
        self.pages[url] = Recorded(status, tuple(headers.items()), body)

    def add_labelled(self, url: str, kind: str, title: str, body: str) -> None:
        """Add a page, and say what it is about."""
        self.add(url, body)
        self.label(url, kind, title)

    def label(self, url: str, kind: str, title: str) -> None:
        """Say what a page is about."""
        self.classes[url] = kind
        self.titles[url] = title

    @property
    def targets(self) -> list[str]:
        """The pages that a crawl for the wanted topic should find."""
        return sorted(url for url in self._countable() if self.classes[url] == WANTED)

    def take_examples(self, random: Random, *, share: float, most: int) -> None:
        """Set aside example pages: a share of each class, at most so many of one."""
        by_class: dict[str, list[str]] = {}
        for url in self._countable():
            by_class.setdefault(self.classes[url], []).append(url)
        seeds = {url for urls in self.seeds.values() for url in urls}
        for kind in sorted(by_class):
            free = sorted(url for url in by_class[kind] if url not in seeds)
            taken = random.sample(free, min(most, round(len(free) * share), len(free)))
            self.examples.update(dict.fromkeys(sorted(taken), kind))

    def _countable(self) -> Iterator[str]:
        return (url for url in self.classes if url not in self.hidden and url not in self.examples)


def some_of(urls: list[str], random: Random) -> list[str]:
    """A few starting pages."""
    return random.sample(urls, min(3, len(urls)))
