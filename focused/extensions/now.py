"""Writes what a crawl has to say of itself while it runs into its job folder, for those who watch it."""

from __future__ import annotations

import logging
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from focused.middlewares.backoff import BackoffMiddleware
from focused.parts import Component
from focused.report.now import MOST_HOSTS, MOST_WARNINGS, HostLeftAlone, Now, Warned, write_now
from focused.report.text import short
from focused.scheduling.beside import open_job_beside

_EVERY = 2.0
_MOST_WORDS = 500


class NowExtension(Component):
    """Looks every two seconds whether there is something new to say."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._folder: Path | None = None
        self._warnings = _LastWarnings()
        self._said = Now()
        self._loop: Any = None
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    def spider_opened(self) -> None:
        """Begin, if there is a job folder that lasts."""
        open_job_beside(self.crawler)
        job = self.parts.job
        if job is None or job.folder is None or not job.lasts:
            return
        self._folder = job.folder
        # Of the start before nothing is true any more.
        write_now(job.folder, self._said)
        logging.root.addHandler(self._warnings)
        self._loop = create_looping_call(self._say)
        self._loop.start(_EVERY, now=False)

    def spider_closed(self) -> None:
        """The last warnings; no host is left alone any more."""
        if self._folder is None:
            return
        self._loop.stop()
        logging.root.removeHandler(self._warnings)
        self._write(Now(list(self._warnings.lines)))

    def _say(self) -> None:
        backoff = self.crawler.get_downloader_middleware(BackoffMiddleware)
        troubles = backoff.health.troubles(MOST_HOSTS) if backoff else ()
        hosts = [HostLeftAlone(short(host, 300), round(seconds), why) for host, seconds, why in troubles]
        self._write(Now(list(self._warnings.lines), hosts))

    def _write(self, now: Now) -> None:
        frontier = self.parts.frontier
        if now != self._said and self._folder is not None and not (frontier and frontier.is_gone):
            self._said = now
            write_now(self._folder, now)


class _LastWarnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: deque[Warned] = deque(maxlen=MOST_WARNINGS)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line; one that cannot be made is somebody else's mistake, which the log tells."""
        try:
            words = short(record.getMessage(), _MOST_WORDS)
        except Exception:
            return
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds")
        self.lines.append(Warned(time, record.levelname, words))
