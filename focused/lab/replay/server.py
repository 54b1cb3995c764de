"""A recorded web on loopback: one HTTP server that is a proxy for all its hosts.

It speaks as much HTTP/1.1 as crawlers do (GET and HEAD, absolute addresses or a Host header, connections kept open)
and never asks anybody else: what is not recorded is a 404. There is no TLS; see `focused.lab.replay.fold` for https.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path

from focused.lab.replay.log import FetchLog
from focused.warc.reader import Recorded
from focused.warc.web import Web

_LONGEST_HEAD = 64 * 1024
_NO_TUNNEL = (
    "https is not replayed: a recorded web is served by http only. A crawl goes through with "
    'DOWNLOAD_HANDLERS = {"https": "focused.lab.replay.fold.FoldedHttps"}.\n'
)


class ReplayServer:
    """Serves one recorded web; every answer is noted in ``log``."""

    def __init__(self, web: Web, log: FetchLog) -> None:
        self.web = web
        self.log = log
        self.port = 0
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()

    @property
    def proxy(self) -> str:
        """The address to use as http_proxy."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self, port: int = 0) -> None:
        """Listen on loopback; port 0 takes a free one."""
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", port, limit=_LONGEST_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and close what is open."""
        if self._server:
            self._server.close()
            for task in self._talks:
                task.cancel()
            await asyncio.gather(*self._talks, return_exceptions=True)
            await asyncio.sleep(0)  # transports close in the next turn of the loop

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._talks.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
                while self._answer(await reader.readuntil(b"\r\n\r\n"), writer):
                    await writer.drain()
        finally:
            self._talks.discard(task)
            writer.close()

    def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False closes the connection."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, version = [*first.split(" "), "", ""][:3]
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if method == "CONNECT":
            writer.write(_message(_plain(501, _NO_TUNNEL), keep=False))
            return False
        if method not in {"GET", "HEAD"} or not target:
            writer.write(_message(_plain(405, "Only GET and HEAD are replayed.\n"), keep=False))
            return False
        url = target if "://" in target else f"http://{headers.get('host', '')}{target}"
        recorded = self.web.get(url)
        self.log.add(recorded.status, url)
        keep = version != "HTTP/1.0" and headers.get("connection", "").lower() != "close"
        writer.write(_message(recorded, keep=keep, with_body=method == "GET"))
        return keep


def _plain(status: int, text: str) -> Recorded:
    body = text.encode()
    return Recorded(status, (("Content-Type", "text/plain"), ("Content-Length", str(len(body)))), body)


def _message(recorded: Recorded, *, keep: bool, with_body: bool = True) -> bytes:
    lines = [f"HTTP/1.1 {recorded.status} {HTTPStatus(recorded.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in recorded.headers if name.lower() != "connection"]
    lines.append(f"Connection: {'keep-alive' if keep else 'close'}")
    head = "\r\n".join(lines) + "\r\n\r\n"
    return head.encode("latin-1", "replace") + (recorded.body if with_body else b"")


@contextmanager
def serve(web: Web, *, port: int = 0, log: str | Path | None = None) -> Iterator[ReplayServer]:
    """Serve a web from a thread of its own for as long as the block lasts."""
    with FetchLog(log) as fetches:
        server = ReplayServer(web, fetches)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="replay", daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(server.start(port), loop).result()
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
