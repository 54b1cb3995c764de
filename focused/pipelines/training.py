"""Has the prioritizer learn after every batch of pages (`focused.learning`)."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from focused.items import PageItem
from focused.parts import has_topic, parts_of


class TrainingPipeline:
    """Triggers retraining and re-scoring."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not has_topic(crawler):
            raise NotConfigured
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Count the page; learn when a batch is due."""
        visit = parts_of(self.crawler).visits.of(item.token) if isinstance(item, PageItem) else None
        if visit is not None:
            await parts_of(self.crawler).learning.page_done(visit)
        return item
