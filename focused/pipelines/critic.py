"""Has the critic's verdict on a page count."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from focused.items import PageItem
from focused.parts import has_topic, parts_of
from focused.pipelines.keeping import dropped_if_lost


class CriticPipeline:
    """The verdict is in the item already: the page was judged and recorded before its links were followed."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not has_topic(crawler):
            raise NotConfigured
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Count the page in the statistics and for the limits."""
        if isinstance(item, PageItem):
            with dropped_if_lost(parts_of(self.crawler), item) as visit:
                parts_of(self.crawler).visits.count(visit)
        return item
