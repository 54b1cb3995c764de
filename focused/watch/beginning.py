"""The calls by which a crawl is begun on the page: from words, seeds and answers to a crawl that runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from focused.addresses import to_url
from focused.problems import Problems, ProblemsError
from focused.report.text import clean
from focused.watch.asked import Wrong, decode, given
from focused.watch.crawls import Watched, WatchedCrawls, key_of
from focused.watch.drafts import STARTED, Draft, Drafts
from focused.watch.topic_file import BegunCrawl, topic_of_words

_EVERY, _HEARTBEAT, _MOST_STREAMS = 0.3, 15.0, 16
_ANSWERS = {"yes": True, "no": False, "forget": None}

_Budget = Annotated[int, Meta(ge=1, le=100_000_000)]


class _AskedAnswer(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    said: Literal["yes", "no", "forget"]


class _AskedAnswers(msgspec.Struct, forbid_unknown_fields=True):
    answers: Annotated[list[_AskedAnswer], Meta(max_length=1_000)]


class _AskedDraft(msgspec.Struct, forbid_unknown_fields=True):
    words: str
    seeds: str
    name: str = ""
    pages: Annotated[int, Meta(ge=1, le=200)] = 30
    answers: Annotated[list[_AskedAnswer], Meta(max_length=1_000)] = []
    instead: str = ""


class _AskedTopic(msgspec.Struct, forbid_unknown_fields=True):
    toml: str


class _AskedStart(msgspec.Struct, forbid_unknown_fields=True):
    toml: str
    pages: _Budget


class _AskedAgain(msgspec.Struct, forbid_unknown_fields=True):
    pages: _Budget


OfDraft = Callable[[Request, Draft], Awaitable[Response]]


class BeginCalls:
    """What is answered about new crawls. ``drafts`` is None where none can be begun."""

    def __init__(self, crawls: WatchedCrawls, drafts: Drafts | None, is_ending: Callable[[], bool]) -> None:
        self._crawls, self._drafts, self._is_ending, self._streams = crawls, drafts, is_ending, 0

    def routes(self) -> list[Route]:
        """The calls about drafts."""
        of_draft: dict[str, tuple[str, OfDraft]] = {
            "": ("GET", self.whole),
            "/events": ("GET", self.events),
            "/answers": ("POST", self.answer),
            "/topic": ("GET", self.topic),
            "/check": ("POST", self.check),
            "/start": ("POST", self.start),
        }
        return [
            Route("/api/drafts", self.begin, methods=["POST"]),
            *(
                Route(f"/api/drafts/{{key}}{path}", self._of_draft(answer), methods=[method])
                for path, (method, answer) in of_draft.items()
            ),
        ]

    def _of_draft(self, answer: OfDraft) -> Callable[[Request], Awaitable[Response]]:
        async def find_and_answer(request: Request) -> Response:
            draft = self._there.get(request.path_params["key"])
            if draft is None:
                raise Wrong("this try is not there any more: try again")
            return await answer(request, draft)

        return find_and_answer

    @property
    def _there(self) -> Drafts:
        if self._drafts is None:
            raise Wrong("a crawl can be begun where a folder of jobs is watched: scrapy watch FOLDER")
        return self._drafts

    async def begin(self, request: Request) -> Response:
        """Try a new topic."""
        drafts = self._there
        asked = await given(request, lambda body: decode(body, _AskedDraft))

        def begin() -> Draft:
            topic = topic_of_words(asked.name, asked.words, asked.seeds, drafts.settings)
            said = {url: is_wanted for url, is_wanted in _answers(asked.answers).items() if is_wanted is not None}
            return drafts.begin(topic, asked.pages, said, asked.instead)

        return JSONResponse(await self._shown(await _tried(begin)))

    async def whole(self, request: Request, draft: Draft) -> Response:
        """All that is known of a draft."""
        return JSONResponse(await self._shown(draft))

    async def _shown(self, draft: Draft) -> dict[str, Any]:
        shown = await asyncio.to_thread(draft.shown)
        if shown["state"] == STARTED:
            key = key_of(draft.place.name)
            if await self._crawls.get(key) is None:
                await self._crawls.find_now()
            shown["crawl"] = key
        return shown

    async def events(self, request: Request, draft: Draft) -> Response:
        """The same, again whenever something has changed."""
        if self._streams >= _MOST_STREAMS:
            return JSONResponse({"error": f"{_MOST_STREAMS} browsers are looking already"}, 503)
        return StreamingResponse(self._stream(draft), media_type="text/event-stream")

    async def _stream(self, draft: Draft) -> AsyncIterator[str]:
        self._streams += 1
        try:
            last, silent = None, 0.0
            while not self._is_ending():
                now = draft.number, draft.state()
                if now != last:
                    last, silent = now, 0.0
                    yield f"data: {json.dumps(await self._shown(draft))}\n\n"
                elif silent >= _HEARTBEAT:
                    silent = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(_EVERY)
                silent += _EVERY
        finally:
            self._streams -= 1

    async def answer(self, request: Request, draft: Draft) -> Response:
        """Say of pages whether they are wanted; all are judged anew."""
        asked = await given(request, lambda body: decode(body, _AskedAnswers))
        await _tried(lambda: draft.say(_answers(asked.answers)))
        return JSONResponse(await self._shown(draft))

    async def topic(self, request: Request, draft: Draft) -> Response:
        """The topic file as it would be written."""
        return await self._files(draft, None)

    async def check(self, request: Request, draft: Draft) -> Response:
        """The same, from a text that was edited."""
        return await self._files(draft, (await given(request, lambda body: decode(body, _AskedTopic))).toml)

    async def _files(self, draft: Draft, toml: str | None) -> Response:
        files = await _tried(lambda: draft.files(self._there.settings, toml))
        names = {
            "file": draft.place.topic.name,
            "table_file": draft.place.table.name,
            "folder": str(draft.place.folder),
        }
        return JSONResponse({**names, "toml": files.toml, "table": files.table})

    async def start(self, request: Request, draft: Draft) -> Response:
        """Write the topic file, and start the crawl."""
        asked = await given(request, lambda body: decode(body, _AskedStart))
        await _tried(lambda: draft.start(self._there.settings, asked.toml, asked.pages))
        return JSONResponse(await self._shown(draft))

    # --- crawls that were begun here ----------------------------------------------------------------------------

    async def can_start(self, request: Request, crawl: Watched) -> Response:
        """Can a crawl be started here, and what came of it when it was?"""
        place = self._place_of(crawl)
        if place is None or self._drafts is None:
            return JSONResponse({"possible": False, "is_starting": False, "problem": ""})
        launcher = self._drafts.launcher
        seen = await crawl.look()
        problem = "" if seen.is_running else await asyncio.to_thread(launcher.problem, place)
        is_starting = launcher.is_running(place) and not seen.is_running
        possible = not (seen.is_running or is_starting)
        return JSONResponse({"possible": possible, "is_starting": is_starting, "problem": problem})

    async def start_again(self, request: Request, crawl: Watched) -> Response:
        """Let a crawl go on that rests."""
        asked = await given(request, lambda body: decode(body, _AskedAgain))
        place, drafts = self._place_of(crawl), self._there
        if place is None:
            raise Wrong("this crawl was not begun on the page: start its command again")
        if (await crawl.look()).is_running:
            raise Wrong("it is running")
        await _tried(lambda: drafts.launcher.start(place, asked.pages))
        return JSONResponse({"possible": False, "is_starting": True, "problem": ""})

    def _place_of(self, crawl: Watched) -> BegunCrawl | None:
        return self._drafts.place_of(crawl.name) if self._drafts is not None else None


def _answers(asked: list[_AskedAnswer]) -> dict[str, bool | None]:
    """Which pages are wanted; ProblemsError if one has no address."""
    problems, answers = Problems(), {}
    for number, one in enumerate(asked, 1):
        try:
            answers[to_url(one.url)] = _ANSWERS[one.said]
        except ValueError as error:
            problems.add(f"answer {number}", str(error))
    problems.raise_as(ProblemsError)
    return answers


async def _tried(work: Callable[[], Any]) -> Any:
    """What comes of work for a thread; what is wrong with what was asked is said."""
    try:
        return await asyncio.to_thread(work)
    except ValueError as error:
        raise Wrong(clean(str(error))) from error
