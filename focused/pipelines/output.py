"""Lets through only what the user wants written (``-a relevant=0.5``)."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from focused.defaults import read
from focused.parts import Component


class OutputPipeline(Component):
    """Drops items below the wanted relevance; the job keeps them all the same."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._least: float = read(crawler.settings, "FOCUSED_OUTPUT_RELEVANT")

    def is_wanted(self) -> bool:
        return bool(read(self.crawler.settings, "FOCUSED_OUTPUT_RELEVANT"))

    def process_item(self, item: Any) -> Any:
        """Keep what is relevant, and what does not say."""
        relevance = ItemAdapter(item).get("relevance") if ItemAdapter.is_item(item) else None
        if isinstance(relevance, int | float) and relevance < self._least:
            raise DropItem(f"relevance below {self._least}", log_level="DEBUG")
        return item
