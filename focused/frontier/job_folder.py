"""The folder of a crawl's job: the JOBDIR, or a temporary one that lasts as long as somebody may want to read it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.job import job_dir


def make_folder(name: str, folder: Path) -> None:
    """Make a folder that a setting names; ValueError if that cannot be, or nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as error:
        where = next((str(one) for one in (folder, *folder.parents) if one.exists() and not one.is_dir()), "")
        why = f"{where!r} is a file" if where else error.strerror
        raise ValueError(f"{name}={str(folder)!r} cannot be used: {why}; give another folder") from error


def job_folder(crawler: Crawler) -> tuple[Path, bool]:
    """Where the job of a crawl is, and whether it lasts.

    A report at the end reads it: a temporary one goes when the engine has stopped.
    """
    folder = job_dir(crawler.settings)
    if folder is not None:
        return Path(folder), True
    temporary = TemporaryDirectory(prefix="focused-")

    def clean_up() -> None:
        temporary.cleanup()

    crawler.signals.connect(clean_up, signals.engine_stopped, weak=False)
    return Path(temporary.name), False
