"""The yardstick of bench/cpu.py: a plain Scrapy spider that follows what LinkExtractor finds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor


class PlainSpider(Spider):
    name = "plain"
    extractor = LinkExtractor()
    urls: str

    async def start(self) -> AsyncIterator[Request]:
        for url in self.urls.split():
            yield Request(url)

    def parse(self, response: Response) -> Iterator[dict[str, Any] | Request]:
        if not isinstance(response, HtmlResponse):
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.extractor.extract_links(response):
            yield response.follow(link)
