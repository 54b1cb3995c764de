"""Asks the application of the page to watch without a network, as a browser or a program would."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.types import ASGIApp, Message

HOST = "127.0.0.1:8899"
TOKEN = "a-token-that-only-we-know-0123456789"


@dataclass(frozen=True)
class Answered:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        return ", ".join(value for key, value in self.headers if key == name)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"])


class Asker:
    """One loop for all requests, as in the server. ``headers`` go with each request; None leaves one out."""

    def __init__(self, app: ASGIApp, **headers: str) -> None:
        self.app, self.loop = app, asyncio.new_event_loop()
        self.headers = {"host": HOST, **headers}

    def close(self) -> None:
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    def get(self, target: str, **headers: str | None) -> Answered:
        return self.ask("GET", target, b"", headers)

    def post(self, target: str, value: Any = None, *, body: bytes | None = None, **headers: str | None) -> Answered:
        data = json.dumps(value).encode() if body is None else body
        return self.ask("POST", target, data, {"content_type": "application/json", **headers})

    def ask(self, method: str, target: str, body: bytes, headers: dict[str, str | None]) -> Answered:
        return self.loop.run_until_complete(self.answer_to(method, target, body, headers))

    async def answer_to(self, method: str, target: str, body: bytes, headers: dict[str, str | None]) -> Answered:
        parts = urlsplit(target)
        given = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": quote(parts.path).encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items() if value is not None],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8899),
        }
        half = len(body) // 2
        incoming = [body[half:], body[:half]]
        sent: list[Message] = []

        async def receive() -> Message:
            if not incoming:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": incoming.pop(), "more_body": bool(incoming)}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        head, *rest = sent
        pairs = [(name.decode(), value.decode("latin-1")) for name, value in head["headers"]]
        return Answered(head["status"], pairs, b"".join(message.get("body", b"") for message in rest))
