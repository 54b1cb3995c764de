"""The link graph of a recorded web: what a crawler that sees everything at once would see.

Links are read with the crawler's own parser, so that simulated crawls follow the links that real ones do. Reading
takes a minute for 30,000 pages and is done once: the graph is cached, by name, size and date of the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scrapy.http import HtmlResponse

from focused.arrays import load_arrays
from focused.files import write_whole
from focused.pages.page import Page, PageLimits
from focused.pages.urls import join, url_to_host
from focused.responses import response_to_page_now
from focused.warc.response import to_response
from focused.warc.web import REDIRECTS, Web, normal_form

Ints = NDArray[np.int64]

_VERSION = 1
_MOST_HOPS = 20


@dataclass
class Graph:
    """Addresses and links. Addresses 0 to len(web) - 1 are the web's responses, the others lead nowhere.

    ``leads_to[a]`` is the page (status 200) that address *a* ends at, redirects followed, -1 if it is dead. Links of
    address *a* are ``targets[starts[a]:starts[a + 1]]``: distinct addresses, in the order of the page.
    """

    urls: list[str]
    leads_to: Ints
    starts: Ints
    targets: Ints

    @classmethod
    def of_links(cls, links: Iterable[tuple[str, str]]) -> Self:
        """A graph of given links between addresses, each of which is taken for a page."""
        number: dict[str, int] = {}
        onward: dict[int, dict[int, None]] = {}
        for source, target in links:
            here, there = number.setdefault(source, len(number)), number.setdefault(target, len(number))
            if here != there:
                onward.setdefault(here, {})[there] = None
        targets = [list(onward.get(page, ())) for page in range(len(number))]
        starts = np.cumsum([0, *map(len, targets)])
        flat = np.array([address for ones in targets for address in ones], np.int64)
        return cls(list(number), np.arange(len(number)), starts, flat)

    def __len__(self) -> int:
        return len(self.urls)

    def links(self, page: int) -> Ints:
        """The addresses that a page links to."""
        return self.targets[self.starts[page] : self.starts[page + 1]]

    @cached_property
    def hosts(self) -> list[str]:
        """The host (with its port) of each address."""
        return [host_and_port(url) for url in self.urls]

    @cached_property
    def _backwards(self) -> csr_array:
        """The pages (columns) that link to each page (row)."""
        pages = len(self.starts) - 1
        source = np.repeat(np.arange(pages), np.diff(self.starts))
        target = self.leads_to[self.targets]
        alive = target >= 0
        return csr_array((np.ones(int(alive.sum()), bool), (target[alive], source[alive])), (pages, pages))

    def distances(self, targets: Iterable[int] | NDArray[np.bool_], inside: NDArray[np.bool_] | None = None) -> Ints:
        """Clicks from each page to the nearest of some pages, -1 where there is no way (``inside`` given pages)."""
        distance = np.full(len(self.starts) - 1, -1)
        edge = np.flatnonzero(targets) if isinstance(targets, np.ndarray) else np.fromiter(targets, np.int64)
        clicks = 0
        while len(edge):
            distance[edge] = clicks
            clicks += 1
            before = np.unique(self._backwards[edge].indices)
            edge = before[(distance[before] < 0) & (True if inside is None else inside[before])]
        return distance


def read_graph(web: Web, *paths: str | Path) -> Graph:
    """The graph of the web in some files, from the cache if these files were read before."""
    cached = _cache_file([Path(path) for path in paths])
    if cached.exists():
        arrays = load_arrays(cached.read_bytes())
        urls = arrays["urls"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        return Graph(urls, arrays["leads_to"], arrays["starts"], arrays["targets"])
    graph = build_graph(web)
    names = np.frombuffer("\n".join(graph.urls).encode("utf-8", "surrogatepass"), np.uint8)
    with write_whole(cached) as file:
        np.savez_compressed(file, urls=names, leads_to=graph.leads_to, starts=graph.starts, targets=graph.targets)
    return graph


def build_graph(web: Web) -> Graph:
    """Parse every page of a web and note where its links lead."""
    urls = list(web.urls)
    dead: dict[str, int] = {}
    starts: list[int] = [0]
    targets: list[int] = []
    for row, status in enumerate(web.status):
        links: dict[int, None] = {}
        for url in read_page(web, row).links.urls if status == 200 else ():
            address = web.find(url)
            if address < 0:
                address = dead.setdefault(normal_form(url), len(urls))
                if address == len(urls):
                    urls.append(url)
            if address != row:
                links[address] = None
        targets.extend(links)
        starts.append(len(targets))
    leads_to = np.full(len(urls), -1)
    leads_to[: len(web)] = [_end_of(web, row) for row in range(len(web))]
    return Graph(urls, leads_to, np.array(starts), np.array(targets, np.int64))


def read_page(web: Web, row: int) -> Page:
    """A recorded page as the spider parses it; one without links and words if it is not HTML."""
    response = to_response(web.urls[row], web.response(row))
    if not isinstance(response, HtmlResponse):
        response = HtmlResponse(response.url, body=b"<html></html>")
    return response_to_page_now(response, PageLimits())


def host_and_port(url: str) -> str:
    """The host of an address, with its port where it has one: how the topics of a lab name hosts."""
    authority = url.split("/", 3)[2] if "//" in url else url_to_host(url)
    return authority.rpartition("@")[2].lower()


def _end_of(web: Web, row: int) -> int:
    for _ in range(_MOST_HOPS):
        if row < 0 or web.status[row] == 200:
            return row
        if web.status[row] in REDIRECTS:
            location = next((value for name, value in web.response(row).headers if name.lower() == "location"), "")
            row = web.find(join(web.urls[row], location))
    return -1


def _cache_file(paths: list[Path]) -> Path:
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    name = "+".join(f"{name}-{size}-{when:x}" for name, size, when in states)
    return root / "focused" / f"graph-{_VERSION}-{name}.npz"
