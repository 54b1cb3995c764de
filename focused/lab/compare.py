"""A comparison: topics × prioritizers × starts on one recorded web, beside what could be had at best."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from focused.frontier.records import read_records
from focused.lab.bounds import row, walk
from focused.lab.cases import Case, Preparer, draw_starts, judge_all
from focused.lab.entrants import Entrant, parse_entrant
from focused.lab.jobs import FETCHES, JOB, STATS, Job, run_fast, run_real
from focused.lab.measure import Figures, measure, read_trace, share_of
from focused.lab.plan import Plan, Results, Run
from focused.lab.topics import LabTopic, read_examples, read_labels, read_topics
from focused.prioritizers.observed import BestFirstObserved
from focused.replay.graph import Graph, read_graph
from focused.replay.log import FetchLog, read_log
from focused.replay.web import Web
from focused.teaching.apprentice import NothingLearned, trained_apprentice
from focused.topics.topic import load_topic

BASELINE = "best-first"
"""Losses are also given relative to this prioritizer's."""
_LIBRARIES = ("scrapy", "scikit-learn", "numpy", "lxml")

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Task:
    """One crawl that is wanted."""

    case: Case
    entrant: Entrant
    start: int


class Comparison:
    """Runs a plan; ``notify`` is told of each step, ``command`` is what the results say they were made by."""

    def __init__(self, plan: Plan, notify: Notify, command: Sequence[str] = ()) -> None:
        self.plan = plan
        self.command = command
        self.out = Path(plan.out)
        self.notify = notify
        self.web = Web.open(*plan.web)
        notify(f"{len(self.web.pages())} pages recorded")
        self.graph: Graph = read_graph(self.web, *plan.web)
        self.out.mkdir(parents=True, exist_ok=True)
        self.preparer = Preparer(self.web, self.graph, self.out / "topics", self.out / "models")

    def run(self) -> Results:
        """Teach, crawl, measure."""
        plan = self.plan
        if plan.labels:
            self.preparer.labels = read_labels(plan.labels)
        cases = self._cases()
        self._teach(cases)
        results = Results(
            command=list(self.command),
            versions={"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
            plan=plan,
            targets={case.name: case.wanted for case in cases},
            examples={case.name: case.examples for case in cases},
            starts={case.name: case.starts for case in cases},
            runs=[],
        )
        for run in chain(self._limits(cases), self._crawls(cases)):
            results.runs.append(run)
            _relate(results.runs)
            # What is done stays done when the rest is interrupted.
            (self.out / "results.json").write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1))
        return results

    def _cases(self) -> list[Case]:
        plan = self.plan
        if not plan.topics_file:
            topics = [load_topic(name, seeds_needed=True) for name in plan.topics]
            return [self.preparer.from_topic(topic, plan.examples) for topic in topics]
        known = read_topics(plan.topics_file)
        chosen = list(known) if plan.topics == ["all"] else plan.topics
        strangers = [name for name in chosen if name not in known]
        if strangers:
            raise ValueError(f"{plan.topics_file}: no topic {strangers[0]!r}; there are {', '.join(known)}")
        return [self._case(known[name]) for name in chosen]

    def _case(self, lab: LabTopic) -> Case:
        plan = self.plan
        examples = read_examples(plan.examples, without=_held_out(plan.hold_out, lab.name)) if plan.examples else {}
        ground = self.preparer.from_table(lab, examples, []).ground
        return self.preparer.from_table(lab, examples, draw_starts(lab, plan.start, ground, plan.starts))

    def _teach(self, cases: Sequence[Case]) -> None:
        (self.out / "teaching.tsv").unlink(missing_ok=True)
        with FetchLog(self.out / "teaching.tsv", remember=False) as log:
            for case in cases:
                if case.examples:
                    self.notify(f"teaching {case.name}: {case.examples} examples")
                    self.preparer.teach(case, self.plan.critic, log)

    def _crawls(self, cases: Sequence[Case]) -> Iterator[Run]:
        plan = self.plan
        entrants = [parse_entrant(text) for text in plan.prioritizers]
        tasks = [
            Task(case, entrant, start) for case in cases for entrant in entrants for start in range(len(case.starts))
        ]
        # Crawls of the paper's best-first, whose lessons are studied before the others can begin.
        first = [(self._job(task, observed=True), task) for task in tasks if task.entrant.studies]
        for job, task in self._run(first):
            _study(job.path(JOB), self._studied(task))
        for job, task in self._run([(self._job(task), task) for task in tasks]):
            yield self._measured(job, task)

    def _run(self, work: Sequence[tuple[Job, Task]]) -> Iterator[tuple[Job, Task]]:
        jobs = [job for job, _ in work]
        known = {job.folder: task for job, task in work}
        workers = self.plan.workers or os.cpu_count() or 1
        paths = [Path(path) for path in self.plan.web]
        done = run_fast(jobs, paths, workers=workers) if self.plan.fast else run_real(jobs, self.web)
        for count, job in enumerate(done, 1):
            task = known[job.folder]
            self.notify(f"{count}/{len(jobs)} {task.case.name}: {Path(job.folder).name}")
            yield job, task

    def _job(self, task: Task, *, observed: bool = False) -> Job:
        case = task.case
        name = f"{_plain(task.entrant.text)}-{task.start}{'-observed' if observed else ''}"
        folder = self.out / "crawls" / case.folder.name / name
        # Crawls of an earlier comparison would be gone on with.
        shutil.rmtree(folder, ignore_errors=True)
        table = task.entrant.table()
        if observed:
            table |= {"name": BestFirstObserved.name, "combine": "first"}
        arguments = {"topic": str(case.write_topic(task.start, table, name).resolve()), "prioritizer": table["name"]}
        settings = _settings(self.plan, case, self.preparer.models)
        if task.entrant.studies and not observed:
            arguments["apprentice"] = str(self._studied(task).resolve())
            if task.entrant.name == "offline":
                settings["FOCUSED_TRAIN_EVERY"] = str(10**9)
        return Job(folder=str(folder.resolve()), arguments=arguments, settings=settings)

    def _studied(self, task: Task) -> Path:
        return task.case.folder / f"{_plain(task.entrant.text)}-{task.start}.npz"

    def _measured(self, job: Job, task: Task) -> Run:
        case = task.case
        stats = json.loads(job.path(STATS).read_text("utf-8"))
        trace = read_trace(read_log(job.path(FETCHES)), self.web, case.ground.counts, self.plan.pages)
        figures = measure(
            trace,
            case.ground.targets,
            budgets=self.plan.budgets,
            most=self.plan.pages,
            relevance=_verdicts(job, self.web),
        )
        pages = stats.get("focused/page/judged") or len(trace.pages)
        return Run(
            topic=case.name,
            row=task.entrant.text,
            start=task.start,
            figures=figures,
            cpu_ms=1_000 * stats["focused/lab/cpu"] / pages if pages else None,
            seconds=stats.get("elapsed_time_seconds"),
            stopped_by=str(stats.get("focused/stopped_by", stats.get("finish_reason", ""))),
        )

    def _limits(self, cases: Sequence[Case]) -> Iterator[Run]:
        plan = self.plan
        critics = [case.critic for case in cases if case.critic]
        if "foresight" in plan.limits and critics:
            self.notify(f"judging all pages for {len(critics)} topics")
            relevance = iter(judge_all(self.web, critics))
            for case in cases:
                case.ground.relevance = next(relevance) if case.critic else None
        for case in cases:
            for name in plan.limits:
                if name != "foresight" or case.ground.relevance is not None:
                    yield from self._limit(case, name)

    def _limit(self, case: Case, name: str) -> Iterator[Run]:
        plan = self.plan
        for number, start in enumerate(case.starts):
            seeds = [seed for seed in map(self.web.find, start) if seed >= 0]
            trace = walk(case.ground, seeds, plan.pages, row(name, case.ground))
            figures = measure(
                trace, case.ground.targets, budgets=plan.budgets, most=plan.pages, relevance=case.ground.relevance
            )
            yield Run(topic=case.name, row=name, start=number, figures=figures)


