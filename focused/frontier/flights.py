"""The requests that are out: handed out by a scheduler, and not through callback and pipelines yet."""

from __future__ import annotations

from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler

from focused.frontier.engine import EngineAccess
from focused.frontier.outcomes import note
from focused.frontier.requests import META
from focused.frontier.store import Outcome


class Flights(dict[int, Request]):
    """Requests by the token of their visit, with either scheduler."""

    def __init__(self, crawler: Crawler, engine: EngineAccess) -> None:
        super().__init__()
        self._engine = engine
        crawler.signals.connect(self._spider_error, signals.spider_error)

    def holds(self, request: Request) -> bool:
        """Is this very request out? (One that was made from it, or with its meta, is not.)"""
        return self.get(request.meta.get(META, {}).get("token", 0)) is request

    def landed(self) -> list[tuple[int, Request]]:
        """Those that have left the engine, which are no longer out."""
        if not self:
            return []
        in_progress = self._engine.in_progress()
        landed = [(token, request) for token, request in self.items() if request not in in_progress]
        for token, _ in landed:
            del self[token]
        return landed

    @staticmethod
    def _spider_error(failure: Any, response: Any) -> None:
        request = getattr(response, "request", None)
        if request is not None:
            note(request, Outcome.FAILED, f"callback: {failure.value!r}")
