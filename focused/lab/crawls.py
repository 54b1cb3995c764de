"""The crawls of a comparison: their settings, how they are run, and what is read from them afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.frontier.records import read_records
from focused.lab.bounds import Truth
from focused.lab.cases import Case
from focused.lab.entrants import Entrant
from focused.lab.jobs import FETCHES, JOB, Job, run_fast, run_real
from focused.lab.measure import Trace, read_trace
from focused.lab.plan import Plan
from focused.lab.replay.log import read_log
from focused.running.process import STATS
from focused.warc.web import Web

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Task:
    """One crawl that is wanted."""

    case: Case
    entrant: Entrant
    start: int

    @property
    def name(self) -> str:
        """What its folder is called."""
        return f"{plain(self.entrant.text)}-{self.start}"


class Crawls:
    """Makes the crawls of a plan and runs them on its web; ``models`` holds the critics."""

    def __init__(self, plan: Plan, web: Web, models: Path, notify: Notify) -> None:
        self.plan = plan
        self.web = web
        self.models = models
        self.folder = Path(plan.out) / "crawls"
        self.notify = notify

    def job(
        self,
        task: Task,
        *,
        models: Path | None = None,
        arguments: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Job:
        """The crawl of a task, in its own folder, which is emptied first."""
        folder = self.path(task)
        # A crawl of an earlier comparison would be resumed.
        shutil.rmtree(folder, ignore_errors=True)
        table = task.entrant.table()
        topic = task.case.write_topic(task.start, table, task.name)
        return Job(
            folder=str(folder.resolve()),
            arguments={"topic": str(topic.resolve()), "prioritizer": table["name"], **(arguments or {})},
            settings={**settings_of_case(self.plan, task.case, models or self.models), **(settings or {})},
        )

    def path(self, task: Task) -> Path:
        """The folder of a task's crawl."""
        return self.folder / task.case.folder.name / task.name

    def run(self, work: Sequence[tuple[Job, Task]]) -> Iterator[tuple[Job, Task]]:
        """Run crawls and yield each when it is done."""
        jobs = [job for job, _ in work]
        known = {job.folder: task for job, task in work}
        paths = [Path(path) for path in self.plan.web]
        done = run_fast(jobs, paths, workers=workers(self.plan)) if self.plan.fast else run_real(jobs, self.web)
        for count, job in enumerate(done, 1):
            task = known[job.folder]
            self.notify(f"{count}/{len(jobs)} {task.case.name}: {Path(job.folder).name}")
            yield job, task


def workers(plan: Plan) -> int:
    """The number of worker processes."""
    return plan.workers or os.cpu_count() or 1


def settings_of_case(plan: Plan, case: Case, models: Path) -> dict[str, Any]:
    """The settings of all crawls of a case."""
    settings: dict[str, Any] = {
        "FOCUSED_MODELS": str(models.resolve()),
        "FOCUSED_LAB_PAGES": str(plan.pages),
        "FOCUSED_LAB_IGNORED": str(case.ignored.resolve()),
        "DOWNLOAD_DELAY": "0",
        "AUTOTHROTTLE_ENABLED": "0",
        "FOCUSED_PROGRESS_EVERY": "0",
        "FOCUSED_REPORT": "",
        "CONCURRENT_REQUESTS": str(plan.concurrency),
        "CONCURRENT_REQUESTS_PER_DOMAIN": str(plan.concurrency),
        "EXTENSIONS": {"focused.lab.extension.LabExtension": 0},
    }
    if plan.concurrency == 1:
        # One page at a time in earnest: the next is asked for when callback and pipelines of the last are through.
        # Otherwise a crawl of several hosts depends on how fast the machine is.
        settings["SCRAPER_SLOT_MAX_ACTIVE_SIZE"] = "1"
    if plan.critic and case.critic:
        settings["FOCUSED_CRITIC"] = plan.critic
    if case.hosts:
        # Exactly these hosts and ports: allowed hosts would let subdomains in.
        hosts = "|".join(re.escape(host) for host in case.hosts)
        settings["FOCUSED_SCOPE_ALLOW"] = f"^https?://(?:{hosts})(?:/|$)"
    return settings | plan.settings


def plain(name: str) -> str:
    """A name for files."""
    return re.sub(r"[^\w.-]+", "_", name)


def trace_of(job: Job, web: Web, ground: Truth, most: int) -> Trace:
    """The pages that a crawl fetched and that count."""
    return read_trace(read_log(job.path(FETCHES)), web, ground.counts, most)


def stats_of(job: Job) -> dict[str, Any]:
    """What Scrapy counted during a crawl."""
    stats: dict[str, Any] = json.loads(job.path(STATS).read_text("utf-8"))
    return stats


def verdicts_of(job: Job, web: Web) -> NDArray[np.float32]:
    """R of the pages that a crawl judged, by their number in the web."""
    relevance = np.full(len(web), np.nan, np.float32)
    try:
        with closing(read_records(job.path(JOB))) as records:
            for url, judged in records.execute("SELECT url, relevance FROM pages"):
                found = web.find(url)
                if found >= 0:
                    relevance[found] = judged
    except sqlite3.Error as error:
        raise ValueError(f"{job.path(JOB)}: the crawl's records cannot be read: {error}") from error
    return relevance
