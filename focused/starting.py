"""How a crawl begins: what its topic is, and what becomes of a crawl that cannot begin.

Light to import, because projects whose spiders have no topic import it, too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, finalize, ref

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.extensions.feedexport import FeedExporter
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.defer import _schedule_coro

from focused.defaults import read

if TYPE_CHECKING:
    from focused.topics.topic import Topic

logger = logging.getLogger(__name__)

_TOPICS: WeakKeyDictionary[Crawler, Topic | None] = WeakKeyDictionary()
_REFUSALS: WeakKeyDictionary[Crawler, str] = WeakKeyDictionary()
_BARE = {"EXTENSIONS_BASE": {"scrapy.extensions.corestats.CoreStats": 0}, "STATS_DUMP": False}
# The log goes where it is wanted, and the event loop runs by now.
_KEPT = ("ASYNCIO_", "LOG_", "TWISTED_")
# Above the command line.
_ABOVE_ALL = 50
_JOBS = Path("jobs")


def topic_of(crawler: Crawler) -> Topic | None:
    """The topic of a crawl: its spider's, or that of FOCUSED_TOPIC; None if it has none. ValueError says what is wrong.

    The attribute ``topic`` of a spider, as ``-a topic=…`` sets it, is a shipped topic's name, a topic file, plain words
    or a `Topic`.
    """
    if crawler not in _TOPICS:
        _TOPICS[crawler] = _find_topic(crawler)
    return _TOPICS[crawler]


def _find_topic(crawler: Crawler) -> Topic | None:
    if crawler.spider is None:  # scrapy shell
        return None
    given = getattr(crawler.spider, "topic", None) or read(crawler.settings, "FOCUSED_TOPIC")
    if not given:
        return None
    # Here, so that spiders without a topic are spared it.
    from focused.topics.topic import Topic, load_topic  # noqa: PLC0415

    if isinstance(given, Topic):
        return given
    return load_topic(str(given), seedless=True, trusted=read(crawler.settings, "FOCUSED_TOPICS_TRUSTED"))


def refuse(crawler: Crawler, reason: str, *, closing: str = "refused") -> None:
    """Have a crawl end in order before its first request; ``closing`` is its ``finish_reason``.

    The reason is one line of the log. No file is written: one that ``-O`` names stays as it is.
    """
    logger.error("%s", reason)
    _REFUSALS[crawler] = reason
    if crawler.settings.frozen:
        _disconnect_feeds(crawler)
    else:
        demote_lists(crawler)
        _TOPICS[crawler] = None
        _make_bare(crawler.settings)

    def close() -> None:
        crawler.stats.set_value("focused/stopped_by", reason)
        close_before_start(crawler, closing)

    # Nobody wants to read that what was refused has been opened and closed.
    _demote(crawler, _is_of_its_spider, "scrapy.core.engine")
    # Not earlier: what Scrapy has opened by then it can close again.
    crawler.signals.connect(close, signals.spider_opened, weak=False)


def _make_bare(settings: Settings) -> None:
    """Scrapy's defaults in place of what a crawl was given, which may be what it is refused for."""
    bare = Settings(_BARE)
    given = [name for name in settings if settings.getpriority(name)]
    for name in (*given, *_BARE):
        if not name.startswith(_KEPT):
            settings.set(name, bare.get(name), _ABOVE_ALL)


def refusal_of(crawler: Crawler) -> str:
    """Why a crawl was refused; '' if it was not."""
    return _REFUSALS.get(crawler, "")


def _disconnect_feeds(crawler: Crawler) -> None:
    exporter = crawler.get_extension(FeedExporter)
    if exporter is not None:
        crawler.signals.disconnect(exporter.open_spider, signals.spider_opened)
        crawler.signals.disconnect(exporter.close_spider, signals.spider_closed)


def give_job_folder(topic: Topic, settings: BaseSettings) -> None:
    """Choose a job folder for a crawl that would leave nothing behind: it has none, and writes its items nowhere."""
    if settings["JOBDIR"] or settings.getdict("FEEDS") or (settings["FOCUSED_FRONTIER"] or "sqlite") != "sqlite":
        return
    # Here, so that spiders without a topic are spared it.
    from focused.topics.identity import slug  # noqa: PLC0415

    name = f"{slug(topic)}-{time.strftime('%Y%m%d-%H%M%S')}"
    folders = (_JOBS / one for one in (name, *(f"{name}-{number}" for number in range(2, 100))))
    settings.set("JOBDIR", str(next(folder for folder in folders if not folder.exists())), "cmdline")


def close_before_start(crawler: Crawler, closing: str) -> None:
    """Close a spider that was just opened; for handlers of ``spider_opened``. No request goes out."""
    if scrapy.version_info >= (2, 19):
        raise CloseSpider(closing)
    _schedule_coro(crawler.engine.close_spider_async(reason=closing))


def demote_lists(crawler: Crawler) -> None:
    """Log Scrapy's lists of components and settings at DEBUG, so that the log of a crawl begins with what matters."""
    told = iter((True,))

    def is_list(record: logging.LogRecord, crawler: Crawler) -> bool:
        # Scrapy does not say whose settings these are; the first that come are ours, with nothing in between.
        return next(told, False) if record.name == "scrapy.crawler" else record.__dict__.get("crawler") is crawler

    _demote(crawler, is_list, "scrapy.addons", "scrapy.crawler", "scrapy.middleware")


def _is_of_its_spider(record: logging.LogRecord, crawler: Crawler) -> bool:
    return crawler.spider is not None and record.__dict__.get("spider") is crawler.spider


def _demote(crawler: Crawler, is_meant: Callable[[logging.LogRecord, Crawler], bool], *names: str) -> None:
    here = ref(crawler)

    def demote(record: logging.LogRecord) -> bool:
        there = here()
        if there is not None and is_meant(record, there):
            record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
        return True

    for name in names:
        logging.getLogger(name).addFilter(demote)
        finalize(crawler, logging.getLogger(name).removeFilter, demote)
