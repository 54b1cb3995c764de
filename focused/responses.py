"""From a response to its page, so that no page can hold the crawl, nor lose its links in silence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any, TypeVar

from scrapy.http import TextResponse
from scrapy.selector import Selector
from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.response import get_base_url
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.python.failure import Failure

from focused.defaults import read_all
from focused.pages import guard
from focused.pages.page import Page, PageLimits, parse_page
from focused.pages.tokens import LEXICON, Lexicon

T = TypeVar("T")

IN_THREAD = 64 * 1024
"""Larger bodies are parsed in a thread: lxml lets go of the interpreter's lock meanwhile."""
_AT_ONCE = DeferredSemaphore(2)
"""Large pages that are parsed at the same time: each may take as much memory as `focused.pages.guard` allows."""


def limits_of(settings: BaseSettings) -> PageLimits:
    """The most that is taken from one page, as the settings say."""
    return read_all(PageLimits, settings, "PAGE")


async def response_to_page(response: TextResponse, limits: PageLimits, lexicon: Lexicon) -> Page:
    """A response as a page, safely parsed; a large one in a thread.

    Pages of a few kilobytes are parsed as always. Larger ones pass `focused.pages.guard` first; their selector is
    then made from its tree, so that ``response.css`` and the like see the same page, and do not parse it again.
    """
    if len(response.body) <= IN_THREAD:
        return response_to_page_now(response, limits, lexicon)
    read = partial(_text_to_page, response.text, get_base_url(response), response.url, limits, lexicon)
    parsing: Deferred[tuple[Any, Page]] = _AT_ONCE.run(_in_own_thread, read)
    root, page = await maybe_deferred_to_future(parsing)
    _keep(response, root)
    return page


def response_to_page_now(response: TextResponse, limits: PageLimits, lexicon: Lexicon = LEXICON) -> Page:
    """`response_to_page` without a thread."""
    if guard.is_harmless(response.body):
        return parse_page(response.selector.root, response.url, limits, lexicon=lexicon)
    root, page = _text_to_page(response.text, get_base_url(response), response.url, limits, lexicon)
    _keep(response, root)
    return page


def _text_to_page(text: str, base_url: str, url: str, limits: PageLimits, lexicon: Lexicon) -> tuple[Any, Page]:
    root, left_out = guard.parse(text.encode("utf-8", "surrogatepass"), base_url)
    return root, parse_page(root, url, limits, lexicon=lexicon, left_out=left_out)


def _keep(response: TextResponse, root: Any) -> None:
    # Scrapy's own cache of the selector; without it a callback's response.css() would parse the page unguarded.
    response._cached_selector = Selector(root=root, type="html")


def _in_own_thread(work: Callable[[], T]) -> Deferred[T]:
    """Like ``deferToThread``, but in a thread that ends with it.

    lxml keeps all names of tags and attributes as long as the thread that parsed them: with the threads of a pool they
    would add up page by page.
    """
    from twisted.internet import reactor  # noqa: PLC0415  # whoever starts the crawl may still choose one

    done: Deferred[Any] = Deferred()

    def run() -> None:
        try:
            result: T | Failure = work()
        except BaseException:
            result = Failure()  # type: ignore[no-untyped-call]  # Twisted's own types
        reactor.callFromThread(done.callback, result)

    Thread(target=run, name="focused-page", daemon=True).start()
    return done
