"""Scrapy's redirects, without a Referer header, and only to valid addresses.

This crawler sends no Referer: it costs CPU and tells sites more than they need. Scrapy's own classes would warn of it
at every start. They also fail where the target of a redirect cannot be read, and a page would be lost for a meta tag.
"""

from __future__ import annotations

from collections.abc import Callable

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware, RedirectMiddleware
from scrapy.http import Response

from focused.pages.urls import join


class PlainRedirectMiddleware(RedirectMiddleware):
    """Redirects by status."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        # (Scrapy takes a spider, too, and warns of those who give one.)
        return _redirected(self.crawler, super().process_response, request, response)

    def handle_referer(self, request: Request, response: Response) -> None:
        """There is none."""

    def _engine_started(self) -> None:
        """Nothing to find."""


class PlainMetaRefreshMiddleware(MetaRefreshMiddleware):
    """Redirects by a meta tag."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        # (As above.)
        return _redirected(self.crawler, super().process_response, request, response)

    def handle_referer(self, request: Request, response: Response) -> None:
        """There is none."""

    def _engine_started(self) -> None:
        """Nothing to find."""


def _redirected(
    crawler: Crawler,
    process_response: Callable[[Request, Response], Request | Response],
    request: Request,
    response: Response,
) -> Request | Response:
    """What Scrapy makes of a response. A redirect to an invalid address is counted, and the response kept."""
    try:
        result = process_response(request, response)
        if isinstance(result, Response) or join(result.url, ""):
            return result
    except ValueError:
        pass
    crawler.stats.inc_value("focused/broken/redirects")
    return response
