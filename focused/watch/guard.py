"""Who may ask: whoever has the token, from our own page or a program of theirs, for this very server by its name.

A page of somebody else's in the same browser can send requests here, too (to loopback, and by a name that it has made
resolve to it). So a request needs the token, names us as its host, and does not come from another site; and answers
tell the browser to run nothing but our scripts, to keep nothing, and to show us in no frame.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 4 * 2**20
"""Of a body: some ten thousand marks."""
_LONGEST_ADDRESS = 16_384
FRAMED = "/framed/"
"""Below it, and a secret of their own, are the addresses of what a page of ours shows in a frame."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
# Whatever is in it: no scripts, forms or windows, nothing from elsewhere, and no way to the page around it. And that
# page shows nothing in its frame but what is ours.
FRAMED_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:16px;color:#1c2430;background:#fff;overflow-wrap:anywhere}"
    "a[href]{color:#0072b2}td,th{padding:2px 8px;vertical-align:top}pre{white-space:pre-wrap}"
)
_FRAMED_HEADERS = _HEADERS | {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{b64encode(sha256(FRAMED_STYLE.encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
    ),
    "x-frame-options": "SAMEORIGIN",
}
_FRAMING_HEADERS = _HEADERS | {"content-security-policy": f"{_POLICY}; frame-src 'self'"}
_LOGGED_IN = (
    b'<!doctype html><html lang="en"><title>Focused</title><link rel="icon" href="/static/icon.svg">'
    b'<a href="/">Go on</a>'
)
_STRANGER = "the token is missing or wrong: open the address that was printed"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class NotAnswered(Exception):
    """A request that is not answered: its status, and a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Guard:
    """Lets requests through to an application that have the right to; ``names`` are the hosts that we are called by.

    An address (not a name) of this machine is always one of ours: names can be made to resolve to it by others.

    With a ``frame_key``, what is below `FRAMED` and this key is answered to a frame of our page. A frame without an
    origin comes from another site, to browsers, and has no cookies: the key stands for them.
    """

    def __init__(
        self, app: ASGIApp, token: str, port: int, names: Iterable[str] = _LOOPBACK, *, frame_key: str = ""
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._names = {name.lower() for name in (*_LOOPBACK, *names)}
        # Cookies are shared by all ports of a host.
        self._cookie = f"focused-watch-{port}"
        self._frame_key = frame_key.encode()
        self._headers = _FRAMING_HEADERS if frame_key else _HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        is_framed = bool(self._frame_key) and scope["path"].startswith(FRAMED)
        send = _with_headers(send, _FRAMED_HEADERS if is_framed else self._headers)
        try:
            self._check_request(scope, headers)
            if is_framed:
                self._check_framed(scope, headers)
            elif self._check(scope, headers):
                await self._log_in(scope, send)
                return
            body = await _body(headers, receive) if scope["method"] == "POST" else b""
        except NotAnswered as refused:
            await _answer(send, refused.status, {"error": str(refused)})
            return
        await self._app(scope, _once(body, receive), send)

    def _check_request(self, scope: Scope, headers: dict[str, str]) -> None:
        """NotAnswered, whoever asks."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise NotAnswered(421, f"{host[:200]!r} is not the name of this server: use the address that was printed")
        if len(scope["query_string"]) > _LONGEST_ADDRESS:
            raise NotAnswered(414, "this address is too long")
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            raise NotAnswered(405, "only GET and POST are answered")

    def _check_framed(self, scope: Scope, headers: dict[str, str]) -> None:
        key = scope["path"].removeprefix(FRAMED).partition("/")[0]
        if not secrets.compare_digest(key.encode(), self._frame_key):
            raise NotAnswered(401, _STRANGER)
        if scope["method"] != "GET" or headers.get("sec-fetch-dest", "iframe") != "iframe":
            raise NotAnswered(403, "this is shown in a frame of our page, and nowhere else")

    def _check(self, scope: Scope, headers: dict[str, str]) -> bool:
        """NotAnswered, or whether somebody opens the page with the token in its address."""
        given = _parameter(scope["query_string"], "token")
        if given and scope["method"] == "GET" and self._is_token(given):
            # Whoever has the token may come from anywhere, to a page.
            return True
        if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
            raise NotAnswered(403, "requests from other sites are refused")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{headers.get('host', '')}".lower():
            raise NotAnswered(403, "requests from other sites are refused")
        bearer = headers.get("authorization", "").partition("Bearer ")[2].strip()
        if not self._is_token(bearer) and not self._is_token(_cookies(headers).get(self._cookie, "")):
            raise NotAnswered(401, _STRANGER)
        return False

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in self._names:
                return True
            ip_address(name)
        except ValueError:
            return False
        return True

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token)

    async def _log_in(self, scope: Scope, send: Send) -> None:
        """The token goes into a cookie, and out of the address.

        Not by a redirect: one that began at another site (a link in somebody's mail) would come without the cookie.
        """
        cookie = f"{self._cookie}={self._token.decode()}; Path=/; HttpOnly; SameSite=Strict"
        headers = [("content-type", "text/html; charset=utf-8"), ("set-cookie", cookie), ("refresh", "0; url=/")]
        await _send(send, 200, headers, _LOGGED_IN)


def _parameter(query: bytes, name: str) -> str:
    try:
        return parse_qs(query.decode("latin-1"), max_num_fields=100).get(name, [""])[0]
    except ValueError as error:
        raise NotAnswered(400, "this address cannot be read: it has too many parameters") from error


def _cookies(headers: dict[str, str]) -> dict[str, str]:
    pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs}


async def _body(headers: dict[str, str], receive: Receive) -> bytes:
    """The body of a POST, which must be JSON: a form of another site's can send nothing that is called that."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise NotAnswered(415, "give a body of type application/json")
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise NotAnswered(400, "the body has not come to its end")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BYTES:
            raise NotAnswered(413, f"the body has more than {MOST_BYTES:,} bytes: send it in parts")
        if not message.get("more_body"):
            return b"".join(parts)


def _once(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return messages.pop() if messages else await receive()

    return give


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    ours = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return send_with


async def _answer(send: Send, status: int, value: Any) -> None:
    await _send(send, status, [("content-type", "application/json")], json.dumps(value).encode())


async def _send(send: Send, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
