"""Hosts that ask for time get it; hosts that cannot be reached are left alone for longer and longer, then given up.

429 and 503, with or without Retry-After, put the host to sleep and its request off. Single timeouts and refused
connections are left to Scrapy's RetryMiddleware; only when they come in a row, host by host, does this step in. When
many hosts fail and none answers, it is our own network: nobody is given up for that.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from twisted.internet.error import ConnectError, ConnectionLost

from focused.defaults import read_all
from focused.errors import HostClosed, HostDead, Postponed
from focused.pages.urls import url_to_host
from focused.parts import Component
from focused.safety.politeness import HostHealth, Patience, retry_after

_SLOW_DOWN = frozenset({429, 503})
_NETWORK_ERRORS = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ConnectError,
    ConnectionLost,
    OSError,
)


class BackoffMiddleware(Component):
    """Its number must be above RetryMiddleware's, so that it hears of every failure first.

    429 and 503 are its business: take them out of RETRY_HTTP_CODES.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.health = HostHealth(read_all(Patience, crawler.settings, "BACKOFF"))

    def is_wanted(self) -> bool:
        return True

    def process_request(self, request: Request) -> None:
        host = url_to_host(request.url)
        self._check_closed(host)
        seconds = self.health.asleep(host)
        if seconds > 0:
            raise self._postponed("asleep", seconds)

    def process_response(self, request: Request, response: Response) -> Response:
        host = url_to_host(request.url)
        if response.status not in _SLOW_DOWN:
            self.health.answered(host)
            return response
        seconds = self.health.asked_for_time(host, retry_after(response.headers.get("Retry-After")))
        self.crawler.stats.inc_value(f"focused/backoff/{response.status}")
        self._check_closed(host)
        raise self._postponed("asked_to", seconds)

    def process_exception(self, request: Request, exception: Exception) -> None:
        if not isinstance(exception, _NETWORK_ERRORS):
            return
        host = url_to_host(request.url)
        self.crawler.stats.inc_value("focused/backoff/failures")
        if request.meta.get("proxy"):
            return  # It may be the proxy that fails: nothing is known against the host.
        seconds = self.health.failed(host)
        self._check_closed(host)
        if seconds > 0:
            raise self._postponed("failing", seconds) from exception

    def _check_closed(self, host: str) -> None:
        closed = self.health.closed(host)
        if closed:
            is_dead = closed == "dead"
            refusal = HostDead(f"{host} cannot be reached") if is_dead else HostClosed(f"{host} asked to be left alone")
            self.crawler.stats.inc_value(f"focused/backoff/{type(refusal).__name__}")
            raise refusal

    def _postponed(self, why: str, seconds: float) -> Postponed:
        self.crawler.stats.inc_value(f"focused/postponed/{why}")
        return Postponed(f"host {why.replace('_', ' ')}", seconds)
