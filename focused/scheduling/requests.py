"""Requests as bytes: how a request that is more than an address outlasts the process."""

from __future__ import annotations

import sys
from typing import Any

import msgpack
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

META = "focused"
"""The one key under which a request carries what this crawler knows of it."""

PRIORITY_SCALE = 1000
_PLAIN_META = frozenset({META, "depth", "is_start_request", "download_slot", "download_timeout", "download_latency"})


# What reading a request raises that somebody else has written, or changed.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError)


class BadRequest(ValueError):
    """What a job holds of a request is none."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(f"its request cannot be made: {reason}")


def score_to_priority(score: float) -> int:
    """A score as Scrapy's priority. The only place where one is made from the other."""
    return round(score * PRIORITY_SCALE)


def priority_to_base(priority: int) -> float:
    """What a priority that came from elsewhere adds to a score."""
    return priority / PRIORITY_SCALE


def is_plain(request: Request, spider: Spider) -> bool:
    """Is the request told by its address and depth alone?"""
    return (
        request.method == "GET"
        and not (request.body or request.cookies or request.headers or request.cb_kwargs or request.flags)
        and request.callback in {None, getattr(spider, "parse", None)}
        and request.errback is None
        and not request.dont_filter
        and _PLAIN_META.issuperset(request.meta)
    )


def request_to_bytes(request: Request, spider: Spider) -> bytes:
    """A request as bytes (msgpack, no code in it). TypeError or ValueError if something in it does not fit."""
    fields = request.to_dict(spider=spider)
    data: bytes = msgpack.packb(fields, use_bin_type=True)
    return data


def request_from_bytes(data: bytes, spider: Spider) -> Request:
    """What `request_to_bytes` wrote; BadRequest if it is anything else. No module is imported because of it."""
    try:
        fields: dict[str, Any] = msgpack.unpackb(data, raw=False, strict_map_key=False)
        _check_class(fields.get("_class"))
        return request_from_dict(fields, spider=spider)
    except _UNREADABLE as error:
        raise BadRequest(error) from error


def request_from_link(url: str, depth: int) -> Request:
    """The request for a link that is told by its address and depth alone; BadRequest if there is none."""
    try:
        return Request(url, meta={"depth": depth})
    except _UNREADABLE as error:
        raise BadRequest(error) from error


def _check_class(path: Any) -> None:
    """Only classes of requests that the crawl uses anyway: whoever writes to the job must not have others imported."""
    if path is None:
        return
    module, _, name = str(path).rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    if not (isinstance(found, type) and issubclass(found, Request)):
        raise TypeError(f"{str(path)[:100]!r} is not a class of requests that this crawl has imported")
