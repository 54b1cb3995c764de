"""Teaches the critic of a crawl before its first request, if it must be taught and has not been."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from focused.parts import has_topic
from focused.teaching.first import teach_first


class TeachingMiddleware:
    """A spider middleware, because Scrapy awaits ``process_start`` before it opens the scheduler, whichever it is."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not has_topic(crawler):
            raise NotConfigured
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The spider's requests as they are, once there is a critic."""
        await teach_first(self.crawler)
        return start
