"""``scrapy status JOBDIR``: how a crawl stands, while it runs and after."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Iterator
from itertools import chain
from time import sleep
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.files import until_reader_stops

if TYPE_CHECKING:
    from focused.report.status import JobStatus

_EVERY = "2"
# Watching a large job must not cost more than this part of a processor.
_SHARE = 0.1
# Between letting go of its job and noting why it has ended, a crawl looks as if it had been cut short.
_UNTIL_NOTED = 1.0


class Command(ScrapyCommand):
    """Read a job, and tell; the job and its crawl take no notice."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] JOBDIR"

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
        parser.add_argument("--json", action="store_true", help="the figures as a JSON object, one a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.frontier.store import JobRefused

        args, every = _without_job(args, opts.watch)
        if len(args) != 1:
            raise UsageError("name one job: the JOBDIR of a crawl")
        try:
            with until_reader_stops():
                self._show(args[0], every, as_json=opts.json)
        except (JobRefused, sqlite3.Error, OSError) as error:
            raise UsageError(str(error), print_help=False) from error
        except KeyboardInterrupt:
            # That is how watching ends.
            pass

    def _show(self, job: str, every: float | None, *, as_json: bool) -> None:
        from focused.report.status import read_status
        from focused.report.status_text import status_json, status_lines

        if every is None:
            status = read_status(job)
            print(status_json(status) if as_json else "\n".join(status_lines(status)))
        elif as_json:
            for status in watch(job, every):
                print(status_json(status), flush=True)
        else:
            _live(job, every)


def watch(job: str, every: float) -> Iterator[JobStatus]:
    """How a job stands, again and again; the last one is that of a crawl that does not run (any more)."""
    from focused.report.status import CUT_SHORT, read_status

    was_running = False
    while True:
        status = read_status(job)
        if was_running and status.state == CUT_SHORT:
            sleep(_UNTIL_NOTED)
            status = read_status(job)
        yield status
        if not status.is_running:
            return
        was_running = True
        sleep(max(every, status.seconds / _SHARE))


def _live(job: str, every: float) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from focused.report.status_text import status_lines

    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        for status in watch(job, every):
            print("\n".join([*status_lines(status), ""]), flush=True)
        return
    statuses = watch(job, every)
    # Whatever is wrong with the job is said before the screen is touched.
    first = next(statuses)
    with Live(console=console, auto_refresh=False) as live:
        for status in chain([first], statuses):
            text = Text("\n".join(status_lines(status)), no_wrap=True, overflow="ellipsis")
            live.update(text, refresh=True)


def _without_job(args: list[str], watch: str | None) -> tuple[list[str], float | None]:
    """The job stands behind ``--watch`` when no seconds are given, and is taken for them."""
    if watch is None:
        return args, None
    try:
        seconds = float(watch)
    except ValueError:
        return [*args, watch], float(_EVERY)
    if not 0 < seconds < float("inf"):
        raise UsageError(f"--watch {watch}: give a number of seconds above 0")
    return args, seconds
