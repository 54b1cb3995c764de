"""The crawls of a comparison: their settings, how they are run, and what is read from them afterwards."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.frontier.records import read_records
from focused.lab.cases import Case
from focused.lab.entrants import Entrant
from focused.lab.jobs import Job, run_fast, run_real
from focused.lab.plan import Plan
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
    """Makes the crawls of a plan and runs them on its web."""

    def __init__(self, plan: Plan, web: Web, notify: Notify) -> None:
        self.plan = plan
        self.web = web
        self.out = Path(plan.out)
        self.notify = notify

    def folder(self, task: Task) -> Path:
        """The folder of a task's crawl."""
        return self.out / "crawls" / task.case.folder.name / task.name

    def studied(self, task: Task) -> Path:
        """The file of the apprentice that a crawl begins with, if it `studies`."""
        return task.case.folder / f"{task.name}.npz"

    def taught(self, task: Task) -> Path:
        """The file with what a prioritizer was taught by paths."""
        return self.models_of(task) / task.case.folder.name / f"{task.entrant.kind.name}.npz"

    def models_of(self, task: Task) -> Path:
        """The models folder that a crawl reads: its own, if its prioritizer is taught by paths.

        Given paths teach it for all starts, if the critic is the same for all.
        """
        if not task.entrant.kind_of_paths:
            return task.case.models
        return self.out / "taught" / (plain(task.entrant.text) if self.plan.is_taught_once else task.name)

    def job(self, task: Task) -> Job:
        """The crawl of a task, in its own folder, which is emptied first."""
        folder, table = self.folder(task), task.entrant.table()
        # A crawl of an earlier comparison would be resumed.
        shutil.rmtree(folder, ignore_errors=True)
        topic = task.case.write_topic(task.start, table, task.name)
        arguments = {"topic": str(topic.resolve()), "prioritizer": table["name"]}
        settings = _settings(self.plan, task.case, self.models_of(task))
        if task.entrant.studies:
            arguments["learned"] = str(self.studied(task).resolve())
        if task.entrant.is_shown:
            arguments["learned"] = str(self.taught(task).resolve())
        if task.entrant.name == "offline":
            settings["FOCUSED_TRAIN_EVERY"] = str(10**9)
        return Job(folder.resolve(), arguments, settings)

    def run(self, tasks: Sequence[Task]) -> Iterator[Task]:
        """Run crawls and yield each when it is done."""
        known = {self.folder(task).resolve(): task for task in tasks}
        jobs = list(map(self.job, tasks))
        web = [Path(path) for path in self.plan.web]
        done = run_fast(jobs, web, workers=workers(self.plan)) if self.plan.fast else run_real(jobs, self.web)
        for count, job in enumerate(done, 1):
            task = known[job.folder]
            self.notify(f"{count}/{len(jobs)} {task.case.name}: {task.name}")
            yield task


def workers(plan: Plan) -> int:
    """The number of worker processes."""
    return plan.workers or os.cpu_count() or 1


def _settings(plan: Plan, case: Case, models: Path) -> dict[str, Any]:
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
    if plan.answers:
        settings["FOCUSED_TEACHER"] = "focused.lab.labels.LabelTeacher"
        settings["FOCUSED_TEACHER_ANSWERS"] = str(plan.answers)
        settings["FOCUSED_LAB_WANTED"] = str(case.labelled.resolve())
    hosts = case.chosen.known.hosts
    if hosts:
        # Exactly these hosts and ports: allowed hosts would let subdomains in.
        settings["FOCUSED_SCOPE_ALLOW"] = f"^https?://(?:{'|'.join(map(re.escape, hosts))})(?:/|$)"
    return settings | plan.settings


def plain(name: str) -> str:
    """A name for files."""
    return re.sub(r"[^\w.-]+", "_", name)


def verdicts_of(job: Path, web: Web) -> NDArray[np.float32]:
    """R of the pages that a crawl judged, by their number in the web."""
    relevance = np.full(len(web), np.nan, np.float32)
    try:
        with closing(read_records(job)) as records:
            for url, judged in records.execute("SELECT url, relevance FROM pages"):
                found = web.find(url)
                if found >= 0:
                    relevance[found] = judged
    except sqlite3.Error as error:
        raise ValueError(f"{job}: the crawl's records cannot be read: {error}") from error
    return relevance
