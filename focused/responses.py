"""From a response to its page, so that no page can hold the crawl, nor lose its links in silence."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, TypeVar

from scrapy.http import TextResponse
from scrapy.selector import Selector
from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.response import _baseurl_cache, get_base_url
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

from focused.defaults import read_all
from focused.pages import guard
from focused.pages.page import Page, PageLimits, parse_page
from focused.pages.tokens import LEXICON, Lexicon

T = TypeVar("T")

IN_THREAD = 64 * 1024
"""Larger bodies are decoded and parsed in a thread: lxml lets go of the interpreter's lock meanwhile."""
_AT_ONCE = DeferredSemaphore(2)
"""Large pages that are parsed at the same time: each may take as much memory as `focused.pages.guard` allows."""
_WESTERN = "cp1252"
# What Python calls the encodings that browsers know (encoding.spec.whatwg.org), all of them linear in time. Python's
# other codecs are no encodings of pages (idna, rot13, zip), would hide markup from whoever looks for it (UTF-7,
# EBCDIC), or take for ever: 300 KB of punycode .8 s, 3 MB a minute.
_KNOWN = """
    utf-8 cp866 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14
    iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256
    cp1257 cp1258 gb18030 big5hkscs euc_jp iso2022_jp cp932 cp949
"""
_CODECS = frozenset(_KNOWN.split())
_UTF_16 = frozenset({"utf-16", "utf-16-le", "utf-16-be"})
# So much of a body is looked at to guess its encoding.
_SAMPLE = 32 * 1024


def limits_of(settings: BaseSettings) -> PageLimits:
    """The most that is taken from one page, as the settings say."""
    return read_all(PageLimits, settings, "PAGE")


async def settle(response: TextResponse) -> None:
    """`settle_now`, for a large body in a thread."""
    if len(response.body) > IN_THREAD and response._encoding is None:
        await maybe_deferred_to_future(deferToThread(_decode, response))
    settle_now(response)


def settle_now(response: TextResponse) -> None:
    """Settle a response's encoding, text and base address, for all who ask Scrapy for them from here on.

    An encoding that browsers do not know counts as none, and so does a base that is no address.
    """
    if response._encoding is None:
        _decode(response)
    try:
        get_base_url(response)
    except ValueError:
        _baseurl_cache[response] = response.url


async def response_to_page(response: TextResponse, limits: PageLimits, lexicon: Lexicon) -> Page:
    """A response as a page, safely parsed; a large one in a thread.

    Pages of a few kilobytes are parsed as always. Larger ones pass `focused.pages.guard` first; their selector is
    then made from its tree, so that ``response.css`` and the like see the same page, and do not parse it again.
    """
    if len(response.body) <= IN_THREAD:
        return response_to_page_now(response, limits, lexicon)
    await settle(response)
    read = partial(_text_to_page, response.text, get_base_url(response), response.url, limits, lexicon)
    parsing: Deferred[tuple[Any, Page]] = _AT_ONCE.run(_in_own_thread, read)
    root, page = await maybe_deferred_to_future(parsing)
    _keep(response, root)
    return page


def response_to_page_now(response: TextResponse, limits: PageLimits, lexicon: Lexicon = LEXICON) -> Page:
    """`response_to_page` without a thread."""
    settle_now(response)
    if guard.is_harmless(response.body):
        return parse_page(response.selector.root, response.url, limits, lexicon=lexicon)
    root, page = _text_to_page(response.text, get_base_url(response), response.url, limits, lexicon)
    _keep(response, root)
    return page


def _decode(response: TextResponse) -> None:
    encoding = _encoding_of(response)
    # What Scrapy would remember at the first use of ``response.text``.
    response._cached_ubody = response.body.decode(encoding, "replace").removeprefix("\ufeff")
    response._encoding = encoding


def _encoding_of(response: TextResponse) -> str:
    body = response.body
    marked = response._bom_encoding()
    if marked is not None:
        return marked
    for declared in (response._headers_encoding(), response._body_declared_encoding()):
        if declared in _CODECS:
            return str(declared)
        # Markup in UTF-16 is half zeros.
        if declared in _UTF_16 and b"\0" in body[:1024]:
            return "utf-16-be" if declared == "utf-16-be" or body[:1] == b"\0" else "utf-16-le"
    if body.isascii():
        return _WESTERN
    with suppress(UnicodeDecodeError):
        body.decode("utf-8")
        return "utf-8"
    return response._auto_detect_fun(body[:_SAMPLE]) or _WESTERN


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
