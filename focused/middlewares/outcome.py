"""Notes how each request ended, for the frontier: dead, denied, not HTML, to be tried later, failed.

It stands closest to the engine among the downloader middlewares, so that it sees what is left after retries and
redirects had their say.
"""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response
from scrapy.utils.misc import load_object

from focused.frontier.requests import META
from focused.frontier.store import Outcome
from focused.middlewares.errors import NotHtml, Postponed

_MOST_DETAIL = 200


class OutcomeMiddleware:
    """Writes an outcome into the request's meta, where the frontier finds it."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        names = crawler.settings.getlist("RETRY_EXCEPTIONS")
        self._network = tuple(load_object(name) if isinstance(name, str) else name for name in names)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Answers that are no page."""
        if response.status >= 300:
            self._note(request, Outcome.DEAD, str(response.status))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Requests without an answer."""
        if isinstance(exception, Postponed):
            self._note(request, "postponed", str(exception.seconds))
        elif isinstance(exception, (NotHtml, StopDownload)):
            self._note(request, Outcome.NOT_HTML, str(exception))
        elif isinstance(exception, IgnoreRequest):
            self._note(request, Outcome.DENIED, str(exception))
        elif isinstance(exception, self._network):
            self._note(request, Outcome.DEAD, type(exception).__name__)
        else:
            self._note(request, Outcome.FAILED, repr(exception))

    def _note(self, request: Request, outcome: Outcome | str, detail: str) -> None:
        told = outcome.value if isinstance(outcome, Outcome) else outcome
        meta = request.meta.get(META)
        if meta is not None:
            meta["outcome"] = [told, detail[:_MOST_DETAIL]]
        name = outcome.name if isinstance(outcome, Outcome) else outcome
        self.crawler.stats.inc_value(f"focused/outcome/{name.lower()}")
