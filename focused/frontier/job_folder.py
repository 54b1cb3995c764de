"""The folder of a crawl's job: the JOBDIR, or a temporary one that lasts as long as somebody may want to read it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.job import job_dir


def job_folder(crawler: Crawler) -> Path:
    """Where the job of a crawl is. A report at the end reads it: a temporary one goes when the engine has stopped."""
    folder = job_dir(crawler.settings)
    if folder is not None:
        return Path(folder)
    temporary = TemporaryDirectory(prefix="focused-")

    def clean_up() -> None:
        temporary.cleanup()

    crawler.signals.connect(clean_up, signals.engine_stopped, weak=False)
    return Path(temporary.name)
