"""Scrapy's redirects, without a Referer header to look after.

This crawler sends none: it costs CPU and tells sites more than they need. Scrapy's own classes would warn of it at
every start.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware, RedirectMiddleware
from scrapy.http import Response


class PlainRedirectMiddleware(RedirectMiddleware):
    """Redirects by status."""

    def handle_referer(self, request: Request, response: Response) -> None:
        """There is none."""

    def _engine_started(self) -> None:
        """Nothing to find."""


class PlainMetaRefreshMiddleware(MetaRefreshMiddleware):
    """Redirects by a meta tag."""

    def handle_referer(self, request: Request, response: Response) -> None:
        """There is none."""

    def _engine_started(self) -> None:
        """Nothing to find."""
