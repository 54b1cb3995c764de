"""Where a crawl is kept, as it is named on a command line: a job folder, or an address that somebody reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from scrapy.settings import BaseSettings

from focused.defaults import read
from focused.frontier.store import JobRefused
from focused.registry import find, names
from focused.report.job_reader import JobReader
from focused.report.reader import CrawlReader

OpenReaders = Callable[[str, str | None, BaseSettings], Sequence[CrawlReader]]
"""What an entry point of the group ``focused.readers`` is: opens all crawls at an address, or the one with a name."""


def open_crawls(place: str, crawl: str | None, settings: BaseSettings) -> Sequence[CrawlReader]:
    """The readers of the crawls at a place: of all of them if there are several and none is named."""
    _import_own(settings)
    scheme, separator, _ = place.partition("://")
    if separator:
        known = names("reader")
        if scheme not in known:
            there = ", ".join(f"{name}://" for name in known)
            raise JobRefused(f"an address {scheme}://… cannot be read: give a job folder, or one of {there}")
        open_readers: OpenReaders = find("reader", scheme)
        return open_readers(place, crawl, settings)
    if re.fullmatch(r"[\w.-]+:\d{1,5}(/\d*)?", place) and not Path(place).exists():
        raise JobRefused(f"there is no job in {place!r} (for a crawl in Redis: redis://{place})")
    if crawl is not None:
        raise JobRefused(f"--crawl {crawl}: a job folder holds one crawl only")
    return [JobReader.open(place)]


def _import_own(settings: BaseSettings) -> None:
    """A prioritizer of the user's own that the settings name, so that crawls with it can be explained."""
    name = read(settings, "FOCUSED_PRIORITIZER")
    if "." in name:
        find("prioritizer", name)


def open_crawl(place: str, crawl: str | None, settings: BaseSettings) -> CrawlReader:
    """The reader of the one crawl at a place; JobRefused if there are several and none is named."""
    readers = open_crawls(place, crawl, settings)
    if len(readers) > 1:
        names = ", ".join(reader.name for reader in readers)
        raise JobRefused(f"there are {len(readers)} crawls at {readers[0].place}: choose one with --crawl ({names})")
    return readers[0]
