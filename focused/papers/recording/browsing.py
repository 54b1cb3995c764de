"""Fetches one page after another for somebody who browses: with the handlers, guards and politeness of a crawl."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response, TextResponse
from scrapy.settings import Settings

from focused.errors import DeniedByRobots, InnerAddress, NotHtml, Postponed, why_unreachable
from focused.pages.fetched import NoPage
from focused.pages.tokens import LEXICON
from focused.papers.recording.plain import plain_html
from focused.responses import limits_of, response_to_page
from focused.spiders.examples import plain_settings
from focused.starting import demote_lists

_REPLAY = "focused.lab.replay.handler.ReplayHandler"
# Above the command line, as in `focused.spiders.examples`.
_ABOVE_ALL = 50


@dataclass(frozen=True, slots=True)
class Opened:
    """A page: the addresses that led to it, the last its own; its plain HTML, in which link *n* has the address *n*."""

    urls: list[str]
    title: str
    html: str
    links: list[str]


class BrowsingSpider(Spider):
    """Is open for as long as somebody browses. Without a name of its own, ``scrapy list`` does not offer it."""

    html_only = True

    # Set by Scrapy, from what the crawl is given.
    opened: asyncio.Event
    ended: asyncio.Event

    async def start(self) -> AsyncIterator[Any]:
        """Nothing of its own, until the end."""
        self.opened.set()
        await self.ended.wait()
        return
        yield


class Browser:
    """Gets pages through a crawler that is open."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    async def get(self, url: str) -> Opened:
        """The page at an address; NoPage says, for people, why there is none."""
        # Somebody waits for it.
        request = Request(url, meta={"is_start_request": True})
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:
            raise NoPage(_why_not(request, error)) from error
        if not 200 <= response.status < 300:
            raise NoPage(f"the server answered {response.status}")
        if not isinstance(response, TextResponse):
            raise NoPage("this is not a page of HTML")
        return await self._opened(url, response)

    async def _opened(self, url: str, response: TextResponse) -> Opened:
        page = await response_to_page(response, limits_of(self._crawler.settings), LEXICON)
        links = list(dict.fromkeys(page.links.urls))
        html = await asyncio.to_thread(plain_html, response.selector.root, response.url, links)
        return Opened(_addresses(url, response), page.title, html, links)


def _addresses(url: str, response: Response) -> list[str]:
    """The address asked for, and those that it was redirected to."""
    return list(dict.fromkeys([url, *response.meta.get("redirect_urls", ()), response.url]))


def _why_not(request: Request, error: Exception) -> str:
    if isinstance(error, DeniedByRobots):
        return "the robots.txt of the site forbids this page"
    if isinstance(error, InnerAddress):
        return f"the address is refused: {error.reason}"
    if isinstance(error, NotHtml):
        return f"this is not a page of HTML ({error})"
    if isinstance(error, Postponed):
        return f"the site is to be left alone for now ({error.reason}): try again in {ceil(error.seconds)} seconds"
    return why_unreachable(request, error)


@asynccontextmanager
async def browsing(process: AsyncCrawlerProcess, settings: Settings, web: str) -> AsyncIterator[Browser]:
    """A browser on a process whose event loop runs; with a recorded ``web``, nothing is fetched from the network."""
    plain = plain_settings(settings)
    changes: dict[str, Any] = {"RETRY_ENABLED": False}
    if web:
        handlers = dict.fromkeys(("http", "https"), _REPLAY)
        changes |= {"DOWNLOAD_HANDLERS": handlers, "FOCUSED_REPLAY_WEB": web, "DOWNLOAD_DELAY": 0}
    for name, value in changes.items():
        plain.set(name, value, priority=_ABOVE_ALL)
    crawler = Crawler(BrowsingSpider, plain)
    demote_lists(crawler)
    opened, ended = asyncio.Event(), asyncio.Event()
    crawl = process.crawl(crawler, name="browsing", opened=opened, ended=ended)
    crawl.add_done_callback(lambda _: opened.set())
    await opened.wait()
    try:
        if crawl.done():
            crawl.result()
            raise ValueError("pages cannot be fetched with these settings: see the log")
        yield Browser(crawler)
    finally:
        ended.set()
        await crawl
