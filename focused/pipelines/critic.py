"""Judges each page, and records it under its lease."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from focused import signals
from focused.frontier.store import FrontierStore, Outcome, PageRecord
from focused.items import PageItem
from focused.parts import Parts, has_topic, parts_of
from focused.pipelines.keeping import dropped_if_broken


class CriticPipeline:
    """The verdict goes into the item, the record and the statistics."""

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
        """Fill in what is known of the page now."""
        if not isinstance(item, PageItem):
            return item
        verdict = self.parts.judge(item.page)
        item["relevance"] = round(verdict.relevance, 6)
        item["class"] = verdict.best_class
        item["time"] = datetime.now(UTC).isoformat(timespec="seconds")
        record = PageRecord(
            0,
            item.page.url,
            verdict.relevance,
            item.page.digest,
            title=item.page.title,
            best_class=verdict.best_class,
        )
        self._record(item, record)
        self.crawler.signals.send_catch_log(signals.page_judged, item=item, record=record, spider=self.crawler.spider)
        return item

    def _record(self, item: PageItem, record: PageRecord) -> None:
        store = self.parts.store
        if store is not None and item.token:
            with dropped_if_broken():
                self._check_lease(store, item.token)
                item["parent"] = store.parent_url(item.token)
                store.record(item.token, record)
                self._check_lease(store, item.token)
            item["order"] = record.order
            record.item = ItemAdapter(item).asdict()
        stats = self.crawler.stats
        if record.outcome is Outcome.DUPLICATE:
            stats.inc_value("focused/page/duplicates")
        stats.inc_value("focused/page/judged")
        # inc_value is typed for whole numbers.
        stats.set_value("focused/relevance/sum", stats.get_value("focused/relevance/sum", 0.0) + record.relevance)

    @staticmethod
    def _check_lease(store: FrontierStore, token: int) -> None:
        """A worker that was taken for dead has lost its leases: the page is for another to fetch and to write."""
        if not store.link_of(token):
            raise DropItem("its lease was lost", log_level="DEBUG")
