"""What the pipelines for our own items have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from scrapy.exceptions import DropItem

from focused.frontier.store import StoreBroken
from focused.items import PageItem
from focused.parts import Component
from focused.visits.visit import Visit


class PagePipeline(Component, ABC):
    """A step that is taken for the page of each item of ours; other items pass.

    An item is dropped if its lease was lost, or nothing can be written: its page is fetched again.
    """

    def process_item(self, item: Any) -> Any:
        """Take the step."""
        if not isinstance(item, PageItem):
            return item
        visit = self.parts.visits.of(item.token)
        if visit is None or visit.lease.is_lost:
            raise DropItem("its lease was lost", log_level="DEBUG")
        try:
            self.take_step(visit)
        except StoreBroken as error:
            raise DropItem(f"it cannot be kept: {error}", log_level="DEBUG") from error
        return item

    @abstractmethod
    def take_step(self, visit: Visit) -> None:
        """Do what is to be done for the page."""
