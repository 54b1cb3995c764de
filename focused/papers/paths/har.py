"""The pages that a HAR file shows somebody visiting: its top-level documents, redirects joined to where they end.

Not every browser says what was a page and what a frame in one, or a script's request. `Sec-Fetch-Dest` says it (on
https), else Chromium's ``_resourceType`` with the frame (Playwright's ``_frameref``) or what began the request
(``_initiator``), else the first document of a HAR page is it: browsers begin a new one with each navigation.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter

import msgspec
import numpy as np
from numpy.typing import NDArray
from scrapy.http import HtmlResponse

from focused.pages.guard import looks_binary
from focused.pages.page import PageLimits
from focused.pages.urls import LONGEST, join
from focused.papers.paths.har_file import HarFile
from focused.papers.paths.visited import Visited, keys_of
from focused.responses import response_to_page_now
from focused.safety.addresses import AddressPolicy

MOST_DOCUMENTS = 5_000
"""So many of a file are read; pages, and what is in their frames."""
_HTML = ("text/html", "application/xhtml+xml")
_LOGIN = re.compile(r"^(https?://)[^/?#]*@")
_LONGEST_TITLE = 200
_NOT_MODIFIED = 304


class _Header(msgspec.Struct):
    name: str = ""
    value: str | None = None


class _Request(msgspec.Struct):
    url: str
    method: str = "GET"
    headers: list[_Header] = []

    def header(self, name: str) -> str | None:
        """The value of a header; None if there is none."""
        return next((one.value or "" for one in self.headers if one.name.lower() == name), None)


class _Content(msgspec.Struct, rename="camel"):
    mime_type: str | None = None


class _Response(msgspec.Struct):
    status: int
    redirect: str | None = msgspec.field(name="redirectURL", default=None)
    content: _Content = msgspec.field(default_factory=_Content)


class _Initiator(msgspec.Struct):
    type: str | None = None


class _Loaded(msgspec.Struct):
    request: _Request
    response: _Response
    started: str | None = msgspec.field(name="startedDateTime", default=None)
    page: str | None = msgspec.field(name="pageref", default=None)
    kind: str | None = msgspec.field(name="_resourceType", default=None)
    frame: str | None = msgspec.field(name="_frameref", default=None)
    initiator: _Initiator | str | None = msgspec.field(name="_initiator", default=None)

    @property
    def url(self) -> str:
        """The address, without a fragment and without anybody's password; '' if it is not for http."""
        return _LOGIN.sub(r"\1", join(self.request.url, ""))

    @property
    def is_redirect(self) -> bool:
        """Does the answer name another address?"""
        return 300 <= self.response.status < 400 and bool(self.response.redirect)

    @property
    def may_be_page(self) -> bool:
        """Is it a document, by all that is said of it?"""
        if self.kind not in {None, "document"} or self.request.header("x-requested-with") is not None:
            return False
        if "text/html" not in (self.request.header("accept") or "text/html"):
            return False
        mime = (self.response.content.mime_type or "").partition(";")[0].strip().lower()
        return self.is_redirect or mime in _HTML or (self.response.status == _NOT_MODIFIED and "/" not in mime)


class _Body(msgspec.Struct):
    text: str | None = None
    encoding: str | None = None


class _Contents(msgspec.Struct):
    content: _Body = msgspec.field(default_factory=_Body)


class _Bodied(msgspec.Struct):
    """An entry's body; decoded for pages alone."""

    response: _Contents


@dataclass(slots=True)
class _Document:
    entry: _Loaded
    time: float
    title: str
    links: NDArray[np.int64]


