"""Pages by address, from a file or a recorded web."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scrapy.http import Response, TextResponse

from focused.pages.fetched import Fetched, NoPage
from focused.pages.guard import looks_binary
from focused.pages.page import Page, PageLimits
from focused.responses import response_to_page_now
from focused.warc.reader import Recorded
from focused.warc.response import to_response
from focused.warc.web import REDIRECTS, Web

_MOST_REDIRECTS = 5


def page_of_file(path: Path, limits: PageLimits) -> Page:
    """The page in a file, decoded like a response. NoPage if the file holds none."""
    try:
        body = path.read_bytes()
    except OSError as error:
        raise NoPage(f"cannot be read: {error.strerror}") from error
    if not body.strip():
        raise NoPage("empty")
    if looks_binary(body):
        raise NoPage("not HTML")
    recorded = Recorded(200, (("Content-Type", "text/html"),), body)
    response = to_response(path.absolute().as_uri(), recorded)
    assert isinstance(response, TextResponse)
    return response_to_page_now(response, limits)


def pages_of_web(urls: Sequence[str], web: str | Web, limits: PageLimits) -> Fetched:
    """Pages from a recorded web (or its WARC file), redirects followed. OSError or ValueError if it cannot be read."""
    recorded, fetched = web if isinstance(web, Web) else Web.open(web), Fetched()
    for url in dict.fromkeys(urls):
        response = responses_of(recorded, url)[-1]
        if response.status != 200:
            fetched.failures[url] = f"HTTP {response.status}"
        elif isinstance(response, TextResponse):
            fetched.pages[url] = response_to_page_now(response, limits)
        else:
            fetched.failures[url] = "not HTML"
    return fetched


def responses_of(web: Web, url: str) -> list[Response]:
    """What a recorded web answers to an address: redirects, and at last where they end."""
    responses: list[Response] = []
    while len(responses) < _MOST_REDIRECTS:
        response = to_response(url, web.get(url))
        responses.append(response)
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or not location:
            break
        url = response.urljoin(location.decode("latin-1"))
    return responses
