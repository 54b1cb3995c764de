"""Has the prioritizer learn after every batch of pages (`focused.learning`)."""

from __future__ import annotations

from typing import Any

from focused.items import PageItem
from focused.parts import Component


class TrainingPipeline(Component):
    """Triggers retraining and re-scoring."""

    async def process_item(self, item: Any) -> Any:
        """Count the page; learn when a batch is due."""
        visit = self.parts.visits.of(item.token) if isinstance(item, PageItem) else None
        if visit is not None:
            await self.parts.learning.page_done(visit)
        return item
