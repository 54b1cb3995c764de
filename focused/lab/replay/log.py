"""The log of what was fetched from a replayed web, kept by the server and not by the crawler.

One line a fetch, tab separated: seconds since the epoch, status, address.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fetch:
    """One answer that was given."""

    time: float
    status: int
    url: str

    @property
    def is_robots(self) -> bool:
        """Is it a request for robots.txt, and not for a page?"""
        return self.url.endswith("/robots.txt")


class FetchLog:
    """Writes fetches to a file, if there is one."""

    def __init__(self, path: str | Path | None) -> None:
        # Whole lines, at once: a crawl's log is read while the crawl is running.
        self._file = Path(path).open("a", buffering=1, encoding="utf-8", newline="\n") if path else None  # noqa: SIM115

    def add(self, status: int, url: str) -> None:
        """Log one answer."""
        if self._file:
            self._file.write(f"{time.time():.3f}\t{status}\t{url}\n")

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()


def read_log(path: str | Path) -> list[Fetch]:
    """The fetches in a log, in order."""
    rows = (line.split("\t", 2) for line in Path(path).read_text("utf-8").split("\n") if line)
    return [Fetch(float(when), int(status), url) for when, status, url in rows]
