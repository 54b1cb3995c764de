"""From a response to its page, so that no page can hold the crawl, nor lose its links in silence."""

from __future__ import annotations

from typing import Any

from scrapy.http import TextResponse
from scrapy.selector import Selector
from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.response import get_base_url
from twisted.internet.threads import deferToThread

from focused.defaults import read_all
from focused.pages import guard
from focused.pages.page import Page, PageLimits, parse_page
from focused.pages.tokens import LEXICON, Lexicon

IN_THREAD = 64 * 1024
"""Larger bodies are parsed in a thread: lxml lets go of the interpreter's lock meanwhile."""


def limits_of(settings: BaseSettings) -> PageLimits:
    """The most that is taken from one page, as the settings say."""
    return read_all(PageLimits, settings, "PAGE")


async def response_to_page(response: TextResponse, limits: PageLimits, lexicon: Lexicon) -> Page:
    """A response as a page, safely parsed; a large one in a thread."""
    return _to_page(response, limits, lexicon, *await safe_root(response))


def response_to_page_now(response: TextResponse, limits: PageLimits) -> Page:
    """`response_to_page` without a thread."""
    return _to_page(response, limits, LEXICON, *safe_root_now(response))


async def safe_root(response: TextResponse) -> tuple[Any, dict[str, int]]:
    """``response.selector.root``, and what had to be left out: tags cut short, tags nested too deeply.

    Pages of a few kilobytes are parsed as always. Larger ones pass `focused.pages.guard` first; their selector is
    then made from its tree, so that ``response.css`` and the like see the same page, and do not parse it again.
    """
    if len(response.body) <= IN_THREAD:
        return safe_root_now(response)
    parsing = deferToThread(guard.parse, _as_utf8(response), get_base_url(response))
    return _kept(response, *await maybe_deferred_to_future(parsing))


def safe_root_now(response: TextResponse) -> tuple[Any, dict[str, int]]:
    """`safe_root` without a thread."""
    if guard.is_harmless(response.body):
        return response.selector.root, {}
    return _kept(response, *guard.parse(_as_utf8(response), get_base_url(response)))


def _to_page(response: TextResponse, limits: PageLimits, lexicon: Lexicon, root: Any, left_out: dict[str, int]) -> Page:
    page = parse_page(root, response.url, limits, lexicon=lexicon)
    page.left_out.update(left_out)
    return page


def _as_utf8(response: TextResponse) -> bytes:
    return response.text.encode("utf-8", "surrogatepass")


def _kept(response: TextResponse, root: Any, left_out: dict[str, int]) -> tuple[Any, dict[str, int]]:
    # Scrapy's own cache of the selector; without it a callback's response.css() would parse the page unguarded.
    response._cached_selector = Selector(root=root, type="html")
    return root, left_out
