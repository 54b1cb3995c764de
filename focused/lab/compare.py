"""A comparison: topics × prioritizers × starts on one recorded web, and what could be had at best."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from focused.lab.bounds import row, walk
from focused.lab.cases import Case, Preparer, draw_starts, judge_all
from focused.lab.chosen import chosen_labs, chosen_topics
from focused.lab.crawls import Crawls, Notify, Task, stats_of, trace_of, verdicts_of
from focused.lab.entrants import parse_entrant
from focused.lab.jobs import JOB, Job
from focused.lab.likeness import Bags, Cosines, Likeness, measure_likeness
from focused.lab.measure import CrawlFigures, Trace, measure, share_of
from focused.lab.plan import MeasuredCrawl, Plan, Results, TaughtEntrant, taught_to_text, write_results
from focused.lab.replay.log import FetchLog
from focused.lab.resume import Done
from focused.lab.teacher import Teacher
from focused.papers.paths.graph import read_graph
from focused.papers.paths.topics import KnownTopic, read_labels
from focused.report.job_reader import JobReader
from focused.report.lessons import NothingLearned, study_lessons
from focused.report.text import counted
from focused.warc.web import Web

BASELINE = "best-first"
"""Losses are also given relative to this prioritizer's."""
_SHOWN = 5
Relevance = NDArray[np.float32]
_LIBRARIES = ("scrapy", "scikit-learn", "numpy", "lxml")


