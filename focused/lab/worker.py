"""A worker process: runs crawls one after the other, in one event loop.

While no crawl is running there is nothing else to do, so the loop simply waits for the next question.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.log import configure_logging
from scrapy.utils.project import get_project_settings
from scrapy.utils.reactor import install_reactor

from focused.running.ending import failure_of
from focused.running.helper import questions


def main() -> None:
    """Run crawls until there are no more."""
    project = get_project_settings()
    install_reactor(project["TWISTED_REACTOR"], project["ASYNCIO_EVENT_LOOP"])
    from twisted.internet import reactor, task  # noqa: PLC0415  # there is only one, and it was just chosen

    task.react(lambda _: deferred_from_coro(_run_all()), (), reactor)


async def _run_all() -> None:
    configure_logging(get_project_settings())  # each crawl then writes to its own file
    for (arguments, settings), answer in questions():
        answer(await _run(arguments, settings))


async def _run(arguments: dict[str, str], own: dict[str, Any]) -> str:
    """What went wrong; nothing if all went well."""
    settings: Settings = get_project_settings()
    settings.setdict(own, priority="cmdline")
    runner = AsyncCrawlerRunner(settings)
    try:
        crawler = runner.create_crawler("focused")
        crawl: Coroutine[Any, Any, None] = runner.crawl(crawler, **arguments)  # type: ignore[assignment]
        await crawl
    except Exception as error:  # whatever it is, it is told, and the next job is not to blame
        return f"{type(error).__name__}: {error}"
    return failure_of(crawler)[1]


if __name__ == "__main__":
    main()
