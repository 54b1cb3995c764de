"""Requests that come to nothing for what a server or the network does: one line for each kind, then only counted.

Scrapy logs each of them as an error with its traceback; so it does with each item for which a disk has no
room. What fails for another reason is somebody's mistake, and is logged as ever.
"""

from __future__ import annotations

import logging

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, NotSupported, UnsupportedURLSchemeError
from scrapy.extensions.feedexport import FeedExporter
from scrapy.logformatter import DOWNLOADERRORMSG_SHORT
from twisted.web._newclient import ResponseFailed

from focused.files import NotWritten
from focused.outputs import note_not_written
from focused.parts import Component
from focused.report.text import short
from focused.scheduling.outcomes import network_errors

_LOGGER = "scrapy.core.scraper"
# (The other errors that it logs are those of callbacks and pipelines.)
_FAILED = DOWNLOADERRORMSG_SHORT.partition("%")[0]
_LONGEST = 200
# What they log as errors: a feed that could not be stored, and what a handler of a signal has raised.
_FEEDS, _HANDLERS = "scrapy.extensions.feedexport", "scrapy.utils.signal"


class FailuresExtension(Component):
    """Listens to Scrapy's log of requests that failed; its statistics are ``focused/failed/KIND``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Of an OSError nobody knows whose it is; the network's have classes of their own.
        network = (error for error in network_errors(crawler.settings) if error is not OSError)
        self._expected = (*network, DownloadCancelledError, NotSupported, UnsupportedURLSchemeError)
        self._filters = {_LOGGER: self._shorten, _FEEDS: self._shorten_feed, _HANDLERS: self._shorten_feed}
        for name, shorten in self._filters.items():
            logging.getLogger(name).addFilter(shorten)
        crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    def engine_stopped(self) -> None:
        for name, shorten in self._filters.items():
            logging.getLogger(name).removeFilter(shorten)

    def _shorten(self, record: logging.LogRecord) -> bool:
        """Is it to be logged? In one line, if it is a failure of servers."""
        if record.__dict__.get("spider") is not self.crawler.spider or not str(record.msg).startswith(_FAILED):
            return True
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not isinstance(error, self._expected):
            return True
        name = f"focused/failed/{type(error).__name__}"
        self.crawler.stats.inc_value(name)
        record.exc_info = record.exc_text = None
        record.msg = f"{record.getMessage()}: {_words(error)}. Further cases are only counted, in {name}"
        record.args = ()
        return bool(self.crawler.stats.get_value(name) == 1)

    def _shorten_feed(self, record: logging.LogRecord) -> bool:
        """Is it to be logged? Items that cannot be written take one line."""
        error = record.exc_info[1] if record.exc_info else None
        if record.__dict__.get("spider") is not self.crawler.spider or error is None:
            return True
        if record.name == _HANDLERS:
            handler = record.args.get("receiver") if isinstance(record.args, dict) else None
            if not isinstance(getattr(handler, "__self__", None), FeedExporter) or not isinstance(error, OSError):
                return True
        if not isinstance(error, NotWritten):
            # Not a file of ours: one on the way to another machine.
            note_not_written(self.crawler, f"items cannot be written: {_words(error)}")
        return not isinstance(error, OSError)


def _words(error: BaseException) -> str:
    """What has happened, in one line."""
    cause = error.__cause__
    reasons = [one.value for one in cause.reasons] if isinstance(cause, ResponseFailed) else [error]
    words = "; ".join(f"{type(one).__name__}: {one}" if str(one) else type(one).__name__ for one in reasons)
    return short(words, _LONGEST).rstrip(".")