class Comparison:
    """Runs a plan; ``notify`` reports each step, ``command`` is recorded in the results.

    ``resume`` skips what is in the results already.
    """

    def __init__(self, plan: Plan, notify: Notify, command: Sequence[str] = (), *, resume: bool = False) -> None:
        self.plan = plan
        self.command = command
        self.out = Path(plan.out)
        self.notify = notify
        self.done = Done.of(self.out) if resume else Done()
        self.topics = [] if plan.topics_file else chosen_topics(plan)
        self.labs = chosen_labs(plan) if plan.topics_file else []
        self.web = Web.open(*plan.web)
        notify(f"{len(self.web.pages())} pages recorded")
        self.graph = read_graph(self.web, *plan.web)
        self.out.mkdir(parents=True, exist_ok=True)
        self.preparer = Preparer(self.web, self.graph, self.out / "topics", self.out / "models")
        self.crawls = Crawls(plan, self.web, self.preparer.models, notify)
        self.teacher = Teacher(plan, self.crawls, self.graph)
        self.bags = Bags(self.web)
        self._cosines: dict[str, Cosines] = {}

    def run(self) -> Results:
        """Teach, crawl, measure."""
        plan = self.plan
        if plan.labels:
            self.preparer.labels = read_labels(plan.labels)
        cases = self._cases()
        results = self.done.continued(self._nothing_yet(cases))
        tasks = self._tasks(cases)
        if plan.paths:
            # Mistakes in them are reported before anything else takes its time.
            for task in {(task.case.name, task.entrant.kind_of_paths): task for task in tasks}.values():
                if task.entrant.kind_of_paths:
                    self.teacher.paths_for(task)
        unfinished = {task.case.name for task in tasks} | {case.name for case, *_ in self._walks(cases)}
        self._teach([case for case in cases if case.name in unfinished])
        write_results(results, self.out)
        for one in chain(self._limits(cases), self._crawls(tasks)):
            results.add(one)
            _relate(results.runs)
            # Finished crawls survive an interruption.
            write_results(results, self.out)
        return results

    def _nothing_yet(self, cases: Sequence[Case]) -> Results:
        return Results(
            command=list(self.command),
            versions={"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
            plan=self.plan,
            targets={case.name: case.wanted for case in cases},
            examples={case.name: case.examples for case in cases},
            starts={case.name: case.starts for case in cases},
            runs=[],
        )

    def _cases(self) -> list[Case]:
        cases = [self.preparer.from_topic(topic, self.plan.examples) for topic in self.topics]
        cases += [self._case(lab, examples) for lab, examples in self.labs]
        for case in cases:
            for start in case.starts:
                self._check_start(case, start)
        return cases

    def _case(self, lab: KnownTopic, examples: dict[str, str]) -> Case:
        ground = self.preparer.from_table(lab, examples, []).ground
        return self.preparer.from_table(lab, examples, draw_starts(lab, self.plan.start, ground, self.plan.starts))

    def _check_start(self, case: Case, urls: Sequence[str]) -> None:
        """ValueError if no crawl can begin there; some pages may be missing."""
        rows = [row for row in map(self.web.find, urls) if row >= 0]
        if (self.graph.leads_to[rows] < 0).all():
            shown = ", ".join(urls[:_SHOWN]) + (", …" if len(urls) > _SHOWN else "")
            raise ValueError(
                f"topic {case.name!r}: none of its starting pages is in this web: {shown}; "
                f"name pages that are recorded in {', '.join(self.plan.web)}"
            )

    def _missing(self, cases: Sequence[Case], rows: Sequence[str]) -> Iterator[tuple[Case, str, int]]:
        """The crawls that are still to be done: of each case, by each row, from each start."""
        for case, name in product(cases, rows):
            for start in range(len(case.starts)):
                if (case.name, name, start) not in self.done.runs:
                    yield case, name, start

    def _tasks(self, cases: Sequence[Case]) -> list[Task]:
        entrants = {text: parse_entrant(text) for text in self.plan.prioritizers}
        return [Task(case, entrants[text], start) for case, text, start in self._missing(cases, list(entrants))]

    def _walks(self, cases: Sequence[Case]) -> list[tuple[Case, str, int]]:
        """Those on paper."""
        return list(self._missing(cases, self.plan.limits))

    def _teach(self, cases: Sequence[Case]) -> None:
        (self.out / "teaching.tsv").unlink(missing_ok=True)
        with FetchLog(self.out / "teaching.tsv", remember=False) as log:
            for case in cases:
                if case.examples:
                    self.notify(f"teaching {case.name}: {case.examples} examples")
                    self.preparer.teach(case, self.plan.critic, log)

    def _crawls(self, tasks: Sequence[Task]) -> Iterator[MeasuredCrawl | TaughtEntrant]:
        """All crawls; those that must wait for something to be taught come last."""
        self._study([task for task in tasks if task.entrant.studies])
        ready = [task for task in tasks if not task.entrant.kind_of_paths]
        for job, task in self.crawls.run([(self._job(task), task) for task in ready]):
            yield self._measured(job, task)
        yield from self._taught_crawls([task for task in tasks if task.entrant.kind_of_paths])

    def _taught_crawls(self, tasks: Sequence[Task]) -> Iterator[MeasuredCrawl | TaughtEntrant]:
        refused = set()
        for taught in self.teacher.teach([task for task in tasks if not self._is_taught(task)]):
            self.notify(taught_to_text(taught))
            if taught.refused:
                refused.add((taught.topic, taught.row, taught.start))
            yield taught
        ready = [task for task in tasks if self.teacher.key(task) not in refused]
        work = [(self.crawls.job(task, models=self.teacher.models(task)), task) for task in ready]
        for job, task in self.crawls.run(work):
            yield self._measured(job, task)

    def _is_taught(self, task: Task) -> bool:
        return self.teacher.key(task) in self.done.taught and self.teacher.is_taught(task)

    def _study(self, tasks: Sequence[Task]) -> None:
        """Train apprentices on crawls of the paper's best-first, before those that they lead can begin."""
        watched = [(self.crawls.job(Task(task.case, task.entrant.observed(), task.start)), task) for task in tasks]
        for job, task in self.crawls.run(watched):
            try:
                with JobReader.open(job.path(JOB)) as reader:
                    state, _ = study_lessons(reader)
            except NothingLearned as error:
                raise ValueError(f"{job.path(JOB)}: {error}") from error
            self._studied(task).write_bytes(state)

    def _studied(self, task: Task) -> Path:
        return task.case.folder / f"{task.name}.npz"

    def _job(self, task: Task) -> Job:
        if not task.entrant.studies:
            return self.crawls.job(task)
        settings = {"FOCUSED_TRAIN_EVERY": str(10**9)} if task.entrant.name == "offline" else {}
        return self.crawls.job(task, arguments={"learned": str(self._studied(task).resolve())}, settings=settings)

    def _measured(self, job: Job, task: Task) -> MeasuredCrawl:
        stats = stats_of(job)
        trace = trace_of(job, self.web, task.case.ground, self.plan.pages)
        pages = stats.get("focused/page/judged") or len(trace.pages)
        run = self._run(task.case, task.entrant.text, task.start, trace, verdicts_of(job, self.web))
        run.cpu_ms = 1_000 * stats["focused/lab/cpu"] / pages if pages else None
        run.seconds = stats.get("elapsed_time_seconds")
        run.stopped_by = str(stats.get("focused/stopped_by", stats.get("finish_reason", "")))
        return run

    def _limits(self, cases: Sequence[Case]) -> Iterator[MeasuredCrawl]:
        walks = self._walks(cases)
        unjudged = {case.name: case for case, name, _ in walks if case.critic and "foresight" in self.plan.limits}
        if unjudged:
            self._judge(list(unjudged.values()))
        for case, name, start in walks:
            if name != "foresight" or case.ground.relevance is not None:
                seeds = [seed for seed in map(self.web.find, case.starts[start]) if seed >= 0]
                trace = walk(case.ground, seeds, self.plan.pages, row(name, case.ground))
                yield self._run(case, name, start, trace, case.ground.relevance)

    def _judge(self, cases: Sequence[Case]) -> None:
        self.notify(f"judging all pages for {counted(len(cases), 'topic')}")
        critics = [case.critic for case in cases if case.critic]
        for case, relevance in zip(cases, judge_all(self.web, critics, self.bags.keep), strict=True):
            case.ground.relevance = relevance

    def _run(self, case: Case, name: str, start: int, trace: Trace, relevance: Relevance | None) -> MeasuredCrawl:
        plan = self.plan
        figures = measure(trace, case.ground.targets, budgets=plan.budgets, most=plan.pages, relevance=relevance)
        return MeasuredCrawl(
            topic=case.name, row=name, start=start, figures=figures, likeness=self._likeness(case, trace)
        )

    def _likeness(self, case: Case, trace: Trace) -> Likeness | None:
        targets = case.critic.targets if case.critic else None
        if targets is None:
            return None
        if case.name not in self._cosines:
            self._cosines[case.name] = Cosines(targets, self.bags, len(self.web))
        return measure_likeness(self._cosines[case.name].of(trace.pages), self.plan.gammas, self.plan.pages)


def _relate(runs: Sequence[MeasuredCrawl]) -> None:
    """Fill in the figures that relate a crawl to others of the same topic and start."""
    bounds = {(run.topic, run.start): run.figures for run in runs if run.row == "bound"}
    losses = {(run.topic, run.start): _loss(run.figures) for run in runs if run.row == BASELINE}
    for run in runs:
        bound, loss, own = bounds.get((run.topic, run.start)), losses.get((run.topic, run.start)), _loss(run.figures)
        run.share = share_of(run.figures, bound) if bound else None
        run.loss_ratio = own / loss if own is not None and loss else None


def _loss(figures: CrawlFigures) -> float | None:
    return figures.loss if figures.loss_at_n is None else figures.loss_at_n
