"""What is answered at which address: the page, JSON calls, events, downloads, metrics (docs/watch.md lists them)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from focused.problems import ProblemsError
from focused.report.html import template
from focused.report.orders import check_orders
from focused.report.text import clean, short
from focused.report.why import UnknownLink, explain_link
from focused.watch import view
from focused.watch.asked import Wrong, given
from focused.watch.beginning import BeginCalls
from focused.watch.crawls import PROBLEMS, Watched, WatchedCrawls
from focused.watch.drafts import Drafts
from focused.watch.found import KINDS, SORTS, Wish, page_json
from focused.watch.metrics import metrics
from focused.watch.orders import to_marks, to_order

_EVERY, _HEARTBEAT, _MOST_STREAMS = 1.0, 15.0, 64
_LONGEST_WORDS, _LONGEST_URL, _MOST_ROWS, _MOST_NEAR, _MOST_KEPT = 200, 8_000, 500, 30, 100
_SAID = ("", "yes", "no", "unknown", "nothing")
_STATIC = {
    "icon.svg": "image/svg+xml",
    "watch.css": "text/css",
    **dict.fromkeys(("cards.js", "common.js", "crawl.js", "found.js", "index.js", "new.js"), "text/javascript"),
}

OfCrawl = Callable[[Request, Watched], Awaitable[Response]]


def make_app(
    crawls: WatchedCrawls, is_ending: Callable[[], bool] = lambda: False, drafts: Drafts | None = None
) -> Starlette:
    """The application, without its guard. Streams of events end when ``is_ending`` says so.

    Where there are ``drafts``, crawls can be begun.
    """
    page, begin = _Pages(crawls, is_ending, can_begin=drafts is not None), BeginCalls(crawls, drafts, is_ending)
    of_crawl: dict[str, tuple[str, OfCrawl]] = {
        "": ("GET", page.whole),
        "/events": ("GET", page.events),
        "/harvest": ("GET", page.harvest),
        "/harvest.svg": ("GET", page.chart),
        "/pages": ("GET", page.pages),
        **{f"/pages.{kind}": ("GET", partial(page.download, kind=kind)) for kind in KINDS},
        "/near": ("GET", page.near),
        "/learned": ("GET", page.learned),
        "/waiting": ("GET", page.waiting),
        "/why": ("GET", page.why),
        "/made": ("GET", page.made),
        "/questions": ("GET", page.questions),
        "/marks": ("POST", page.mark),
        "/orders": ("POST", page.order),
        "/startable": ("GET", begin.can_start),
        "/start": ("POST", begin.start_again),
    }
    routes = [
        Route("/", page.index),
        Route("/new", page.new),
        Route("/crawls/{key}", page.crawl),
        Route("/static/{name}", page.static),
        Route("/metrics", page.metrics),
        Route("/api/crawls", page.all),
        *(
            Route(f"/api/crawls/{{key}}{path}", page.of_crawl(answer), methods=[method])
            for path, (method, answer) in of_crawl.items()
        ),
        *begin.routes(),
    ]
    refused = dict.fromkeys((Wrong, UnknownLink, *PROBLEMS), _refused)
    handlers: Mapping[Any, Any] = {404: _not_found, 405: _not_found, 500: _failed, **refused}
    return Starlette(routes=routes, exception_handlers=handlers)


async def _not_found(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    words = "there is nothing at this address" if status == 404 else f"{request.method} is not answered here"
    return JSONResponse({"error": getattr(error, "detail", "") if request.path_params else words}, status)


async def _refused(_: Request, error: Exception) -> Response:
    """What is wrong with a request, or with a crawl, in a sentence."""
    status = 400 if isinstance(error, Wrong) else 409
    return JSONResponse({"error": short(clean(str(error)), 2_000)}, status)


async def _failed(_: Request, __: Exception) -> Response:
    """A mistake of ours: its traceback is printed where the page was started."""
    return JSONResponse({"error": "this could not be answered: see the terminal of `scrapy watch`"}, 500)


class _Pages:
    def __init__(self, crawls: WatchedCrawls, is_ending: Callable[[], bool], *, can_begin: bool) -> None:
        self._crawls, self._is_ending, self._streams, self._can_begin = crawls, is_ending, 0, can_begin
        self._texts: dict[tuple[str, str], tuple[object, str]] = {}
        environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        folder = resources.files("focused.watch")
        self._static = {name: folder.joinpath("static", name).read_text("utf-8") for name in _STATIC}
        self._static["watch.css"] = template("looks.css") + self._static["watch.css"]
        self._templates = {
            name: environment.from_string(folder.joinpath("templates", f"{name}.html").read_text("utf-8"))
            for name in ("index", "crawl", "new")
        }

    # --- the page ------------------------------------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        """All crawls; the crawl if a single one is watched."""
        crawls = await self._crawls.all()
        if self._crawls.is_one and crawls:
            return self._page(crawls[0], is_only=True)
        return HTMLResponse(self._templates["index"].render(can_begin=self._can_begin))

    async def new(self, request: Request) -> Response:
        """Where a crawl is begun."""
        if not self._can_begin:
            return JSONResponse({"error": "a crawl can be begun where a folder of jobs is watched"}, 404)
        return HTMLResponse(self._templates["new"].render())

    async def crawl(self, request: Request) -> Response:
        """One crawl."""
        return self._page(await self._find(request), is_only=False)

    def _page(self, crawl: Watched, *, is_only: bool) -> Response:
        return HTMLResponse(
            self._templates["crawl"].render(key=crawl.key, name=short(crawl.name, 200), is_only=is_only)
        )

    async def static(self, request: Request) -> Response:
        """Scripts and looks."""
        name = request.path_params["name"]
        if name not in self._static:
            return JSONResponse({"error": "there is nothing at this address"}, 404)
        return Response(self._static[name], media_type=_STATIC[name])

    async def metrics(self, request: Request) -> Response:
        """Figures for Prometheus."""
        return PlainTextResponse(metrics(await self._look_at_all()), media_type="text/plain; version=0.0.4")

    # --- JSON ----------------------------------------------------------------------------------------------------

    async def all(self, request: Request) -> Response:
        """All crawls."""
        crawls = [view.brief(crawl) for crawl in await self._look_at_all()]
        return JSONResponse({"crawls": crawls, "problem": self._crawls.problem})

    async def _look_at_all(self) -> list[Watched]:
        crawls = await self._crawls.all()
        for crawl in crawls:
            await crawl.look()
        return crawls

    def of_crawl(self, answer: OfCrawl) -> Callable[[Request], Awaitable[Response]]:
        """Finds the crawl that a request is about."""

        async def find_and_answer(request: Request) -> Response:
            return await answer(request, await self._find(request))

        return find_and_answer

    async def _find(self, request: Request) -> Watched:
        crawl = await self._crawls.get(request.path_params["key"])
        if crawl is None:
            raise Wrong("there is no crawl of this name here")
        return crawl

    async def whole(self, request: Request, crawl: Watched) -> Response:
        """All figures of a crawl."""
        await crawl.look()
        return JSONResponse(view.view(crawl))

    async def events(self, request: Request, crawl: Watched) -> Response:
        """The same, again whenever something has changed."""
        if self._streams >= _MOST_STREAMS:
            return JSONResponse({"error": f"{_MOST_STREAMS} browsers are looking already"}, 503)
        return StreamingResponse(self._stream(crawl), media_type="text/event-stream")

    async def _stream(self, crawl: Watched) -> AsyncIterator[str]:
        self._streams += 1
        try:
            number, silent = -1, 0.0
            while not self._is_ending():
                seen = await crawl.look()
                if seen.number != number:
                    number, silent = seen.number, 0.0
                    yield self._kept(crawl, "events", seen, lambda: f"data: {json.dumps(view.view(crawl))}\n\n")
                elif silent >= _HEARTBEAT:
                    silent = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(_EVERY)
                silent += _EVERY
        finally:
            self._streams -= 1

    def _kept(self, crawl: Watched, what: str, source: object, make: Callable[[], str]) -> str:
        """A text that is made once for all browsers, as long as what it is made from is the same."""
        was, text = self._texts.pop((crawl.key, what), (None, ""))
        text = text if was is source else make()
        self._texts[crawl.key, what] = source, text
        while len(self._texts) > _MOST_KEPT:
            del self._texts[next(iter(self._texts))]
        return text

    async def harvest(self, request: Request, crawl: Watched) -> Response:
        """Harvest over time, as points."""
        seen = await crawl.look()
        return JSONResponse(await asyncio.to_thread(view.harvest, seen.pages))

    async def chart(self, request: Request, crawl: Watched) -> Response:
        """Harvest over time, as a drawing."""
        seen, width = await crawl.look(), _number(request, "width", 640, 240, 2_000)
        drawn = self._kept(crawl, f"chart {width}", seen.pages, lambda: view.harvest_chart(seen.pages, width))
        return Response(drawn, media_type="image/svg+xml")

    async def pages(self, request: Request, crawl: Watched) -> Response:
        """Some of the pages."""
        seen, wish = await crawl.look(), _wish(request)
        first, most = _number(request, "offset", 0, 0, 10**9), _number(request, "limit", 100, 1, _MOST_ROWS)
        marks = dict(seen.marks or {})
        rows = await asyncio.to_thread(wish.rows, seen.pages, marks)
        shown = [page_json(page, marks) for page in rows[first : first + most]]
        return JSONResponse({"total": len(rows), "of": len(seen.pages), "pages": shown})

    async def download(self, request: Request, crawl: Watched, kind: str) -> Response:
        """All of them, as a file."""
        seen, wish = await crawl.look(), _wish(request)
        marks = dict(seen.marks or {})
        rows = await asyncio.to_thread(wish.rows, seen.pages, marks)
        media, write = KINDS[kind]
        name = {"content-disposition": f'attachment; filename="pages.{kind}"'}
        return StreamingResponse(write(rows, marks), media_type=f"{media}; charset=utf-8", headers=name)

    async def near(self, request: Request, crawl: Watched) -> Response:
        """The text around the links that led to some pages."""
        numbers = {int(one) for one in request.query_params.get("orders", "").split(",") if one.isdecimal()}
        pages = [page for page in (await crawl.look()).pages if page.order in numbers][:_MOST_NEAR]
        what = f"near {','.join(str(page.order) for page in pages)}"
        return JSONResponse(await crawl.answer(what, partial(view.near, pages=pages)) if pages else {})

    async def learned(self, request: Request, crawl: Watched) -> Response:
        """What was learned."""
        links = [page.link for page in (await crawl.look()).pages]
        return JSONResponse(await crawl.answer("learned", partial(view.learned, links=links)))

    async def waiting(self, request: Request, crawl: Watched) -> Response:
        """What comes next."""
        most = _number(request, "most", 20, 1, 200)
        return JSONResponse(await crawl.answer(f"waiting {most}", partial(view.waiting, most=most)))

    async def why(self, request: Request, crawl: Watched) -> Response:
        """The story of an address."""
        url = request.query_params.get("url", "")
        if not 0 < len(url) <= _LONGEST_URL:
            raise Wrong("give an address: ?url=https://…")
        lines = await crawl.answer(f"why {url}", lambda reader: [clean(one) for one in explain_link(reader, url)])
        return JSONResponse({"lines": lines})

    async def made(self, request: Request, crawl: Watched) -> Response:
        """How the crawl was made."""
        return JSONResponse(view.made(await crawl.look()))

    async def questions(self, request: Request, crawl: Watched) -> Response:
        """Pages to ask about."""
        most = _number(request, "most", 10, 1, 100)
        marked = len((await crawl.look()).marks or ())
        asked = await crawl.answer(f"questions {most} {marked}", partial(view.questions, most=most))
        return JSONResponse({"questions": asked})

    # --- letters -------------------------------------------------------------------------------------------------

    async def mark(self, request: Request, crawl: Watched) -> Response:
        """Note marks."""
        marks = await given(request, to_marks)
        await crawl.tell(marks)
        return JSONResponse({"noted": len(marks)})

    async def order(self, request: Request, crawl: Watched) -> Response:
        """Note an order."""
        order = await given(request, to_order)
        is_running = (await crawl.look()).is_running
        try:
            await crawl.ask(lambda reader: check_orders(reader, [order], is_running=is_running))
        except ProblemsError as error:
            raise Wrong(str(error)) from error
        await crawl.tell([order])
        return JSONResponse({"noted": 1})


def _wish(request: Request) -> Wish:
    """Which pages are asked for; Wrong if that cannot be."""
    asked = request.query_params
    words = tuple(asked.get("q", "").lower().split())
    sort, said = asked.get("sort", "-relevance"), asked.get("said", "")
    if sum(map(len, words)) > _LONGEST_WORDS:
        raise Wrong(f"search for at most {_LONGEST_WORDS} characters")
    if sort.removeprefix("-") not in SORTS:
        raise Wrong(f"sort={sort}: use one of {', '.join(SORTS)}, with a minus before it for the other direction")
    if said not in _SAID:
        raise Wrong(f"said={said}: use one of {', '.join(filter(None, _SAID))}")
    try:
        least, most = float(asked.get("least") or 0.0), float(asked.get("most") or 1.0)
    except ValueError as error:
        raise Wrong("least and most are numbers from 0 to 1") from error
    return Wish(words, least, most, said, asked.get("host", ""), sort)


def _number(request: Request, name: str, usual: int, least: int, most: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return usual
    if not (text.isdecimal() and len(text) < 12 and least <= int(text) <= most):
        raise Wrong(f"{name}={text[:40]}: give a whole number from {least:,} to {most:,}")
    return int(text)
