"""A whole crawl in one call: a process of its own, through a test's site, with all that came of it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage
from typing import Any

from focused.running.process import crawl_command, crawl_environment
from focused.testing.reply import Visit
from focused.testing.site import SiteServer

_FAST: dict[str, Any] = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False}
_TICK = 0.02
_LOG, _ITEMS, _STATS = "crawl.log", "items.jsonl", "stats.json"


class CrawlTimeout(AssertionError):
    """A crawl did not end in its time; the message shows the end of its log."""


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """What became of a crawl, and what it cost in seconds, seconds of CPU, and megabytes at the most.

    ``exit_code`` is below 0 when it was killed, and then ``stats`` is {}; ``items`` are those of all starts so far.
    """

    exit_code: int
    log: str
    items: list[dict[str, Any]]
    stats: dict[str, Any]
    visits: list[Visit]
    seconds: float
    cpu_seconds: float
    peak_mb: float

    @property
    def fetched(self) -> list[str]:
        """Addresses that the site answered with 200, in order, robots.txt left out."""
        return [visit.url for visit in self.visits if visit.status == 200 and visit.path != "/robots.txt"]

    @property
    def last_line(self) -> str:
        """The last line of the log."""
        lines = self.log.rstrip().splitlines()
        return lines[-1] if lines else ""

    def reason(self) -> str:
        """Why the crawl ended, as the statistics say."""
        return str(self.stats.get("finish_reason", ""))


def run_crawl(
    arguments: Mapping[str, Any],
    *,
    folder: Path,
    site: SiteServer | None = None,
    settings: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    timeout: float = 120.0,
    kill_after: int | None = None,
    largest_file: int | None = None,
) -> CrawlResult:
    """Run ``scrapy crawl focused`` with spider arguments and settings, in a folder that takes all it writes.

    Pages come through ``site`` as the proxy for all hosts. The job is ``folder/job``: called again with the same
    folder, the crawl goes on. ``kill_after`` kills the process (SIGKILL) once the site has seen so many requests of
    it. Delays are off unless ``settings`` say otherwise. Past ``largest_file`` bytes the process cannot write a file
    further, as on a full disk.
    """
    (folder / _STATS).unlink(missing_ok=True)
    first = len(site.visits) if site else 0
    began = time.monotonic()

    def is_enough() -> bool:
        return kill_after is not None and site is not None and len(site.visits) - first >= kill_after

    process = _start(
        [*_command(folder, arguments, {**_FAST, **(settings or {})}), *options], folder, site, largest_file
    )
    usage = _wait(process, began + timeout, is_enough)
    log = (folder / _LOG).read_text("utf-8", "replace")
    if usage is None:
        raise CrawlTimeout(f"still running after {timeout} s:\n{log[-3_000:]}")
    return CrawlResult(
        exit_code=process.returncode,
        log=log,
        items=read_items(folder / _ITEMS),
        stats=json.loads((folder / _STATS).read_text("utf-8")) if (folder / _STATS).exists() else {},
        visits=site.visits[first:] if site else [],
        seconds=time.monotonic() - began,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / 1024,
    )


def _command(folder: Path, arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    own = {"JOBDIR": folder / "job", "FOCUSED_MODELS": folder / "models", "FOCUSED_STATS_FILE": folder / _STATS}
    return crawl_command(arguments, {**own, **settings}, "-o", f"{folder / _ITEMS}:jsonlines")


def _start(
    command: Sequence[str], folder: Path, site: SiteServer | None, largest_file: int | None
) -> subprocess.Popen[bytes]:
    environment = {**crawl_environment(site.url if site else ""), "PYTHONUNBUFFERED": "1"}
    with (folder / _LOG).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  # our own command line
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    if largest_file is not None:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))
    return process


def _wait(process: subprocess.Popen[bytes], until: float, is_enough: Callable[[], bool]) -> struct_rusage | None:
    """What a process has used, when it has ended or, killed, was enough; None if it had to be killed for its time.

    Popen would not tell what the process has used, so it is waited for here, and Popen only told of it.
    """
    late = False
    while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        late = time.monotonic() > until
        if late or is_enough():
            os.kill(process.pid, signal.SIGKILL)
            ended = os.wait4(process.pid, 0)
            break
        time.sleep(_TICK)
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    return None if late else ended[2]


def read_items(path: Path) -> list[dict[str, Any]]:
    """The items in a file of JSON lines; the last line of a crawl that was killed may be half written."""
    if not path.exists():
        return []
    *whole, _ = path.read_text("utf-8").split("\n")
    return [json.loads(line) for line in whole]
