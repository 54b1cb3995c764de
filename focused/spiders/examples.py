"""Fetching a list of pages politely: the examples that a critic is taught with, the pages that it is asked to judge."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler, CrawlerRunnerBase
from scrapy.http import Response, TextResponse
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from focused.enabling import enable
from focused.errors import Postponed, Refused
from focused.pages.fetched import Fetched
from focused.pages.tokens import LEXICON
from focused.responses import limits_of, response_to_page
from focused.running.loop import Stopped
from focused.scheduling.requests import META
from focused.starting import demote_lists

logger = logging.getLogger(__name__)

Progress = Callable[[int, int, int], None]
"""Told after each page: how many are done, of how many, how many of those could not be had."""

# Somebody sits before the progress bar: a host that wants more time than this (or whose robots.txt cannot be read,
# which is a minute at least) is done without.
_LONGEST_WAIT = 30.0
_MOST_WAITS = 2
# Above the command line: -o and JOBDIR are meant for the crawl, not for the examples that come before it.
_ABOVE_ALL = 50
_PLAIN_CRAWL: dict[str, Any] = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "SPIDER_MIDDLEWARES": {},
    "ITEM_PIPELINES": {},
    "EXTENSIONS": {},
    "FEEDS": {},
    "JOBDIR": None,
    "HTTPERROR_ALLOW_ALL": False,
    "CLOSESPIDER_ERRORCOUNT": 0,
    "CLOSESPIDER_ITEMCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_TIMEOUT": 0,
    "FOCUSED_TOPIC": "",
}


class Interrupted(Stopped):
    """The fetching was stopped before it was through."""


class ExamplesSpider(Spider):
    """Gets pages for `fetch_pages`. It has no name of its own, so that ``scrapy list`` does not offer it."""

    html_only = True

    # Set by Scrapy, from what the crawl is given.
    urls: Sequence[str]
    fetched: Fetched
    progress: Progress

    async def start(self) -> AsyncIterator[Request]:
        """Every address, once."""
        for url in self.urls:
            yield Request(url, self.parse, errback=self.failed, cb_kwargs={"asked": url}, dont_filter=True)

    async def parse(self, response: Response, asked: str) -> None:
        """A page that arrived, perhaps by redirects."""
        try:
            if isinstance(response, TextResponse):
                self.fetched.pages[asked] = await response_to_page(response, limits_of(self.settings), LEXICON)
            else:
                self.fetched.failures[asked] = "not HTML"
        except Exception:
            # One page that the parser trips over must not cost the others; it is counted like one not fetched.
            logger.exception("example %s cannot be read", asked)
            self.fetched.failures[asked] = "unreadable"
        self._tell()

    async def failed(self, failure: Failure) -> AsyncIterator[Request]:
        """A page that did not; one that is merely to wait is asked for again."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        waits = request.meta.get(META, {}).get("waits", 0)
        error = failure.value
        if isinstance(error, Postponed) and error.seconds <= _LONGEST_WAIT and waits < _MOST_WAITS:
            await asyncio.sleep(error.seconds)
            ours = {**request.meta.get(META, {}), "waits": waits + 1}
            yield request.replace(meta={**request.meta, META: ours}, dont_filter=True)
            return
        asked = request.cb_kwargs["asked"]
        self.fetched.failures[asked] = _reason(error)
        logger.debug("example %s: %s", asked, error)
        self._tell()

    def _tell(self) -> None:
        done = len(self.fetched.pages) + len(self.fetched.failures)
        self.progress(done, len(self.urls), len(self.fetched.failures))


async def fetch_pages(
    urls: Sequence[str],
    settings: Settings,
    runner: CrawlerRunnerBase | None = None,
    progress: Progress = lambda *_: None,
) -> Fetched:
    """Fetch pages as the settings say (robots.txt, delays, proxies), on a runner whose event loop runs.

    Without a runner it is done within a crawl that is just opening. Interrupted if it was stopped on the way.
    """
    fetched = Fetched()
    distinct = list(dict.fromkeys(urls))
    if not distinct:
        return fetched
    crawler = Crawler(ExamplesSpider, plain_settings(settings))
    demote_lists(crawler)
    given: dict[str, Any] = {"name": "examples", "urls": distinct, "fetched": fetched, "progress": progress}
    running = runner.crawl(crawler, **given) if runner is not None else crawler.crawl(**given)
    await (maybe_deferred_to_future(running) if isinstance(running, Deferred) else running)
    missing = len(distinct) - len(fetched.pages) - len(fetched.failures)
    if missing:
        raise Interrupted(f"stopped with {missing} of {len(distinct)} pages not fetched yet")
    return fetched


def plain_settings(settings: Settings) -> Settings:
    """The settings of a crawl that only fetches: our frontier, learning and output stay out of it."""
    plain = settings.copy()
    enable(plain)
    for name, value in _PLAIN_CRAWL.items():
        plain.set(name, value, priority=_ABOVE_ALL)
    return plain


def _reason(error: BaseException | None) -> str:
    if isinstance(error, HttpError):
        return f"HTTP {error.response.status}"
    if isinstance(error, Postponed):
        return error.reason
    if isinstance(error, Refused):
        return error.kind
    return type(error).__name__
