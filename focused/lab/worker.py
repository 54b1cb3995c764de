"""A worker process: runs the crawls that it is given, one after the other, in one event loop.

Jobs come in on standard input, a line of JSON each; "done" or what went wrong goes out, a line each. While no crawl
is running there is nothing else to do, so the loop simply waits for the next line.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import Any

import msgspec
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.log import configure_logging
from scrapy.utils.project import get_project_settings
from scrapy.utils.reactor import install_reactor

from focused.lab.jobs import Job, settings_of


def main() -> None:
    """Run jobs until standard input ends."""
    project = get_project_settings()
    install_reactor(project["TWISTED_REACTOR"], project["ASYNCIO_EVENT_LOOP"])
    from twisted.internet import reactor, task  # noqa: PLC0415  # there is only one, and it was just chosen

    task.react(lambda _: deferred_from_coro(_run_all()), (), reactor)


async def _run_all() -> None:
    # The pipe is ours alone: what components print goes where the log goes when there is none.
    answers, sys.stdout = sys.stdout, sys.stderr
    configure_logging(get_project_settings())  # each crawl then writes to its own file
    for line in sys.stdin:
        job = msgspec.json.decode(line, type=Job)
        answers.write(await _run(job) + "\n")
        answers.flush()


async def _run(job: Job) -> str:
    settings: Settings = get_project_settings()
    settings.setdict(settings_of(job), priority="cmdline")
    runner = AsyncCrawlerRunner(settings)
    crawl: Coroutine[Any, Any, None] = runner.crawl("focused", **job.arguments)  # type: ignore[assignment]
    try:
        await crawl
    except Exception as error:  # whatever it is, it is told, and the next job is not to blame
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return "done"


if __name__ == "__main__":
    main()
