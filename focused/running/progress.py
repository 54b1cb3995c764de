"""Progress of a command: a bar on a terminal, a line now and then in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

if TYPE_CHECKING:
    from focused.spiders.examples import Progress as Told

_SECONDS = 10.0


def quieten(settings: BaseSettings) -> None:
    """Leave the reporting to the command, unless the user asked for a log: failures are counted by reason."""
    asked = settings.getpriority("LOG_LEVEL") or 0
    if asked < SETTINGS_PRIORITIES["cmdline"]:
        settings.set("LOG_LEVEL", "CRITICAL", priority="cmdline")


@contextmanager
def page_progress(what: str, verb: str = "fetched") -> Iterator[Told]:
    """A function that reports the progress of fetching (or of what the ``verb`` says)."""
    # Here, so that commands can be listed without it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(what, verb)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int, failed: int) -> None:
            missing = f", {failed} failed" if failed else ""
            bar.update(task, completed=done, total=total, description=what + missing)

        yield show


@contextmanager
def step_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that reports how many steps of a training are done."""
    with page_progress(what, verb="steps") as show:
        yield lambda done, total: show(done, total, 0)


class _Lines:
    """A line every ten seconds, and one at the end."""

    def __init__(self, what: str, verb: str) -> None:
        self.what, self.verb = what, verb
        self._next = monotonic() + _SECONDS

    def __call__(self, done: int, total: int, failed: int) -> None:
        if done == total or monotonic() >= self._next:
            self._next = monotonic() + _SECONDS
            missing = f", {failed} failed" if failed else ""
            print(f"{self.what}: {done - failed} of {total} {self.verb}{missing}", file=sys.stderr, flush=True)
