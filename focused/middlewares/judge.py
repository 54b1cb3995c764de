"""Parses, judges and records a page before its callback runs."""

from __future__ import annotations

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from focused.arrivals import take_in
from focused.parts import Component
from focused.scheduling.beside import open_job_beside


class JudgeMiddleware(Component):
    """Nearest the engine: it sees the responses that all other downloader middlewares let through.

    A downloader middleware, since large pages are parsed in a thread, and a spider middleware's input cannot wait.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    def spider_opened(self) -> None:
        """Open the job, if the scheduler has not."""
        open_job_beside(self.crawler)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Other middlewares have given a request up."""
        if self.parts.frontier is not None:
            self.parts.frontier.failed(request, exception)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Write the verdict into the request's meta, which is the response's, too."""
        await take_in(self.parts, request, response)
        return response
