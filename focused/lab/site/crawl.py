"""A whole crawl in one call: in a separate process, through a test's site, with all its results."""

from __future__ import annotations

import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from focused.lab.process import LONGEST, OWN_SERVER, STATS, CrawlProcess
from focused.lab.site.reply import SiteRequest
from focused.lab.site.server import SiteServer


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """The outcome of a crawl, and its cost: seconds, CPU seconds, peak memory in megabytes.

    ``exit_code`` is negative if it was killed, and then ``stats`` is {}; ``items`` are those of all starts so far.
    """

    exit_code: int
    log: str
    items: list[dict[str, Any]]
    stats: dict[str, Any]
    visits: list[SiteRequest]
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
    timeout: float = LONGEST,
    kill_after: int | None = None,
    largest_file: int | None = None,
) -> CrawlResult:
    """Run ``scrapy crawl focused`` with spider arguments and settings, in a folder that takes all it writes.

    Pages come through ``site`` as the proxy for all hosts. The job is ``folder/job``: called again with the same
    folder, the crawl goes on. ``kill_after`` kills the process (SIGKILL) once the site has seen so many requests of
    it. Delays are off unless ``settings`` say otherwise. Past ``largest_file`` bytes the process cannot write a file
    further, as on a full disk.
    """
    (folder / STATS).unlink(missing_ok=True)
    first = len(site.visits) if site else 0
    began = time.monotonic()

    def is_enough() -> bool:
        return kill_after is not None and site is not None and len(site.visits) - first >= kill_after

    own = {**OWN_SERVER, "JOBDIR": folder / "job", "FOCUSED_MODELS": folder / "models", **(settings or {})}
    process = CrawlProcess(
        folder,
        arguments,
        own,
        proxy=site.url if site else "",
        options=options,
        environment={"PYTHONUNBUFFERED": "1"},
    )
    if largest_file is not None:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))
    code = process.wait(timeout, is_enough=is_enough)
    assert process.usage is not None
    return CrawlResult(
        exit_code=code,
        log=process.log,
        items=process.items,
        stats=process.stats,
        visits=site.visits[first:] if site else [],
        seconds=time.monotonic() - began,
        cpu_seconds=process.usage.ru_utime + process.usage.ru_stime,
        peak_mb=process.peak_mb,
    )
