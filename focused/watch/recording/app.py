"""What is answered at which address: the page with the buttons, its calls, and the framed pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from html import escape
from importlib import resources
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from focused.pages.fetched import NoPage
from focused.report.html import template
from focused.report.text import clean, short
from focused.watch.guard import FRAMED, FRAMED_STYLE
from focused.watch.recording.session import Session

_EVERY, _HEARTBEAT, _MOST_STREAMS = 0.1, 15.0, 16
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_FRAME = (
    "<!doctype html><html><head><meta charset=utf-8><title>{}</title><style>{}</style></head><body>{}</body></html>"
)
_NOTHING = "Nothing is shown yet."


class _SaidOfPage(msgspec.Struct, forbid_unknown_fields=True):
    page: int
    label: str


class _AddressGiven(msgspec.Struct, forbid_unknown_fields=True):
    url: str


def make_app(session: Session, key: str, finish: Callable[[], None], is_ending: Callable[[], bool]) -> Starlette:
    """The application, without its guard; ``key`` is part of the addresses of framed pages."""
    page = _RecordingCalls(session, key, finish, is_ending)
    framed = f"{FRAMED}{{key}}"
    return Starlette(
        routes=[
            Route("/", page.index),
            Route("/static/{name}", page.static),
            Route("/api/state", page.state),
            Route("/api/events", page.events),
            *(
                Route(f"/api/{name}", page.call(do), methods=["POST"])
                for name, do in (
                    ("open", page.open),
                    ("label", page.label),
                    ("undo", page.undo),
                    ("back", page.back),
                    ("finish", page.finish),
                )
            ),
            Route(f"{framed}/at", page.shown),
            Route(f"{framed}/{{page:int}}/", page.framed),
            Route(f"{framed}/{{page:int}}/{{link:int}}", page.followed),
        ]
    )


class _RecordingCalls:
    def __init__(self, session: Session, key: str, finish: Callable[[], None], is_ending: Callable[[], bool]) -> None:
        self._session, self._key, self._finish, self._is_ending = session, key, finish, is_ending
        self._streams = 0
        ours, watch = resources.files("focused.watch.recording"), resources.files("focused.watch")
        self._index = ours.joinpath("templates", "record.html").read_text("utf-8").replace("{{ key }}", key)
        looks = (template("looks.css"), _text(watch, "watch.css"), _text(ours, "record.css"))
        self._static = {
            "record.css": "".join(looks),
            "record.js": _text(ours, "record.js"),
            "common.js": _text(watch, "common.js"),
            "icon.svg": _text(watch, "icon.svg"),
        }

    # --- the page with the buttons --------------------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        """The page."""
        return HTMLResponse(self._index)

    async def static(self, request: Request) -> Response:
        """Its scripts and looks."""
        name = request.path_params["name"]
        if name not in self._static:
            return JSONResponse({"error": "there is nothing at this address"}, 404)
        return Response(self._static[name], media_type=_TYPES[name.rpartition(".")[2]])

    async def state(self, request: Request) -> Response:
        """Where one is, and what was said."""
        return JSONResponse(self._session.view())

    async def events(self, request: Request) -> Response:
        """The same, again whenever it has changed."""
        if self._streams >= _MOST_STREAMS:
            return JSONResponse({"error": f"{_MOST_STREAMS} windows are open already"}, 503)
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        self._streams += 1
        try:
            number, silent = -1, 0.0
            while not self._is_ending():
                if self._session.number != number:
                    number, silent = self._session.number, 0.0
                    yield f"data: {json.dumps(self._session.view())}\n\n"
                elif silent >= _HEARTBEAT:
                    silent = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(_EVERY)
                silent += _EVERY
            yield "event: end\ndata: {}\n\n"
        finally:
            self._streams -= 1

    def call(self, do: Callable[[bytes], Awaitable[None]]) -> Callable[[Request], Awaitable[Response]]:
        """Does what a button is for, and answers with what is to be seen then."""

        async def do_and_answer(request: Request) -> Response:
            try:
                await do(await request.body())
            except (ValueError, OSError) as error:
                return JSONResponse({"error": short(clean(str(error)), 2_000)}, 409)
            return JSONResponse(self._session.view())

        return do_and_answer

    async def open(self, body: bytes) -> None:
        """Begin at an address."""
        await self._session.open(_read(body, _AddressGiven).url)

    async def label(self, body: bytes) -> None:
        """Say what the page is."""
        said = _read(body, _SaidOfPage)
        self._session.label(said.page, said.label)

    async def undo(self, _: bytes) -> None:
        """Take back what was said last."""
        self._session.undo()

    async def back(self, _: bytes) -> None:
        """Go back."""
        self._session.back()

    async def finish(self, _: bytes) -> None:
        """End, and write what was recorded."""
        self._finish()

    # --- the framed pages -----------------------------------------------------------------------------------------

    async def shown(self, request: Request) -> Response:
        """What is shown now, or soon."""
        await self._session.settled()
        if self._session.problem:
            return _frame("", f"<p>{escape(self._session.problem)}</p><p>Go on with <b>Back</b>.</p>")
        return self._to(self._session.at) if self._session.at >= 0 else _frame("", f"<p>{_NOTHING}</p>")

    async def framed(self, request: Request) -> Response:
        """One page."""
        try:
            page = await self._session.page(request.path_params["page"])
        except NoPage as error:
            return _frame("", f"<p>This page cannot be shown: {escape(short(clean(str(error)), 2_000))}.</p>")
        return _frame(page.title, page.html)

    async def followed(self, request: Request) -> Response:
        """Where a link of a page leads."""
        try:
            await self._session.follow(request.path_params["page"], request.path_params["link"])
        except NoPage as error:
            return _frame("", f"<p>This link cannot be followed: {escape(short(clean(str(error)), 2_000))}.</p>")
        return RedirectResponse(f"{FRAMED}{self._key}/at", 303)

    def _to(self, page: int) -> Response:
        return RedirectResponse(f"{FRAMED}{self._key}/{page}/", 303)


def _frame(title: str, body: str) -> Response:
    text = _FRAME.format(escape(title), FRAMED_STYLE, body)
    return Response(text.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")


def _text(folder: Any, name: str) -> str:
    return str(folder.joinpath("static", name).read_text("utf-8"))


def _read(body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"this cannot be read: {error}") from error
