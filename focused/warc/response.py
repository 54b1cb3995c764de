"""Recorded responses as Scrapy's downloader would give them."""

from __future__ import annotations

from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from focused.warc.reader import Recorded


def to_headers(recorded: Recorded) -> Headers:
    """All headers, including repeated ones."""
    headers = Headers()
    for name, value in recorded.headers:
        headers.appendlist(name, value.encode("latin-1", "replace"))
    return headers


def to_response(url: str, recorded: Recorded) -> Response:
    """A response of the class that its headers and its body call for."""
    headers = to_headers(recorded)
    kind = responsetypes.from_args(headers=headers, url=url, body=recorded.body)
    return kind(url, recorded.status, headers, recorded.body)
