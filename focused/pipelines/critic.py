"""Has the critic's verdict on a page count."""

from __future__ import annotations

from focused.pipelines.keeping import PagePipeline
from focused.visits.visit import Visit


class CriticPipeline(PagePipeline):
    """The verdict is in the item already: the page was judged and recorded before its links were followed."""

    def take_step(self, visit: Visit) -> None:
        """Count the page in the statistics and for the limits."""
        self.parts.visits.count(visit)
