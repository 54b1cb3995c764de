"""A recorded web on loopback: one HTTP server that is a proxy for all its hosts.

It supports GET and HEAD, and never contacts another server: what is not recorded is a 404. There is no TLS; see
`focused.lab.replay.fold` for https.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from focused.lab.replay.log import FetchLog
from focused.lab.site.reply import Reply, Visit
from focused.lab.site.server import SiteServer
from focused.warc.reader import Recorded
from focused.warc.web import Web

_PLAIN = {"Content-Type": "text/plain"}
_OTHER_METHOD = Reply(status=405, headers=_PLAIN, body=b"Only GET and HEAD are replayed.\n")
_NO_TUNNEL = b"""\
https is not replayed: a recorded web is served by http only. A crawl goes through with \
DOWNLOAD_HANDLERS = {"https": "focused.lab.replay.fold.FoldedHttps"}.
"""


class ReplayServer(SiteServer):
    """Serves one recorded web; every answer is written to ``log``."""

    no_tunnel = Reply(status=501, headers=_PLAIN, body=_NO_TUNNEL)

    def __init__(self, web: Web, log: FetchLog, *, port: int = 0) -> None:
        super().__init__({}, missing=self._replay, port=port, remembers=False)
        self.web = web
        self.log = log

    @property
    def proxy(self) -> str:
        """The address to use as http_proxy."""
        return self.url

    def _replay(self, visit: Visit) -> Reply:
        if visit.method not in {"GET", "HEAD"}:
            return _OTHER_METHOD
        recorded = self.web.get(visit.url)
        self.log.add(recorded.status, visit.url)
        return _Stored(status=recorded.status, body=recorded.body, recorded=recorded)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored(Reply):
    """An answer with the headers that were recorded, and no others."""

    recorded: Recorded

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in self.recorded.headers if name.lower() != "connection"]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


@contextmanager
def serve(web: Web, *, port: int = 0, log: str | Path | None = None, remember: bool = True) -> Iterator[ReplayServer]:
    """Serve a web from a thread of its own for as long as the block lasts."""
    with FetchLog(log, remember=remember) as fetches, ReplayServer(web, fetches, port=port) as server:
        yield server
