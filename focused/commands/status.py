"""``scrapy status JOBDIR`` or ``scrapy status redis://…``: how a crawl stands, while it runs and after."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from time import sleep
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.files import until_reader_stops
from focused.report.places import add_crawl_option, is_in_redis

if TYPE_CHECKING:
    from focused.redis.reading.crawls import RedisCrawls
    from focused.report.status import Status

_EVERY = "2"
# Watching a large job must not cost more than this part of a processor.
_SHARE = 0.1
# Between letting go of its job and noting why it has ended, a crawl looks as if it had been cut short.
_UNTIL_NOTED = 1.0


class Asked(NamedTuple):
    """A crawl about which somebody asks: how to read how it stands, and how to tell it in lines."""

    read: Callable[[], Status]
    lines: Callable[[Any], Iterator[str]]


class Command(ScrapyCommand):
    """Read a job, or a crawl in Redis, and tell; those who are at work on it take no notice."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] JOBDIR | redis://HOST:PORT/DB"

    def short_desc(self) -> str:
        return "Show how a crawl stands: is it running, harvest, pace, what waits, what was learned"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--watch",
            nargs="?",
            const=_EVERY,
            metavar="SECONDS",
            help=f"show it again every so many seconds ({_EVERY}) until the crawl ends or Ctrl-C is pressed",
        )
        add_crawl_option(parser)
        parser.add_argument("--json", action="store_true", help="the figures as a JSON object, one a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.frontier.store import JobRefused

        args, every = _without_job(args, opts.watch)
        if len(args) != 1:
            raise UsageError("name one job: the JOBDIR of a crawl, or redis://HOST:PORT/DB")
        try:
            with until_reader_stops():
                if is_in_redis(args[0], opts.crawl):
                    self._show_redis(args[0], opts.crawl, every, as_json=opts.json)
                else:
                    show(_job(args[0]), every, as_json=opts.json)
        except (JobRefused, sqlite3.Error, OSError) as error:
            raise UsageError(str(error), print_help=False) from error
        except KeyboardInterrupt:
            # That is how watching ends.
            pass

    def _show_redis(self, url: str, crawl: str | None, every: float | None, *, as_json: bool) -> None:
        from focused.redis.reading.crawls import RedisCrawls
        from focused.redis.reading.status_text import redis_status_lines

        assert self.settings is not None
        crawls = RedisCrawls(url, self.settings)
        if crawl is None and every is None and len(names := crawls.names()) > 1:
            _list(crawls, names, as_json=as_json)
            return
        name = crawls.one(crawl)
        show(Asked(lambda: crawls.read(name), redis_status_lines), every, as_json=as_json)


def show(asked: Asked, every: float | None, *, as_json: bool) -> None:
    """Tell how a crawl stands: once, or every so many seconds."""
    from focused.report.status_text import status_json

    if every is None:
        status = asked.read()
        print(status_json(status) if as_json else "\n".join(asked.lines(status)))
    elif as_json:
        for status in watch(asked.read, every):
            print(status_json(status), flush=True)
    else:
        _live(asked, every)


def watch(read: Callable[[], Status], every: float) -> Iterator[Status]:
    """How a crawl stands, again and again; the last one is that of a crawl that does not run (any more)."""
    from focused.report.status import CUT_SHORT

    was_running = False
    while True:
        status = read()
        if was_running and status.state == CUT_SHORT:
            sleep(_UNTIL_NOTED)
            status = read()
        yield status
        if not status.is_running:
            return
        was_running = True
        sleep(max(every, status.seconds / _SHARE))


def _job(job: str) -> Asked:
    from focused.report.status import read_status
    from focused.report.status_text import status_lines

    return Asked(lambda: read_status(job), status_lines)


def _list(crawls: RedisCrawls, names: list[str], *, as_json: bool) -> None:
    from focused.redis.reading.status_text import redis_status_line
    from focused.report.status_text import status_json

    if not as_json:
        print(f"{len(names)} crawls at {crawls.place}; --crawl NAME tells of one")
    for name in names:
        status = crawls.read(name)
        print(status_json(status) if as_json else redis_status_line(status))


def _live(asked: Asked, every: float) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        for status in watch(asked.read, every):
            print("\n".join([*asked.lines(status), ""]), flush=True)
        return
    statuses = watch(asked.read, every)
    # Whatever is wrong is said before the screen is touched.
    first = next(statuses)
    with Live(console=console, auto_refresh=False) as live:
        for status in chain([first], statuses):
            text = Text("\n".join(asked.lines(status)), no_wrap=True, overflow="ellipsis")
            live.update(text, refresh=True)


def _without_job(args: list[str], watch: str | None) -> tuple[list[str], float | None]:
    """The job stands behind ``--watch`` when no seconds are given, and is taken for them."""
    if watch is None:
        return args, None
    try:
        seconds = float(watch)
    except ValueError:
        if args:
            raise UsageError(f"--watch {watch}: give a number of seconds above 0") from None
        return [watch], float(_EVERY)
    if not 0 < seconds < float("inf"):
        raise UsageError(f"--watch {watch}: give a number of seconds above 0")
    return args, seconds
