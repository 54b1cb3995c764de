"""``scrapy status JOBDIR`` or ``redis://…``: the status of a crawl, while it runs and after."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from time import sleep
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.running.command import CrawlCommand

if TYPE_CHECKING:
    from rich.console import Console

    from focused.report.reader import CrawlReader
    from focused.report.status import Status

_EVERY = "2"
# Watching a large job must not cost more than this part of a processor.
_SHARE = 0.1
# Between letting go of its job and noting why it has ended, a crawl looks as if it had been cut short.
_UNTIL_NOTED = 1.0


class Command(CrawlCommand):
    """Show the status of a crawl, which is not disturbed."""

    summary = "Show the status of a crawl: is it running, harvest, pace, waiting links, what was learned"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        again = f"show it again every so many seconds (default: {_EVERY}) until the crawl ends or Ctrl-C is pressed"
        add("--watch", nargs="?", const=_EVERY, metavar="SECONDS", help=again)
        add("--json", action="store_true", help="print the figures as a JSON object, one per line")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        args, every = _without_job(args, opts.watch)
        from focused.report.places import open_crawls

        # Ctrl-C is how watching ends.
        with suppress(KeyboardInterrupt):
            if every is None:
                _show(open_crawls(self.place(args), opts.crawl, self.settings), as_json=opts.json)
            else:
                with self.open(args, opts) as reader:
                    _watch(reader.status, every, as_json=opts.json)


def _show(readers: Sequence[CrawlReader], *, as_json: bool) -> None:
    """One crawl in full; of several crawls one line each."""
    from focused.report.status import status_json, status_line, status_lines

    if len(readers) > 1 and not as_json:
        print(f"{len(readers)} crawls at {readers[0].place}; --crawl NAME shows one of them")
    for reader in readers:
        with reader:
            status = reader.status()
        if as_json:
            print(status_json(status))
        elif len(readers) > 1:
            print(status_line(status))
        else:
            print("\n".join(status_lines(status)))


def _watch(read: Callable[[], Status], every: float, *, as_json: bool) -> None:
    """In place on a terminal; else one after the other."""
    from rich.console import Console

    from focused.report.status import status_json, status_lines

    console, statuses = Console(file=sys.stdout, highlight=False), watch(read, every)
    if console.is_terminal and not as_json:
        _live(statuses, console)
        return
    for status in statuses:
        print(status_json(status) if as_json else "\n".join([*status_lines(status), ""]), flush=True)


def watch(read: Callable[[], Status], every: float) -> Iterator[Status]:
    """The status of a crawl, again and again; the last one is that of a crawl that does not run (any more)."""
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


def _live(statuses: Iterator[Status], console: Console) -> None:
    from rich.live import Live
    from rich.text import Text

    from focused.report.status import status_lines

    # Whatever is wrong is said before the screen is touched.
    first = next(statuses)
    with Live(console=console, auto_refresh=False) as live:
        for status in chain([first], statuses):
            text = Text("\n".join(status_lines(status)), no_wrap=True, overflow="ellipsis")
            live.update(text, refresh=True)


def _without_job(args: list[str], watch: str | None) -> tuple[list[str], float | None]:
    """The job follows ``--watch`` when no seconds are given, and is taken for them."""
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
