"""Only HTML is downloaded: what its headers say is something else, or too large, is left before its body comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.http.request import NO_CALLBACK

from focused.errors import NotHtml
from focused.pages.guard import looks_binary, looks_like_html
from focused.parts import Component
from focused.responses import settle
from focused.scheduling.requests import META

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})


class HtmlOnlyMiddleware(Component):
    """Ends requests for other things than HTML with `NotHtml`; counts them in ``focused/not_html/<why>``.

    For spiders that say ``html_only = True``: somebody else's may fetch a sitemap, an image or an answer in JSON.

    Left alone: robots.txt and whatever else is downloaded without a callback, and requests with ``any_type`` in our
    meta. Its number must be below HttpCompressionMiddleware's, to look at bodies when they are unpacked.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._maxsize = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        crawler.signals.connect(self.headers_received, signals.headers_received)

    def is_wanted(self) -> bool:
        return getattr(self.crawler.spider, "html_only", False)

    def headers_received(self, headers: Mapping[bytes, Any], body_length: int, request: Request) -> None:
        if _is_exempt(request) or b"Location" in headers:
            return
        reason = self._reason(request, headers, body_length)
        if reason:
            raise NotHtml(reason, _content_type(headers))

    async def process_response(self, request: Request, response: Response) -> Response:
        # Again, for handlers that send no signal, and with the body at hand.
        if _is_exempt(request) or not 200 <= response.status < 300:
            return response
        reason = self._reason(request, response.headers, len(response.body))
        if not reason and looks_binary(response.body):
            reason = "binary"
        if not reason and not isinstance(response, HtmlResponse) and not looks_like_html(response.body):
            reason = "unknown"
        if reason:
            raise self._counted(NotHtml(reason, _content_type(response.headers)))
        # Where there was no type, Scrapy has guessed from the address: "data.json" may well be a page.
        if isinstance(response, HtmlResponse):
            return response
        page = response.replace(cls=HtmlResponse, **({"encoding": None} if isinstance(response, TextResponse) else {}))
        await settle(page)
        return page

    def process_exception(self, request: Request, exception: Exception) -> Response | None:
        if isinstance(exception, NotHtml):
            # The signal does not tell the status: an error's body may be of any type, and is not wanted.
            if exception.response is not None and not 200 <= exception.response.status < 300:
                return exception.response
            self._counted(exception)
        elif isinstance(exception, DownloadCancelledError) and not _is_exempt(request):
            raise self._counted(NotHtml("size")) from exception
        return None

    def _reason(self, request: Request, headers: Mapping[bytes, Any], length: int) -> str:
        limit = request.meta.get("download_maxsize", self._maxsize)
        return why_not_html(headers.get(b"Content-Type"), headers.get(b"Content-Disposition"), length, limit)

    def _counted(self, error: NotHtml) -> NotHtml:
        self.crawler.stats.inc_value(f"focused/not_html/{error}")
        return error


def why_not_html(content_type: bytes | None, disposition: bytes | None, length: int, limit: int) -> str:
    """What headers say against a page being HTML: type, attachment, size; '' if nothing."""
    if content_type is not None:
        kind = content_type.decode("latin-1").partition(";")[0].strip().lower()
        if kind and kind not in _HTML_TYPES:
            return "type"
    if disposition is not None and disposition.decode("latin-1").strip().lower().startswith("attachment"):
        return "attachment"
    # Twisted's sign for an unknown length is a string.
    if limit and isinstance(length, int) and length > limit:
        return "size"
    return ""


def _content_type(headers: Mapping[bytes, Any]) -> str:
    return (headers.get(b"Content-Type") or b"").decode("latin-1").partition(";")[0].strip()


def _is_exempt(request: Request) -> bool:
    return request.callback is NO_CALLBACK or bool(request.meta.get(META, {}).get("any_type"))
