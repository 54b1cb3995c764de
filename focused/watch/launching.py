"""Starts crawls that were begun on the page: each is a process of its own, which goes on when the page ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Lock, Thread

from focused.files import NotWritten
from focused.report.text import clean
from focused.watch.topic_file import BegunCrawl

_MOST_RUNNING = 8
_END_OF_LOG, _MOST_SAID = 20_000, 1_000
_ERROR = " ERROR: "


def own_environment() -> dict[str, str]:
    """Our environment; modules are found where this process finds them."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


class Launcher:
    """Starts crawls, and knows how those that it started last have ended. ``given`` are settings, as for ``-s``."""

    def __init__(self, given: Sequence[str]) -> None:
        self._given = given
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        self._log_begins: dict[str, int] = {}
        self._lock = Lock()

    def command(self, place: BegunCrawl, pages: int) -> list[str]:
        """The command line of a crawl; the same one starts it and lets it go on."""
        settings = [*self._given, "FOCUSED_TOPICS_TRUSTED=False", f"JOBDIR={place.job}"]
        arguments = [f"topic={place.topic}", f"pages={pages}"]
        return [
            *(sys.executable, "-m", "focused", "crawl"),
            *(word for one in settings for word in ("-s", one)),
            *(word for one in arguments for word in ("-a", one)),
        ]

    def start(self, place: BegunCrawl, pages: int) -> None:
        """Start a crawl; ValueError or NotWritten if that cannot be."""
        with self._lock:
            if self.is_running(place):
                raise ValueError(f"{place.name!r} was started already, and is running")
            if sum(process.poll() is None for process in self._started.values()) >= _MOST_RUNNING:
                raise ValueError(f"{_MOST_RUNNING} crawls that were started here are running: wait until one has ended")
            try:
                process = self._process(place, pages)
            except OSError as error:
                raise NotWritten(repr(str(place.log)), error) from error
            self._started[place.name] = process
        # So that it leaves no zombie.
        Thread(target=process.wait, daemon=True).start()

    def _process(self, place: BegunCrawl, pages: int) -> subprocess.Popen[bytes]:
        with place.log.open("ab") as log:
            self._log_begins[place.name] = log.tell()
            return subprocess.Popen(  # noqa: S603  # our own command line
                self.command(place, pages),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=own_environment(),
                # Ctrl-C ends the page, not the crawl.
                start_new_session=True,
            )

    def is_running(self, place: BegunCrawl) -> bool:
        """Was it started here, and has not ended?"""
        process = self._started.get(place.name)
        return process is not None and process.poll() is None

    def problem(self, place: BegunCrawl) -> str:
        """Why the crawl that was started here last has failed; '' if it has not."""
        process = self._started.get(place.name)
        code = process.poll() if process is not None else None
        if not code:
            return ""
        words = _last_words(place.log, self._log_begins[place.name])
        return words or f"the crawl has failed (code {code}): see {place.log}"


def _last_words(log: Path, begin: int) -> str:
    """The last error in a log, or its last line; what was there before is left out."""
    try:
        with log.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _END_OF_LOG, begin))
            text = clean(file.read().decode("utf-8", "replace")).strip()
    except OSError:
        return ""
    *_, last = text.rpartition(_ERROR) if _ERROR in text else text.rpartition("\n")
    return last[:_MOST_SAID]
