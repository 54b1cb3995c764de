"""What the frontier needs of Scrapy's engine and downloader, and Scrapy does not offer openly.

Which requests are still in progress (callback and pipelines included), "look for the next request soon", and the pace
of a host. The first two live on the engine's private slot; when a future Scrapy has moved them, this module fails at
once and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler


@dataclass(frozen=True, slots=True)
class Pace:
    """How a host may be fetched: seconds between requests, how many at a time, and when the last one went out."""

    delay: float
    concurrency: int
    last: float


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

    def pace(self, host: str) -> Pace:
        """The pace of a host, as robots.txt, AutoThrottle and the settings have it now."""
        downloader = self._crawler.engine.downloader
        # Scrapy calls the slot of an IPv6 address by that address without its brackets.
        host = host.strip("[]")
        slot = downloader.slots.get(host)
        if slot is not None:
            return Pace(slot.delay, slot.concurrency, slot.lastseen)
        own = downloader.per_slot_settings.get(host, {})
        # AutoThrottle's start delay is only there.
        delay = getattr(downloader, "_delay", self._crawler.settings.getfloat("DOWNLOAD_DELAY"))
        return Pace(own.get("delay", delay), own.get("concurrency", downloader.domain_concurrency), 0.0)

    def is_out(self, request: Request) -> bool:
        """Has a request been sent, and not been answered yet?"""
        slot = self._crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        return slot is not None and request in slot.transferring

    def is_closing(self) -> bool:
        """Is the crawl coming to its end?"""
        slot = self._crawler.engine._slot
        return slot is None or slot.closing is not None

    def _slot(self) -> Any:
        slot = self._crawler.engine._slot
        if slot is None or not hasattr(slot, "inprogress") or not hasattr(slot, "nextcall"):
            raise RuntimeError(
                "this Scrapy keeps its engine slot elsewhere; Focused needs engine._slot.inprogress and .nextcall "
                "(Scrapy 2.19 has them): install the Scrapy of requirements.txt"
            )
        return slot
