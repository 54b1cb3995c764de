"""Why a request has no page: what our downloader middlewares raise, and what it means for the link.

Every exception here is an `IgnoreRequest`, so that Scrapy neither retries it nor logs a traceback. Exceptions raised by
one middleware's ``process_response`` or ``process_exception`` do not pass the others (Scrapy 2.19), so the one place
that sees them all is the request's errback.
"""

from __future__ import annotations

from typing import ClassVar

from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response


class Postponed(IgnoreRequest):
    """Not now: the link is to go back to the frontier, and its host to sleep for ``seconds``.

    With a scheduler that is not ours, the request is dropped, as Scrapy drops every ignored request.
    """

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(f"{reason}: not before {seconds:.0f} seconds from now")
        self.reason = reason
        self.seconds = seconds


class Refused(IgnoreRequest):
    """Not at all; ``outcome`` is how the link ends: denied, dead or not_html, ``kind`` says in short why."""

    outcome: ClassVar[str] = "denied"
    kind: ClassVar[str] = "refused"


class DeniedByRobots(Refused):
    """robots.txt forbids the address, or could not be read for too long."""

    kind = "forbidden by robots.txt"


class InnerAddress(Refused):
    """The address is of an inner network, and not among those that are allowed."""

    kind = "inner address (see FOCUSED_INNER_ALLOWED)"


class HostClosed(Refused):
    """The host does not want us for now: it asks to wait longer than we do, or again and again."""

    kind = "host wants no requests for now"


class HostDead(Refused):
    """The host cannot be reached."""

    outcome = "dead"
    kind = "host not reached"


class NotHtml(Refused, StopDownload):
    """Not a page of HTML. Raised on the headers, it stops the download of the body."""

    outcome = "not_html"
    kind = "not HTML"

    def __init__(self, reason: str) -> None:
        StopDownload.__init__(self, fail=True)
        self.args = (reason,)
        self.response: Response | None = None
