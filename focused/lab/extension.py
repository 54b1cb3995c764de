"""What only experiments need: stopping after so many pages that count, and the CPU time of the crawl.

An experiment counts pages without the critic's examples, so the spider's own limit would stop too early.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Self

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import _schedule_coro

from focused import signals
from focused.defaults import read
from focused.frontier.store import PageRecord
from focused.warc.web import normal_form


class LabExtension:
    """Closes the crawl after ``FOCUSED_LAB_PAGES`` pages that count; CPU seconds go into ``focused/lab/cpu``.

    Stats: ``focused/lab/pages``, ``focused/lab/cpu``.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._most: int = read(crawler.settings, "FOCUSED_LAB_PAGES")
        if not self._most:
            raise NotConfigured
        ignored = read(crawler.settings, "FOCUSED_LAB_IGNORED")
        lines = Path(ignored).read_text("utf-8").split("\n") if ignored else []
        self._ignored = {normal_form(url) for url in lines if url}
        self._pages = 0
        self._began = 0.0
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.page_judged, signals.page_judged)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def spider_opened(self) -> None:
        """Start the clock: loading Python is not the crawl's cost."""
        self._began = time.process_time()

    def page_judged(self, record: PageRecord) -> None:
        """Count a page, and close when there are enough."""
        self._pages += normal_form(record.url) not in self._ignored
        if self._pages == self._most:
            self._most = 0
            _schedule_coro(self.crawler.engine.close_spider_async(reason="lab"))

    def spider_closed(self) -> None:
        """Note what it cost."""
        self.crawler.stats.set_value("focused/lab/pages", self._pages)
        self.crawler.stats.set_value("focused/lab/cpu", time.process_time() - self._began)
