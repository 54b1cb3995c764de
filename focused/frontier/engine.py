"""The two things that the frontier needs of Scrapy's engine and that Scrapy does not offer openly.

Which requests are still in progress (callback and pipelines included), and "look for the next request soon". Both
live on the engine's private slot; when a future Scrapy has moved them, this module fails at once and says so.
"""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler


class EngineAccess:
    """A look at the engine of one crawler."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def in_progress(self) -> set[Request]:
        """The requests handed out that are not through their callback and pipelines yet."""
        in_progress: set[Request] = self._slot().inprogress
        return in_progress

    def wake(self) -> None:
        """Have the engine ask the scheduler again, soon."""
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    def _slot(self) -> Any:
        slot = self._crawler.engine._slot
        if slot is None or not hasattr(slot, "inprogress") or not hasattr(slot, "nextcall"):
            raise RuntimeError(
                "this Scrapy keeps its engine slot elsewhere; Focused needs engine._slot.inprogress and .nextcall "
                "(Scrapy 2.19 has them): install the Scrapy of requirements.txt"
            )
        return slot
