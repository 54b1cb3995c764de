"""Pairs the verdict on a page *v* with the evidence of every known link (*u*, *v*)."""

from __future__ import annotations

from focused.pipelines.keeping import PagePipeline
from focused.visits.visit import Visit


class LessonsPipeline(PagePipeline):
    """Labels the instances that the prioritizer learns from."""

    def take_step(self, visit: Visit) -> None:
        """Have the page's lessons taught."""
        self.parts.visits.label(visit)
