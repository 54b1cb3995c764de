"""A recorded web on loopback: one HTTP server that is a proxy for all its hosts.

It supports GET and HEAD, and never contacts another server: what is not recorded is a 404. There is no TLS; see
`focused.lab.replay.fold` for https.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from focused.lab.replay.log import FetchLog
from focused.lab.site.reply import Reply, SiteRequest, stored
from focused.lab.site.server import SiteServer
from focused.warc.web import Web

_PLAIN = {"Content-Type": "text/plain"}
_OTHER_METHOD = Reply(status=405, headers=_PLAIN, body=b"Only GET and HEAD are replayed.\n")
_NO_TUNNEL = b"""\
https is not replayed: a recorded web is served by http only. A crawl goes through with \
DOWNLOAD_HANDLERS = {"https": "focused.lab.replay.fold.FoldedHttps"}.
"""


@contextmanager
def serve(web: Web, *, port: int = 0, log: str | Path | None = None) -> Iterator[SiteServer]:
    """Serve a web from a thread of its own for as long as the block lasts; every answer is written to ``log``."""
    with closing(FetchLog(log)) as fetches:

        def answer(visit: SiteRequest) -> Reply:
            if visit.method not in {"GET", "HEAD"}:
                return _OTHER_METHOD
            recorded = web.get(visit.url)
            fetches.add(recorded.status, visit.url)
            return stored(recorded)

        server = SiteServer({}, missing=answer, port=port, remembers=False)
        server.no_tunnel = Reply(status=501, headers=_PLAIN, body=_NO_TUNNEL)
        with server:
            yield server
