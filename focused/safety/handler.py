"""Scrapy's download handler, for the headers of any server: they come to an end, and what is none of them is skipped.

Twisted reads headers as long as they come (1.3 GB were seen), and gives an answer up for a single name that is none, as
in ``X Powered By: me``, which browsers skip.

It also keeps each connection open for four minutes in case its host is asked again, of whatever number of hosts: a
crawl of thousands runs out of descriptors. Here only those used last are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from twisted.internet.interfaces import IAddress
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS, HTTP11ClientProtocol
from twisted.web.client import HTTPConnectionPool

MOST_HEAD = 256 * 1024
"""Bytes of status line and headers, of interim answers (1xx) too: as much as browsers take."""

IDLE = 8
"""Connections that are kept open for each that may be in use (CONCURRENT_REQUESTS): those of the last seconds."""


class HeadTooLong(Exception):
    """The headers of an answer go on and on; the connection was cut."""


class LenientHandler(HTTP11DownloadHandler):
    """Cuts connections after `MOST_HEAD` bytes of headers; both cases are counted in ``focused/broken/…``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        pool = BoundedPool(self._pool._reactor, IDLE * crawler.settings.getint("CONCURRENT_REQUESTS"))
        pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        pool._factory = _counting(self._pool._factory, crawler.stats.inc_value)
        self._pool = pool


class BoundedPool(HTTPConnectionPool):
    """Keeps at most so many idle connections of all hosts together, and nothing of hosts that have none."""

    def __init__(self, reactor: Any, most: int) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self._most = max(most, 1)

    def getConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802 - Twisted's name
        found = super().getConnection(key, endpoint)
        self._forget(key)
        return found

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]
        while len(self._timeouts) > self._most:
            # They are in the order in which they became idle.
            oldest = next(iter(self._timeouts.values()))
            key, dropped = oldest.args
            oldest.cancel()
            self._removeConnection(key, dropped)

    def _removeConnection(self, key: Any, connection: Any) -> None:  # noqa: N802
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]
        self._forget(key)

    def _forget(self, key: Any) -> None:
        if not self._connections.get(key, True):
            del self._connections[key]


def _counting(base: type[Any], count: Callable[[str], None]) -> type[Any]:
    """Scrapy's factory of connections, for connections that count."""

    class _Counting(base):  # type: ignore[misc]  # whatever class it is
        def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:  # noqa: N802 - Twisted's name
            protocol: HTTP11ClientProtocol = super().buildProtocol(addr)
            protocol.dataReceived = _Received(protocol, count)  # type: ignore[method-assign]
            return protocol

    return _Counting


class _Received:
    """Takes the bytes of a connection in, and counts those before the body of an answer."""

    def __init__(self, protocol: Any, count: Callable[[str], None]) -> None:
        self._protocol, self._count = protocol, count
        self._take = protocol.dataReceived
        self._parser: Any = None
        self._length = 0

    def __call__(self, data: bytes) -> None:
        parser = self._protocol._parser
        if parser is not None and parser is not self._parser:
            # That of another answer.
            self._parser, self._length = parser, 0
            self._take_header = parser.headerReceived
            parser.headerReceived = self._header_received
        self._take(data)
        if parser is None or parser is not self._protocol._parser or parser.state not in {STATUS, HEADER}:
            return
        self._length += len(data)
        if self._length > MOST_HEAD:
            self._count("focused/broken/heads")
            self._protocol.transport.abortConnection()
            words = f"more than {MOST_HEAD // 1024} KiB of headers"
            self._protocol._disconnectParser(Failure(HeadTooLong(words)))  # type: ignore[no-untyped-call]

    def _header_received(self, name: bytes, value: bytes) -> None:
        try:
            self._take_header(name, value)
        except ValueError:  # its name is none
            self._count("focused/broken/headers")
