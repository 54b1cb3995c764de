"""Teaches the critic of a crawl before its first request, if it must be taught and has not been."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from focused.parts import Component
from focused.teaching.first import teach_first


class TeachingMiddleware(Component):
    """A spider middleware, because Scrapy awaits ``process_start`` before it opens the scheduler, whichever it is."""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The spider's requests as they are, once there is a critic."""
        await teach_first(self.crawler)
        return start
