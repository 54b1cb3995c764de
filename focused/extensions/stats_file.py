"""The final statistics of a crawl as a JSON file, for tests and for scripts that run crawls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from focused.defaults import read


class StatsFileExtension:
    """Writes the statistics when the spider has closed."""

    def __init__(self, crawler: Crawler) -> None:
        path = read(crawler.settings, "FOCUSED_STATS_FILE")
        if not path:
            raise NotConfigured
        self.crawler, self.path = crawler, Path(path)
        crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def engine_stopped(self) -> None:
        """Write all there is; what JSON does not know (a date) as text."""
        stats = self.crawler.stats.get_stats()
        self.path.write_text(json.dumps(stats, indent=1, sort_keys=True, default=str) + "\n", "utf-8")
