"""Why a request has no page: what our downloader middlewares raise, and what it means for the link.

Every exception here is an `IgnoreRequest`, so that Scrapy neither retries it nor logs a traceback. Exceptions raised by
one middleware's ``process_response`` or ``process_exception`` do not pass the others (Scrapy 2.19), so the one place
that sees them all is the request's errback.
"""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
    StopDownload,
)
from scrapy.http import Response


class Postponed(IgnoreRequest):
    """Not now: the link is to go back to the frontier, and its host to sleep for ``seconds``.

    With a scheduler that is not ours, the request is dropped, as Scrapy drops every ignored request.
    """

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(f"{reason}; next attempt in {seconds:.0f} seconds or later")
        self.reason = reason
        self.seconds = seconds


class Crowded(Postponed):
    """Not now: the server of the host is at its ceiling, which was found out only when its address was looked up."""


class Refused(IgnoreRequest):
    """Not at all; ``outcome`` is how the link ends (denied, dead…), ``kind`` says in short why."""

    outcome: ClassVar[str] = "denied"
    kind: ClassVar[str] = "refused"


class DeniedByRobots(Refused):
    """robots.txt forbids the address, or could not be read for too long."""

    kind = "forbidden by robots.txt"


class InnerAddress(Refused):
    """The address is of an inner network, and not among those that are allowed."""

    kind = "inner address (see FOCUSED_INNER_ALLOWED)"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.reason = f"{reason}; to crawl it, add the host to FOCUSED_INNER_ALLOWED"

    def __str__(self) -> str:
        return f"{self.args[0]} is refused: {self.reason}"


class HostClosed(Refused):
    """The host does not want us for now: it asks to wait longer than we do, or again and again."""

    kind = "host wants no requests for now"


class HostDead(Refused):
    """The host cannot be reached."""

    outcome = "dead"
    kind = "host not reached"


class BrokenBody(Refused):
    """There is a page, but its body is not what its headers say. There may be one another time."""

    outcome = "unavailable"
    kind = "broken body"


class NotHtml(Refused, StopDownload):
    """Not a page of HTML. Raised on the headers, it stops the download of the body."""

    outcome = "not_html"
    kind = "not HTML"

    def __init__(self, reason: str, content_type: str = "") -> None:
        StopDownload.__init__(self, fail=True)
        self.args = (reason,)
        self.content_type = content_type
        self.response: Response | None = None


def is_no_host(request: Request, error: BaseException) -> bool:
    """Is there nobody to be asked again soon: a host without an address, a proxy that is not there?"""
    return isinstance(error, CannotResolveHostError) or (
        "proxy" in request.meta and isinstance(error, DownloadConnectionRefusedError)
    )


def why_unreachable(request: Request, error: BaseException) -> str:
    """What a network error means, for people."""
    host = urlsplit(request.url).hostname
    if request.meta.get("proxy") and is_no_host(request, error):
        return f"the proxy {request.meta['proxy']} cannot be reached"
    if isinstance(error, InnerAddress):
        # What was refused first is its robots.txt.
        return error.reason
    if isinstance(error, CannotResolveHostError):
        return f"there is no host {host!r}"
    if isinstance(error, DownloadConnectionRefusedError):
        return f"{host!r} refuses connections"
    if isinstance(error, DownloadTimeoutError):
        return f"{host!r} did not answer in time"
    return str(error) or type(error).__name__
