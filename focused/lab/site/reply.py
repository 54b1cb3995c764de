"""The answer of a test's site to one request, however badly it behaves."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.client import responses
from time import monotonic

from focused.warc.reader import Recorded

HTML = "text/html; charset=utf-8"
BEFORE_HEADERS = -1


@dataclass(slots=True, eq=False)
class SiteRequest:
    """One request as the site saw it. Times are `time.monotonic`; ``gap`` is since the host's last request began.

    ``in_flight`` counts the host's requests in progress at that moment, including this one; ``ended`` is 0 until the
    answer was sent, and ``status`` is 0 if there was none.
    """

    method: str
    url: str
    host: str
    path: str
    headers: Mapping[str, str]
    in_flight: int
    gap: float | None
    began: float = field(default_factory=monotonic)
    ended: float = 0.0
    status: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer.

    ``body`` may be a function that gives pieces, for bodies made while they are sent. ``wait`` seconds pass before the
    headers, ``pause`` seconds after each piece of ``piece`` bytes. ``length`` is the Content-Length that is sent,
    right or wrong. With ``hang`` nothing is ever sent; with ``reset`` the connection breaks after so many bytes of the
    body, or `BEFORE_HEADERS`. ``raw`` is sent instead of all this, as it is, and then the connection is closed, unless
    the reply is to ``hang``.
    """

    status: int = 200
    body: bytes | Callable[[], Iterable[bytes]] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    pause: float = 0.0
    piece: int = 65_536
    length: int | None = None
    hang: bool = False
    reset: int | None = None
    raw: bytes | Callable[[], Iterable[bytes]] | None = None

    def head(self) -> bytes:
        """The status line and the headers."""
        lines = [f"HTTP/1.1 {self.status} {responses.get(self.status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in self.all_headers()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")

    def all_headers(self) -> Iterable[tuple[str, str]]:
        """The headers that are sent."""
        own = {"Content-Type": HTML, **self.headers}
        length = len(self.body) if self.length is None and isinstance(self.body, bytes) else self.length
        sizes = {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
        return (own | sizes).items()

    @property
    def chunked(self) -> bool:
        """Is the body sent in HTTP chunks, because its length is not known?"""
        return self.length is None and not isinstance(self.body, bytes)

    @property
    def keeps_alive(self) -> bool:
        """Can the connection take another request afterwards?"""
        return self.length is None and self.reset is None

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it goes over the wire."""
        if not isinstance(self.body, bytes):
            for piece in self.body():
                yield b"%x\r\n%b\r\n" % (len(piece), piece) if self.chunked else piece
            if self.chunked:
                yield b"0\r\n\r\n"
            return
        for at in range(0, len(self.body), self.piece):
            yield self.body[at : at + self.piece]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored(Reply):
    """An answer with the headers that were recorded, and no others."""

    recorded: tuple[tuple[str, str], ...]

    def all_headers(self) -> Iterable[tuple[str, str]]:
        return [(name, value) for name, value in self.recorded if name.lower() != "connection"]


Handler = Callable[[SiteRequest], Reply]


def stored(answer: Recorded) -> Reply:
    """An answer as it was recorded."""
    return _Stored(status=answer.status, body=answer.body, recorded=answer.headers)


def html(body: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """An HTML page."""
    return Reply(status=status, body=body.encode(), headers=headers or {})


def linking(*links: str, text: str = "") -> Reply:
    """A page with links, each in a paragraph. Their addresses are its words, so that no two such pages are copies."""
    paragraphs = "".join(f'<p><a href="{link}">to {link}</a></p>\n' for link in links)
    title = " ".join(links)
    return html(f"<html><head><title>{title}</title></head><body><p>{title}: {text}</p>\n{paragraphs}</body></html>")


def redirect(to: str, status: int = 301) -> Reply:
    """A redirect."""
    return Reply(status=status, headers={"Location": to})


def gzipped(reply: Reply) -> Reply:
    """The same page, compressed on the wire."""
    body = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body())
    headers = {**reply.headers, "Content-Encoding": "gzip"}
    return Reply(status=reply.status, body=gzip.compress(body), headers=headers)


def in_turn(*replies: Reply) -> Handler:
    """Answers one after the other, and the last one for ever."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]
