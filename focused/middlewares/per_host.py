"""At most so many pages from one host."""

from __future__ import annotations

from collections import Counter
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response

from focused.defaults import read
from focused.frontier.requests import META
from focused.middlewares.errors import HostFull
from focused.pages.page import url_to_host


class PerHostMiddleware:
    """Refuses the links of a host from which ``FOCUSED_SCOPE_PER_HOST`` pages have come.

    Pages are counted, not links: so the best links of a host use up its share. Its number must be below
    RobotsMiddleware's; a crawl that is started again counts anew.
    """

    def __init__(self, crawler: Crawler, most: int) -> None:
        self.crawler = crawler
        self._most = most
        self._pages: Counter[str] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        most = read(crawler.settings, "FOCUSED_SCOPE_PER_HOST")
        if most <= 0:
            raise NotConfigured("FOCUSED_SCOPE_PER_HOST is 0: no limit")
        return cls(crawler, most)

    def process_request(self, request: Request) -> None:
        host = url_to_host(request.url)
        # robots.txt has no place in the frontier, and is no page.
        if META in request.meta and self._pages[host] >= self._most:
            self.crawler.stats.inc_value("focused/scope/host_full")
            raise HostFull(f"{self._most} pages of {host} are enough")

    def process_response(self, request: Request, response: Response) -> Response:
        if META in request.meta and response.status == 200 and isinstance(response, HtmlResponse):
            self._pages[url_to_host(request.url)] += 1
        return response
