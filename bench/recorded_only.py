"""Keeps a crawl inside what was recorded: crawls of bench/cpu.py are to differ in their cost, not in dead links."""

from __future__ import annotations

from pathlib import Path

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware


class RecordedOnly(BaseSpiderMiddleware):
    """Lets requests through for the addresses that the file BENCH_RECORDED lists."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._urls = set(Path(crawler.settings["BENCH_RECORDED"]).read_text("utf-8").split("\n"))

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        return request if response is None or request.url in self._urls else None
