"""What becomes of the item of a page that cannot be kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.exceptions import DropItem

from focused.frontier.store import StoreBroken
from focused.items import PageItem
from focused.parts import Parts
from focused.visits.visit import Visit


@contextmanager
def dropped_if_lost(parts: Parts, item: PageItem) -> Iterator[Visit]:
    """The visit of an item. It is dropped if its lease was lost, or nothing can be written: it is fetched again."""
    visit = parts.visits.of(item.token)
    if visit is None or visit.lease.is_lost:
        raise DropItem("its lease was lost", log_level="DEBUG")
    try:
        yield visit
    except StoreBroken as error:
        raise DropItem(f"it cannot be kept: {error}", log_level="DEBUG") from error
