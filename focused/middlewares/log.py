"""A log that cannot be written: Python prints a traceback to stderr for each of its lines; here it is one line."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from weakref import ref

from scrapy.crawler import Crawler
from scrapy.utils.log import get_scrapy_root_handler

from focused.outputs import note_not_written
from focused.parts import Component


class LogMiddleware(Component):
    """Has no hooks. It is a middleware because Scrapy makes these after the log of the crawl, and extensions before."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        handler = get_scrapy_root_handler()
        if handler is not None:
            _watch(handler, crawler)


def _watch(handler: logging.Handler, crawler: Crawler) -> None:
    """From now on its failures are those of a crawl, also after that has ended."""
    here, as_ever = ref(crawler), handler.handleError

    def count(record: logging.LogRecord) -> None:
        error, there = sys.exc_info()[1], here()
        if there is None or not isinstance(error, OSError):
            as_ever(record)
            return
        stats = there.stats
        stats.inc_value("focused/log/lost")
        if stats.get_value("focused/log/lost") == 1:
            name = there.settings["LOG_FILE"]
            where = repr(name) if name else "standard error"
            words = f"the log cannot be written to {where} ({error.strerror or error}); what it should say is missing"
            note_not_written(there, words)
            with suppress(OSError):
                print(words, file=sys.stderr)

    handler.handleError = count  # type: ignore[method-assign]  # for this handler alone