def _relate(runs: Sequence[Run]) -> None:
    """Fill in what a run is worth beside others of the same topic and start."""
    bounds = {(run.topic, run.start): run.figures for run in runs if run.row == "bound"}
    losses = {(run.topic, run.start): _loss(run.figures) for run in runs if run.row == BASELINE}
    for run in runs:
        bound, loss, own = bounds.get((run.topic, run.start)), losses.get((run.topic, run.start)), _loss(run.figures)
        run.share = share_of(run.figures, bound) if bound else None
        run.loss_ratio = own / loss if own is not None and loss else None


def _loss(figures: Figures) -> float | None:
    return figures.loss if figures.loss_at_n is None else figures.loss_at_n


def _study(job: Path, file: Path) -> None:
    """Train an apprentice on the lessons of a job, for ``-a apprentice=FILE``."""
    try:
        with closing(read_records(job)) as records:
            state, _ = trained_apprentice(records)
    except NothingLearned as error:
        raise ValueError(f"{job}: {error}") from error
    file.write_bytes(state)


def _held_out(hold_out: str, topic: str) -> tuple[str, str] | None:
    """``column=value``; ``column`` alone takes what stands behind the @ in the topic's name."""
    if not hold_out:
        return None
    column, given, value = hold_out.partition("=")
    if not given:
        value = topic.rpartition("@")[2] if "@" in topic else ""
    if not value:
        raise ValueError(f"--hold-out {hold_out}: which {column}? say {column}=…; the topic is {topic!r}")
    return column, value


def _settings(plan: Plan, case: Case, models: Path) -> dict[str, Any]:
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


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)


def _verdicts(job: Job, web: Web) -> NDArray[np.float32]:
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
