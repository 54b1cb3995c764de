"""Pairs the verdict on a page *v* with the evidence of every known link (*u*, *v*)."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from focused.items import PageItem
from focused.parts import has_topic, parts_of
from focused.pipelines.keeping import dropped_if_lost


class LessonsPipeline:
    """Labels the instances that the prioritizer learns from."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not has_topic(crawler):
            raise NotConfigured
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Have the page's lessons taught."""
        if isinstance(item, PageItem):
            with dropped_if_lost(parts_of(self.crawler), item) as visit:
                parts_of(self.crawler).visits.label(visit)
        return item
