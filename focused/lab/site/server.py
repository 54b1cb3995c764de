"""A local web for tests: one port on loopback that is the origin of its own pages and the proxy for all others.

It runs in a thread with an event loop of its own, so that it depends neither on the reactor of a test nor on its
pace, and remembers every request. A `Reply` can do whatever a server can do wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from threading import Condition, Thread
from time import monotonic
from typing import Self
from urllib.parse import urlsplit

from focused.lab.site.reply import BEFORE_HEADERS, Handler, Reply, SiteRequest, html, stored
from focused.warc.reader import Recorded

SitePage = Reply | Handler | str | Recorded
_NOT_FOUND = Reply(status=404, body=b"<html><title>Not Found</title><h1>Not Found</h1></html>")
_LONGEST_HEAD = 1 << 20


class SiteServer:
    """Serve pages as a context manager.

    Pages are found by whole address (``http://a.example/x``) or, on any host, by path (``/x``); anything else is
    answered with ``missing``. A page is a `Reply`, a function from `SiteRequest` to `Reply`, plain HTML, or a
    recorded answer. Port 0 takes any that is free, the same one at all ``addresses``. The mapping may be changed while
    the server runs. One that does not remember its visits can run for any length of time.
    """

    no_tunnel = Reply(status=501, body=b"this proxy has no tunnels: use http addresses\n")

    def __init__(
        self,
        pages: Mapping[str, SitePage],
        *,
        missing: SitePage = _NOT_FOUND,
        port: int = 0,
        remembers: bool = True,
        addresses: Sequence[str] = ("127.0.0.1",),
    ) -> None:
        self.pages = pages
        self.missing = missing
        self.visits: list[SiteRequest] = []
        self.port = port
        self._remembers, self._count = remembers, 0
        self._addresses = addresses
        self._changed = Condition()
        self._in_flight: dict[str, int] = {}
        self._last: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._answered = math.inf
        self._more = asyncio.Event()
        self._thread = Thread(target=self._loop.run_forever, name="site-server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._servers: list[asyncio.Server] = []
        for address in self._addresses:
            started = asyncio.start_server(self._connection, address, self.port, limit=_LONGEST_HEAD)
            self._servers.append(asyncio.run_coroutine_threadsafe(started, self._loop).result(10))
            self.port = self._servers[0].sockets[0].getsockname()[1]
        self.url = f"http://{self._addresses[0]}:{self.port}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def fetched(self, *, since: int = 0, status: int | None = 200) -> list[str]:
        """Addresses in the order of their requests, robots.txt left out; ``status`` None takes all."""
        visits = self.visits[since:]
        wanted = (visit for visit in visits if status is None or visit.status == status)
        return [visit.url for visit in wanted if visit.path != "/robots.txt"]

    def visits_to(self, address: str) -> list[SiteRequest]:
        """The visits to one address, or to one path on any host."""
        return [visit for visit in self.visits if address in {visit.url, visit.path}]

    def most_at_once(self, host: str) -> int:
        """The maximum number of concurrent requests to one host."""
        return max((visit.in_flight for visit in self.visits if visit.host == host), default=0)

    def gaps(self, host: str) -> list[float]:
        """The seconds between the starts of consecutive requests to a host."""
        return [visit.gap for visit in self.visits if visit.host == host and visit.gap is not None]

    def wait_for(self, visits: int, timeout: float) -> bool:
        """Wait until so many requests have come in; False if they did not in time."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.visits) >= visits, timeout)

    def answer(self, requests: float = math.inf) -> None:
        """Answer only so many requests in total; later ones wait until more may be answered."""
        self._loop.call_soon_threadsafe(self._answer, requests)

    def _answer(self, requests: float) -> None:
        self._answered = requests
        more, self._more = self._more, asyncio.Event()
        more.set()

    async def _turn(self, number: int) -> None:
        while number > self._answered:
            await self._more.wait()

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # Cancelled when the site stops; the task ends here, and asyncio would complain of one that was.
            with contextlib.suppress(
                *(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError),
                ValueError,  # that was no request
            ):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; True if the connection may be used again."""
        method, target, headers, may_go_on = _parse(await reader.readuntil(b"\r\n\r\n"))
        await reader.readexactly(int(headers.get("content-length", 0)))
        with self._visit(method, target, headers) as (number, visit):
            await self._turn(number)
            reply = self.no_tunnel if method == "CONNECT" else self._reply(visit)
            if reply.raw is not None:
                visit.status = reply.status
                for piece in [reply.raw] if isinstance(reply.raw, bytes) else reply.raw():
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(reply.pause)
            if reply.hang:
                await reader.read()  # until the client gives up
            if reply.hang or reply.raw is not None:
                return False
            return await _send(reply, visit, writer) and may_go_on

    def _reply(self, visit: SiteRequest) -> Reply:
        page = self.pages.get(visit.url) or self.pages.get(visit.path) or self.missing
        if isinstance(page, str):
            return html(page)
        if isinstance(page, Recorded):
            return stored(page)
        return page(visit) if callable(page) else page

    @contextlib.contextmanager
    def _visit(self, method: str, target: str, headers: Mapping[str, str]) -> Iterator[tuple[int, SiteRequest]]:
        """The number of a request and its record, as long as it lasts."""
        url = target if "://" in target else f"http://{headers.get('host', 'localhost')}{target}"
        parts = urlsplit(url)
        host, began = parts.netloc, monotonic()
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        self._in_flight[host] = self._in_flight.get(host, 0) + 1
        gap = began - self._last[host] if host in self._last else None
        self._last[host] = began
        visit = SiteRequest(method, url, host, path, headers, self._in_flight[host], gap, began)
        with self._changed:
            self._count += 1
            if self._remembers:
                self.visits.append(visit)
            self._changed.notify_all()
        try:
            yield self._count, visit
        finally:
            self._in_flight[host] -= 1
            visit.ended = monotonic()


def _parse(head: bytes) -> tuple[str, str, dict[str, str], bool]:
    """Method, target, headers, and whether the connection may be used again."""
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, version = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return method, target, headers, version != "HTTP/1.0" and headers.get("connection", "").lower() != "close"


async def _send(reply: Reply, visit: SiteRequest, writer: asyncio.StreamWriter) -> bool:
    """Send an answer; True if the connection may be used again."""
    await asyncio.sleep(reply.wait)
    if reply.reset == BEFORE_HEADERS:
        _break(writer)
        return False
    visit.status = reply.status
    writer.write(reply.head())
    if visit.method != "HEAD":
        await _send_body(reply, writer)
    await writer.drain()
    return reply.keeps_alive


async def _send_body(reply: Reply, writer: asyncio.StreamWriter) -> None:
    sent = 0
    async for piece in reply.pieces():
        if reply.reset is not None and sent + len(piece) >= reply.reset:
            writer.write(piece[: reply.reset - sent])
            await writer.drain()
            _break(writer)
            return
        writer.write(piece)
        sent += len(piece)
        await writer.drain()
        if reply.pause:
            await asyncio.sleep(reply.pause)


def _break(writer: asyncio.StreamWriter) -> None:
    """Reset the connection, instead of closing it in order."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
