"""What only experiments need: stopping after so many pages that count, and the CPU time of the crawl.

An experiment counts pages without the critic's examples, so the spider's own limit would stop too early.
"""

from __future__ import annotations

import time
from pathlib import Path

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import _schedule_coro

from focused import signals
from focused.defaults import read
from focused.frontier.store import PageRecord
from focused.parts import Component
from focused.warc.web import normal_form


class LabExtension(Component):
    """Closes the crawl after ``FOCUSED_LAB_PAGES`` pages that count.

    Stats: ``focused/lab/pages``, those pages; ``focused/lab/cpu``, the CPU seconds.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._most: int = read(crawler.settings, "FOCUSED_LAB_PAGES")
        self._pages = 0
        ignored = read(crawler.settings, "FOCUSED_LAB_IGNORED")
        lines = Path(ignored).read_text("utf-8").split("\n") if ignored else []
        self._ignored = {normal_form(url) for url in lines if url}
        self._began = 0.0
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.page_judged, signals.page_judged)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    def is_wanted(self) -> bool:
        return bool(read(self.crawler.settings, "FOCUSED_LAB_PAGES"))

    def spider_opened(self) -> None:
        """Start the clock: loading Python is not the crawl's cost."""
        self._began = time.process_time()

    def page_judged(self, record: PageRecord) -> None:
        """Count a page, and close when there are enough."""
        if normal_form(record.url) not in self._ignored:
            self._pages += 1
            if self._pages == self._most:
                _schedule_coro(self.crawler.engine.close_spider_async(reason="lab"))

    def spider_closed(self) -> None:
        """Note what it cost."""
        self.crawler.stats.set_value("focused/lab/pages", self._pages)
        self.crawler.stats.set_value("focused/lab/cpu", time.process_time() - self._began)
