"""The web of bench/soak.py: any number of pages on many hosts, one host in twenty hostile, made as they are asked for.

Nothing is kept but how often each good page was given. Page *n* links to 2 *n* + 1 and 2 *n* + 2, so that all are
reached, to pages above it and beside it, which are known by then, and to two anywhere: as on the real web, few links of
a page are new. Some pages link to a hostile host, and to what robots.txt forbids. Server and reader are processes of
their own; they share the counts.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_uint32
from dataclasses import dataclass, field
from functools import cache, cached_property
from random import Random
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from focused.lab.demo.bulk import TOPICS
from focused.lab.demo.markup import bullets, document, paragraphs
from focused.lab.demo.prose import Prose
from focused.lab.demo.words import vocabularies
from focused.lab.site.broken import BROKEN
from focused.lab.site.hostile import HOSTILE
from focused.lab.site.reply import BEFORE_HEADERS, Reply, SiteRequest, html, linking, redirect
from focused.lab.site.server import SiteServer

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

HOSTILE_EVERY = 20
_ROBOTS = b"User-agent: *\nDisallow: /private/\n"
_PARAGRAPHS = 20
_ABOVE, _BESIDE, _ANYWHERE = 12, 6, 2
# One page in so many links to a hostile host, or to what is forbidden.
_TO_HOSTILE, _TO_FORBIDDEN = 8, 10
KINDS = ("good", "forbidden", "hostile", "robots", "unknown")
"""Of requests."""


@dataclass(frozen=True)
class SoakWeb:
    """Addresses and links, the same whenever they are asked for."""

    pages: int
    hosts: int
    port: int

    @cached_property
    def good(self) -> list[int]:
        return [host for host in range(self.hosts) if not self.is_hostile(host)]

    @cached_property
    def hostile(self) -> list[int]:
        return [host for host in range(self.hosts) if self.is_hostile(host)]

    @staticmethod
    def is_hostile(host: int) -> bool:
        return host % HOSTILE_EVERY == HOSTILE_EVERY // 2

    def topic(self, page: int) -> str:
        """All pages of a host are on one topic."""
        return TOPICS[self.good[page % len(self.good)] % len(TOPICS)]

    def url(self, page: int) -> str:
        return f"{self._root(self.good[page % len(self.good)])}/{self.topic(page)}/{page}.html"

    def number(self, url: str) -> int | None:
        """The page that has an address, if one has."""
        digits = url.rpartition("/")[2].removesuffix(".html")
        page = int(digits) if digits.isdecimal() and len(digits) < 10 else self.pages
        return page if page < self.pages and self.url(page) == url else None

    def links(self, page: int) -> list[int]:
        """The pages that one links to."""
        random = Random(page)
        # The tree's pages count from 1 here: those below one are twice its number, and that and one.
        n = page + 1
        above = [n >> up for up in range(1, n.bit_length())]
        found = [2 * n, 2 * n + 1, *above, *(parent ^ 1 for parent in above), n ^ 1]
        found = found[: 2 + _ABOVE] + [(n >> 3 << 3) + random.randrange(8) for _ in range(_BESIDE)]
        found += [random.randint(1, self.pages) for _ in range(_ANYWHERE)]
        return [one - 1 for one in dict.fromkeys(found) if 0 < one <= self.pages and one != n]

    def other_links(self, page: int) -> Iterator[str]:
        """To hostile hosts, and to what robots.txt forbids."""
        if self.hostile and page % _TO_HOSTILE == 0:
            host = self.hostile[page // _TO_HOSTILE % len(self.hostile)]
            yield f"{self._root(host)}/{TOPICS[page % len(TOPICS)]}/{page}.html"
        if page % _TO_FORBIDDEN == 0:
            yield f"{self._root(self.good[page % len(self.good)])}/private/{page}.html"

    def _root(self, host: int) -> str:
        return f"http://host{host}.example:{self.port}"


class Text:
    """What stands on the pages; of each topic, a few hundred sentences and anchors."""

    def __init__(self) -> None:
        self._random = random = Random(0)
        self._prose = {topic: Prose(vocabularies()[topic], random) for topic in TOPICS}
        self._anchors = {topic: [prose.words(3) for _ in range(200)] for topic, prose in self._prose.items()}

    def page(self, web: SoakWeb, page: int) -> str:
        """A good page; the same one each time."""
        self._random.seed(page)
        prose, random = self._prose[web.topic(page)], self._random
        title = f"{prose.title()} {page}"
        text = paragraphs(prose.paragraph(5) for _ in range(_PARAGRAPHS))
        anchors = [(web.url(other), random.choice(self._anchors[web.topic(other)])) for other in web.links(page)]
        anchors += [(url, random.choice(self._anchors[random.choice(TOPICS)])) for url in web.other_links(page)]
        return document(title, f"<h1>{title}</h1>\n{text}\n{bullets(anchors)}")


# --- hostile hosts: each answers all its addresses in one of these ways ----------------------------------------------


def _number(visit: SiteRequest) -> int:
    return crc32(visit.url.encode())


@cache
def _bomb(name: str) -> Reply:
    return HOSTILE[name]()


def _bombs(visit: SiteRequest) -> Reply:
    """Shapes and sizes that have stopped crawlers; a robots.txt without end."""
    if visit.path == "/robots.txt":
        return Reply(body=lambda: (b"Disallow: /" + b"x*" * 30_000 + b"\n" for _ in range(200)))
    return _bomb(list(HOSTILE)[_number(visit) % len(HOSTILE)])


def _broken(visit: SiteRequest) -> Reply:
    """Hardly HTTP."""
    return list(BROKEN.values())[_number(visit) % len(BROKEN)]


def _addresses(visit: SiteRequest) -> Reply:
    """Addresses without end: a calendar, sessions, combinations of parameters, ever deeper folders."""
    n, root = _number(visit), f"http://{visit.host}"
    folder = visit.path.partition("?")[0].removesuffix(".html")
    own = (f"/calendar/20{n % 100:02}-{n % 12 + 1:02}.html", f"/find?from={n % 9973}", f"/find?a={n}&b={n % 7}&c=1")
    links = [*own, f"/topic/{n}.php?PHPSESSID={n:032x}", f"{folder}/{n % 1000}.html", f"/{n % 99_991}.html"]
    return linking(*(root + link for link in links), text=f"so it goes on and on {n}")


def _subdomains(visit: SiteRequest) -> Reply:
    """Hosts without end, one after the other: with four on each page, the crawl visited thousands before good pages."""
    n, domain = _number(visit), visit.host[visit.host.index("host") :]
    return linking(f"http://a{n}.{domain}/{n}.html", text=f"so it goes on {n}")


def _slow(visit: SiteRequest) -> Reply:
    """Some time after each piece."""
    return Reply(body=f"<html><body><p>slowly, slowly {_number(visit)} </p>".encode() * 20, piece=100, pause=0.05)


def _silent(_: SiteRequest) -> Reply:
    """Connections that break before anything is said."""
    return Reply(reset=BEFORE_HEADERS)


def _moody(visit: SiteRequest) -> Reply:
    """Asks for time, fails, redirects on and on."""
    n = _number(visit)
    again = Reply(status=503, headers={"Retry-After": "1"})
    on = redirect(f"http://{visit.host}/on/{n}.html")
    return (Reply(status=429), again, Reply(status=500), on, html(f"<p>today a page {n}"))[n % 5]


WAYS: tuple[Callable[[SiteRequest], Reply], ...] = (_bombs, _broken, _addresses, _subdomains, _slow, _silent, _moody)


@dataclass
class Answers:
    """Answers requests, and counts them."""

    web: SoakWeb
    given: Any
    counts: Any
    text: Text = field(default_factory=Text)

    def __call__(self, visit: SiteRequest) -> Reply:
        host = int(visit.host.rpartition("host")[2].partition(".")[0])
        kind, reply = self._hostile(host, visit) if self.web.is_hostile(host) else self._good(visit)
        self.counts[KINDS.index(kind)] += 1
        return reply

    def _hostile(self, host: int, visit: SiteRequest) -> tuple[str, Reply]:
        way = WAYS[host // HOSTILE_EVERY % len(WAYS)]
        if visit.path != "/robots.txt" or way in (_bombs, _silent):
            return "hostile", way(visit)
        return "robots", Reply(status=404)

    def _good(self, visit: SiteRequest) -> tuple[str, Reply]:
        if visit.path == "/robots.txt":
            return "robots", Reply(body=_ROBOTS, headers={"Content-Type": "text/plain"})
        page = self.web.number(visit.url)
        if page is None:
            return "forbidden" if visit.path.startswith("/private/") else "unknown", Reply(status=404)
        self.given[page] += 1
        return "good", html(self.text.page(self.web, page))


class Served:
    """The web as it is served, from outside."""

    def __init__(self, web: SoakWeb, given: Any, counts: Any) -> None:
        self.web, self._given, self._counts = web, given, counts

    @property
    def given(self) -> np.ndarray[Any, Any]:
        """How often each good page was given."""
        return np.frombuffer(self._given, np.uint32)

    @property
    def fetched(self) -> int:
        """Good pages that were given."""
        return int(np.count_nonzero(self.given))

    @property
    def requests(self) -> Counter[str]:
        """How many there were of each kind."""
        return Counter(dict(zip(KINDS, self._counts, strict=True)))


@contextmanager
def serve(pages: int, hosts: int) -> Iterator[Served]:
    """The web, served by a process of its own on loopback."""
    processes = multiprocessing.get_context("spawn")
    given, counts = processes.RawArray(c_uint32, pages), processes.RawArray(c_uint32, len(KINDS))
    ours, theirs = processes.Pipe()
    server = processes.Process(target=_run, args=(pages, hosts, given, counts, theirs), daemon=True)
    server.start()
    # If the server does not start, nobody else has this end.
    theirs.close()
    try:
        yield Served(SoakWeb(pages, hosts, ours.recv()), given, counts)
    finally:
        ours.close()
        server.join(20)
        server.kill()


def _run(pages: int, hosts: int, given: Any, counts: Any, parent: Connection) -> None:
    """Serve until the other end is closed, or gone."""
    with SiteServer({}, remembers=False) as site:
        site.missing = Answers(SoakWeb(pages, hosts, site.port), given, counts)
        parent.send(site.port)
        try:
            parent.recv()
        except EOFError:
            return
