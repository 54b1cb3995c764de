"""The final statistics of a crawl as a JSON file, for tests and for scripts that run crawls."""

from __future__ import annotations

import json
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler

from focused.defaults import read
from focused.files import write_text
from focused.outputs import note_not_written
from focused.parts import Component


class StatsFileExtension(Component):
    """Writes the statistics when the spider has closed."""

    def __init__(self, crawler: Crawler) -> None:
        self.path: str = read(crawler.settings, "FOCUSED_STATS_FILE")
        super().__init__(crawler)
        crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    def is_wanted(self) -> bool:
        return bool(self.path)

    def engine_stopped(self) -> None:
        """Write all there is; what JSON does not know (a date) as text."""
        stats = json.dumps(self.crawler.stats.get_stats(), indent=1, sort_keys=True, default=str)
        try:
            write_text(Path(self.path), f"{stats}\n")
        except OSError as error:
            note_not_written(self.crawler, f"the statistics: {error}")
