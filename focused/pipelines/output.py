"""Lets through only what the user wants written (``-a relevant=0.5``)."""

from __future__ import annotations

from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from focused.defaults import read


class OutputPipeline:
    """Drops items below the wanted relevance; the job keeps them all the same."""

    def __init__(self, least: float) -> None:
        self._least = least

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        least = read(crawler.settings, "FOCUSED_OUTPUT_RELEVANT")
        if least <= 0:
            raise NotConfigured
        return cls(least)

    def process_item(self, item: Any) -> Any:
        """Keep what is relevant, and what does not say."""
        relevance = ItemAdapter(item).get("relevance") if ItemAdapter.is_item(item) else None
        if isinstance(relevance, int | float) and relevance < self._least:
            raise DropItem(f"relevance below {self._least}", log_level="DEBUG")
        return item
