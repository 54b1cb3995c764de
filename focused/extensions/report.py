"""Writes the report when a crawl has ended, and notes with the job why it has."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.job import job_dir

from focused.defaults import read
from focused.frontier.store import JobDamaged, JobRefused
from focused.outputs import note_not_written
from focused.parts import Component
from focused.report.html import write_report
from focused.report.job_reader import JobReader
from focused.scheduling.starts import note_end

if TYPE_CHECKING:
    from focused.scheduling.dispatcher import Dispatcher

logger = logging.getLogger(__name__)

IN_THE_JOB = "job"
"""The value of ``FOCUSED_REPORT`` that stands for ``report.html`` in the JOBDIR."""


class ReportExtension(Component):
    """The last thing that is done with a job. A report that cannot be written is logged: the crawl itself went well."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        wanted, folder = read(crawler.settings, "FOCUSED_REPORT"), job_dir(crawler.settings)
        self._asked_for = wanted != IN_THE_JOB
        path = wanted if self._asked_for else folder and f"{folder}/report.html"
        self.path = Path(path) if path else None
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def spider_closed(self) -> None:
        """Note the end with the job; write the report."""
        parts = self.parts
        if parts.job is None or parts.frontier is None:
            return
        parts.frontier.finish()
        folder = parts.job.folder
        if folder is None:
            if self.path is not None:
                # A folder of its own a worker may have for other things, but a file that was asked for is missing.
                logger.log(
                    logging.WARNING if self._asked_for else logging.INFO,
                    "No report is written to %s: that of a shared crawl is written by `scrapy report redis://…`",
                    self.path,
                )
            return
        if parts.frontier.is_gone:
            # What is at the place of its job may be another's by now.
            return
        stats = self.crawler.stats
        figures = {"requests": stats.get_value("downloader/request_count", 0)}
        with self._telling(f"how the crawl ended is not noted in {str(folder)!r}: "):
            note_end(folder, str(stats.get_value("focused/stopped_by", "")), figures)
        if self.path is not None:
            again = f"; then `scrapy report {folder}` writes it" if parts.job.lasts else ""
            with self._telling("the report: ", again), JobReader.open(folder) as reader:
                write_report(reader, self.path)
                stats.set_value("focused/report/path", str(self.path))

    @contextmanager
    def _telling(self, what: str, again: str = "") -> Iterator[None]:
        """Say what could not be written, unless that was said of the job already."""
        try:
            yield
        except (OSError, sqlite3.Error, JobDamaged) as error:
            if not cast("Dispatcher", self.parts.frontier).is_broken:
                note_not_written(self.crawler, f"{what}{error}{again}")
        except JobRefused as error:
            # Another crawl has begun.
            logger.warning("%s%s", what, error)
