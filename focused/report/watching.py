"""Prints the status of crawls: once, or again and again while a crawl runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from time import sleep

from rich.console import Console
from rich.live import Live
from rich.text import Text

from focused.report.reader import CrawlReader
from focused.report.status import CUT_SHORT, Status, status_json, status_line, status_lines

# Watching a large job must not cost more than this part of a processor.
_SHARE = 0.1
# Between letting go of its job and noting why it has ended, a crawl looks as if it had been cut short.
_UNTIL_NOTED = 1.0


def show(readers: Sequence[CrawlReader], *, as_json: bool) -> None:
    """One crawl in full; of several crawls one line each."""
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


def follow(read: Callable[[], Status], every: float, *, as_json: bool) -> None:
    """The status of a crawl until it ends: in place on a terminal, else one after the other."""
    console, statuses = Console(file=sys.stdout, highlight=False), watch(read, every)
    if console.is_terminal and not as_json:
        _live(statuses, console)
        return
    for status in statuses:
        print(status_json(status) if as_json else "\n".join([*status_lines(status), ""]), flush=True)


def watch(read: Callable[[], Status], every: float) -> Iterator[Status]:
    """The status of a crawl, again and again; the last one is that of a crawl that does not run (any more)."""
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
    # Whatever is wrong is said before the screen is touched.
    first = next(statuses)
    with Live(console=console, auto_refresh=False) as live:
        for status in chain([first], statuses):
            text = Text("\n".join(status_lines(status)), no_wrap=True, overflow="ellipsis")
            live.update(text, refresh=True)
