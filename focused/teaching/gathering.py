"""Pages that are wanted by address, from wherever they are: a response, a file, a recorded web."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scrapy.http import Headers, Response, TextResponse
from scrapy.responsetypes import responsetypes
from scrapy.settings import BaseSettings

from focused.defaults import read
from focused.middlewares.body import safe_root_now
from focused.pages.page import Page, PageLimits, parse_page
from focused.replay.web import REDIRECTS, Web

_MOST_REDIRECTS = 5


@dataclass
class Fetched:
    """The pages that were found, by the address asked for, and why the others were not."""

    pages: dict[str, Page] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def reasons(self) -> dict[str, int]:
        """How many pages are missing, by reason, the most frequent first."""
        return dict(Counter(self.failures.values()).most_common())


def limits_of(settings: BaseSettings) -> PageLimits:
    """The most that is taken from one page, as the settings say."""
    return PageLimits(*(read(settings, f"FOCUSED_PAGE_{part}") for part in ("LINKS", "LEAVES", "WORDS")))


def response_to_page(response: TextResponse, limits: PageLimits) -> Page:
    """A response as a page, safely parsed."""
    root, left_out = safe_root_now(response)
    page = parse_page(root, response.url, limits)
    page.left_out.update(left_out)
    return page


def page_of_file(path: Path, limits: PageLimits) -> Page:
    """A page in a file, its encoding found as it is for a response."""
    response = _response(path.absolute().as_uri(), {"Content-Type": "text/html"}, path.read_bytes())
    assert isinstance(response, TextResponse)
    return response_to_page(response, limits)


def pages_of_web(urls: Sequence[str], web: str, limits: PageLimits) -> Fetched:
    """Pages from a recorded web (a WARC file), redirects followed. OSError or ValueError if it cannot be read."""
    recorded, fetched = Web.open(web), Fetched()
    for url in dict.fromkeys(urls):
        response = _recorded(recorded, url)
        if response.status != 200:
            fetched.failures[url] = f"HTTP {response.status}"
        elif isinstance(response, TextResponse):
            fetched.pages[url] = response_to_page(response, limits)
        else:
            fetched.failures[url] = "not HTML"
    return fetched


def _recorded(web: Web, url: str) -> Response:
    for _ in range(_MOST_REDIRECTS):
        found = web.get(url)
        response = _response(url, dict(found.headers), found.body, found.status)
        location = response.headers.get("Location")
        if found.status not in REDIRECTS or not location:
            break
        url = response.urljoin(location.decode("latin-1"))
    return response


def _response(url: str, headers: Mapping[str, str], body: bytes, status: int = 200) -> Response:
    kind = responsetypes.from_args(headers=Headers(headers), url=url, body=body)
    return kind(url, status=status, headers=headers, body=body)
