"""What becomes of a page that the store can no longer keep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.exceptions import DropItem

from focused.frontier.store import StoreBroken


@contextmanager
def dropped_if_broken() -> Iterator[None]:
    """The page is dropped: it is fetched again when the crawl goes on. The frontier tells why, once."""
    try:
        yield
    except StoreBroken as error:
        raise DropItem(f"it cannot be kept: {error}", log_level="DEBUG") from error