class Har:
    """What a file shows: the ``pages`` in the order of their visits, and how many were ``left_out``, by reason."""

    def __init__(self, path: str, policy: AddressPolicy | None, limits: PageLimits) -> None:
        self.left_out = Counter[str]()
        self._policy, self._limits = policy, limits
        file = HarFile(path)
        documents = sorted(self._documents(file), key=attrgetter("time"))
        self.is_cut = file.is_cut
        self.left_out["entries too large to be pages"] += file.too_large
        self.pages = list(_Browsing(self._may_be_visited, self.left_out).pages(documents))
        self.left_out = +self.left_out

    def _documents(self, entries: Iterable[bytes]) -> Iterator[_Document]:
        time, count = 0.0, 0
        for data in entries:
            try:
                entry = msgspec.json.decode(data, type=_Loaded)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.left_out["entries that cannot be read"] += 1
                continue
            if not entry.may_be_page:
                continue
            count += 1
            if count > MOST_DOCUMENTS:
                self.left_out[f"documents beyond the first {MOST_DOCUMENTS:,}"] += 1
                continue
            time = _time(entry.started, time)
            yield _Document(entry, time, *self._content(entry, data))

    def _content(self, entry: _Loaded, data: bytes) -> tuple[str, NDArray[np.int64]]:
        """The title of a page, and the keys of its links, if its body is there."""
        if not entry.url or entry.is_redirect:
            return "", keys_of(())
        body = msgspec.json.decode(data, type=_Bodied).response.content
        content, mime = (body.text or "").encode("utf-8", "replace"), "text/html; charset=utf-8"
        if body.encoding == "base64":
            try:
                content, mime = a2b_base64(content), entry.response.content.mime_type or "text/html"
            except Error:
                self.left_out["bodies that cannot be decoded"] += 1
                content = b""
        if not content or looks_binary(content):
            return "", keys_of(())
        response = HtmlResponse(entry.url, headers={"Content-Type": mime}, body=content)
        page = response_to_page_now(response, self._limits)
        return page.title[:_LONGEST_TITLE], keys_of(page.links.urls)

    def _may_be_visited(self, url: str) -> str:
        """Why an address is left out; '' if it is not."""
        if not url:
            return "not http addresses"
        if len(url) > LONGEST:
            return f"addresses of more than {LONGEST:,} characters"
        is_inner = self._policy is not None and self._policy.refusal(url)
        return "inner addresses (FOCUSED_INNER_ALLOWED lets them in)" if is_inner else ""


class _Browsing:
    """Finds the pages among the documents of a file."""

    def __init__(self, refusal: Callable[[str], str], left_out: Counter[str]) -> None:
        self._refusal, self._left_out = refusal, left_out
        self._main_frames: dict[str, str] = {}
        self._begun: set[str] = set()
        # What was redirected, by the address at which it goes on.
        self._going_on: dict[str, Visited] = {}

    def pages(self, documents: Iterable[_Document]) -> Iterator[Visited]:
        """The pages that were visited."""
        for document in documents:
            entry, url = document.entry, document.entry.url
            visited = self._going_on.pop(url, None)
            if visited is None and not self._is_top(entry):
                continue
            visited = visited or Visited([], entry.request.header("referer") or "")
            visited.urls.append(url)
            if refusal := self._refusal(url) or _no_page(entry):
                self._left_out[refusal] += 1
                # Where a form leads, no link does.
                visited = Visited([])
            if entry.is_redirect and (target := join(url, entry.response.redirect or "")):
                self._going_on[target] = visited
            elif not refusal:
                visited.title, visited.links = document.title, document.links
                yield visited
        self._left_out["redirected to what is not a page"] += len(self._going_on)

    def _is_top(self, entry: _Loaded) -> bool:
        """Is a document a page, rather than in a frame of one?"""
        destination, page = entry.request.header("sec-fetch-dest"), entry.page or ""
        initiator = entry.initiator.type if isinstance(entry.initiator, _Initiator) else None
        if destination is not None:
            is_top = destination == "document"
        elif entry.frame is not None:
            is_top = self._main_frames.setdefault(page, entry.frame) == entry.frame
        else:
            is_top = initiator != "parser" and page not in self._begun
        if is_top and page:
            self._begun.add(page)
        return is_top


def _no_page(entry: _Loaded) -> str:
    """Why the crawler would not find this page; '' if it would."""
    if entry.request.method != "GET":
        return "reached by a form"
    status = entry.response.status
    return "" if entry.is_redirect or status == _NOT_MODIFIED or 200 <= status < 300 else f"HTTP {status}"


def _time(text: str | None, before: float) -> float:
    """When a request began; if that is not known, after the one before it."""
    try:
        time = datetime.fromisoformat(text or "")
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return before
