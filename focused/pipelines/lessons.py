"""Pairs the verdict on a page *v* with the evidence of every known link (*u*, *v*)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from focused.items import PageItem
from focused.parts import Parts, has_topic, parts_of
from focused.pipelines.keeping import dropped_if_broken


class LessonsPipeline:
    """Labels the instances that the prioritizer learns from."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @cached_property
    def parts(self) -> Parts:
        """What the components of this crawl share."""
        return parts_of(self.crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not has_topic(crawler):
            raise NotConfigured
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Hand the page's lessons to the trainer."""
        store = self.parts.store
        if isinstance(item, PageItem) and store is not None and store.prioritizer.learns:
            with dropped_if_broken():
                lessons = store.lessons_of(item.token)
                if lessons is not None:
                    self.parts.teach(item.token, lessons)
                    self.crawler.stats.inc_value("focused/lesson/count", len(lessons))
        return item
