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
from focused.pages.guard import looks_binary
from focused.pages.page import PageLimits
from focused.pages.tokens import LEXICON
from focused.responses import limits_of, response_to_page
from focused.spiders.examples import plain_settings
from focused.starting import demote_lists
from focused.teaching.gathering import responses_of
from focused.warc.web import Web
from focused.watch.recording.plain import plain_html

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
        return await _opened(_addresses(url, response), response, limits_of(self._crawler.settings))


class RecordedBrowser:
    """Gets pages of a recorded web."""

    def __init__(self, web: Web, limits: PageLimits) -> None:
        self._web, self._limits = web, limits

    async def get(self, url: str) -> Opened:
        """As `Browser.get`; nothing is fetched."""
        responses = responses_of(self._web, url)
        return await _opened([one.url for one in responses], responses[-1], self._limits)


async def _opened(urls: list[str], response: Response, limits: PageLimits) -> Opened:
    if not 200 <= response.status < 300:
        raise NoPage(f"the server answered {response.status}")
    if not isinstance(response, TextResponse) or looks_binary(response.body):
        raise NoPage("this is not a page of HTML")
    try:
        page = await response_to_page(response, limits, LEXICON)
        links = list(dict.fromkeys(page.links.urls))
        html = await asyncio.to_thread(plain_html, response.selector.root, response.url, links)
    except Exception as error:
        raise NoPage(f"this page cannot be read ({error!r})") from error
    return Opened(urls, page.title, html, links)


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
async def browsing(process: AsyncCrawlerProcess, settings: Settings) -> AsyncIterator[Browser]:
    """A browser on a process whose event loop runs."""
    plain = plain_settings(settings)
    # Whoever waits can click again.
    plain.set("RETRY_ENABLED", False, priority=_ABOVE_ALL)
    crawler = Crawler(BrowsingSpider, plain)
    demote_lists(crawler)
    opened, ended = asyncio.Event(), asyncio.Event()
    crawl = process.crawl(crawler, name="browsing", opened=opened, ended=ended)
    crawl.add_done_callback(lambda _: opened.set())
    await opened.wait()
    try:
        if crawl.done():
            crawl.result()
            raise ValueError("pages cannot be fetched with these settings: a crawl with them ends before it begins")
        yield Browser(crawler)
    finally:
        ended.set()
        await crawl
