"""Runs a coroutine to its end on the event loop of a ``scrapy`` command, with or without crawls in it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from scrapy.crawler import CrawlerProcessBase

_T = TypeVar("_T")


class Stopped(Exception):
    """The process was interrupted (Ctrl-C) before the coroutine had finished."""


def run_to_end(process: CrawlerProcessBase, coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Start the process, run the coroutine, stop the process; return or raise what the coroutine does.

    Several crawls may come one after another: Scrapy's own way of stopping, when no crawl is active, would stop
    between the first and the second.
    """
    loop = asyncio.get_event_loop()
    task = loop.create_task(_then_stop(coroutine))
    process.start(stop_after_crawl=False)
    if not task.done():
        task.cancel()
        raise Stopped
    return task.result()


async def _then_stop(coroutine: Coroutine[Any, Any, _T]) -> _T:
    try:
        return await coroutine
    finally:
        # Only now: importing the reactor installs it.
        from twisted.internet import reactor  # noqa: PLC0415

        # After this task is done; and Ctrl-C may have stopped it before.
        reactor.callLater(0, _stop, reactor)  # type: ignore[arg-type]  # Twisted's own stubs mix up the arguments


def _stop(reactor: Any) -> None:
    if reactor.running:
        reactor.stop()
