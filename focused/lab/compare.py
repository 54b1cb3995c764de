"""A comparison: topics × prioritizers × starts on one recorded web, and what could be had at best."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.files import write_whole
from focused.lab.bounds import JUDGED, walk
from focused.lab.calibration import measure_calibration
from focused.lab.cases import Case, Preparer, draw_starts, judge_all
from focused.lab.chosen import choose_topics
from focused.lab.crawls import Crawls, Notify, Task, verdicts_of
from focused.lab.entrants import Entrant, parse_entrant
from focused.lab.given import parse_given
from focused.lab.jobs import FETCHES, JOB
from focused.lab.likeness import Bags, Likeness, measure_likeness
from focused.lab.measure import CrawlFigures, Trace, measure, read_trace, share_of
from focused.lab.plan import (
    RESULTS,
    MeasuredCrawl,
    Plan,
    Results,
    TaughtEntrant,
    read_results,
    taught_to_text,
    write_results,
)
from focused.lab.process import STATS
from focused.lab.replay.log import read_log
from focused.lab.resume import continued
from focused.lab.teacher import Teacher
from focused.papers.paths.graph import read_graph
from focused.report.job_reader import JobReader
from focused.report.lessons import NothingLearned, study_lessons
from focused.report.text import counted
from focused.warc.web import Web

BASELINE = "best-first"
"""Losses are also given relative to this prioritizer's."""
_SHOWN = 5
Relevance = NDArray[np.float32]
Missing = tuple[Case, str, int]
"""A case, a row of its table, and the number of a start."""
_LIBRARIES = ("scrapy", "scikit-learn", "numpy", "lxml")


class Comparison:
    """Runs a plan; ``notify`` reports each step, ``command`` is recorded in the results.

    ``resume`` skips what is in the results already. ``entrant`` reads the name of a row, ``crawls`` makes and runs
    the crawls.
    """

    def __init__(
        self,
        plan: Plan,
        notify: Notify,
        command: Sequence[str] = (),
        *,
        resume: bool = False,
        entrant: Callable[[str], Entrant] = parse_entrant,
        crawls: type[Crawls] = Crawls,
    ) -> None:
        self.plan = plan
        self._entrant = entrant
        self.command = command
        self.out = Path(plan.out)
        self.notify = notify
        self.earlier = read_results(self.out) if resume and (self.out / RESULTS).exists() else None
        self.topics = choose_topics(plan)
        self.web = Web.open(*plan.web)
        notify(f"{len(self.web.pages())} pages recorded")
        self.graph = read_graph(self.web, *plan.web)
        self.out.mkdir(parents=True, exist_ok=True)
        self.preparer = Preparer(self.web, self.graph, self.out / "topics", self.out / "models")
        self.crawls = crawls(plan, self.web, notify)
        self.teacher = Teacher(plan, self.crawls, self.graph)
        self.bags = Bags(self.web)

    def run(self) -> Results:
        """Teach, crawl, measure."""
        cases = self._cases()
        results = self._nothing_yet(cases)
        if self.earlier:
            results = continued(self.earlier, results)
        entrants = {text: self._entrant(text) for text in self.plan.prioritizers}
        tasks = [Task(case, entrants[text], start) for case, text, start in _missing(results, cases, entrants)]
        walks = list(_missing(results, cases, self.plan.limits))
        if self.plan.paths:
            # Mistakes in them are reported before anything else takes its time.
            for task in {(task.case.name, task.entrant.kind_of_paths): task for task in tasks}.values():
                if task.entrant.kind_of_paths:
                    self.teacher.paths_for(task)
        unfinished = {task.case.key for task in tasks} | {case.key for case, *_ in walks}
        self._teach([case for case in cases if case.key in unfinished])
        results.critics |= {case.name: case.critic.name for case in cases if case.critic}
        write_results(results, self.out)
        taught = {taught.key for taught in results.taught if not taught.refused}
        for one in chain(self._limits(walks), self._crawls(tasks, taught)):
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
            examples={case.name: len(case.examples) for case in cases},
            starts={case.name: case.starts for case in cases},
            runs=[],
        )

    def _cases(self) -> list[Case]:
        every, given = [], parse_given(self.plan.given)
        for topic in self.topics:
            cases = self.preparer.cases(topic, given, self.plan.draws)
            starts = draw_starts(topic.known, self.plan.start, cases[0].ground, self.plan.starts)
            for start in starts:
                self._check_start(cases[0], start)
            for case in cases:
                case.starts = starts
            every += cases
        return every

    def _check_start(self, case: Case, urls: Sequence[str]) -> None:
        """ValueError if no crawl can begin there; some pages may be missing."""
        rows = [row for row in map(self.web.find, urls) if row >= 0]
        if (self.graph.leads_to[rows] < 0).all():
            shown = ", ".join(urls[:_SHOWN]) + (", …" if len(urls) > _SHOWN else "")
            raise ValueError(
                f"topic {case.name!r}: none of its starting pages is in this web: {shown}; "
                f"name pages that are recorded in {', '.join(self.plan.web)}"
            )

    def _teach(self, cases: Sequence[Case]) -> None:
        for case in cases:
            topic = case.chosen.topic
            if case.examples or topic.keywords or topic.critic:
                if case.examples:
                    draw = f", draw {case.draw}" if self.plan.draws > 1 else ""
                    self.notify(f"teaching {case.name}{draw}: {len(case.examples)} examples")
                self.preparer.teach(case, self.plan.critic)
                vectors = self.plan.settings.get("FOCUSED_VECTORS")
                if vectors and case.critic:
                    case.critic.use_vectors(vectors)

    def _crawls(self, tasks: Sequence[Task], taught: Collection[Any]) -> Iterator[MeasuredCrawl | TaughtEntrant]:
        """All crawls; those that must wait for something to be taught come last."""
        self._study([task for task in tasks if task.entrant.studies])
        yield from map(self._measured, self.crawls.run([task for task in tasks if not task.entrant.kind_of_paths]))
        tasks = [task for task in tasks if task.entrant.kind_of_paths]
        new = [task for task in tasks if self.teacher.key(task) not in taught or not self.teacher.is_taught(task)]
        refused = set()
        for result in self.teacher.teach(new):
            self.notify(taught_to_text(result))
            if result.refused:
                refused.add(result.key)
            yield result
        ready = [task for task in tasks if self.teacher.key(task) not in refused]
        yield from map(self._measured, self.crawls.run(ready))

    def _study(self, tasks: Sequence[Task]) -> None:
        """Train apprentices on crawls of the paper's best-first, before those that they lead can begin."""
        watched = [Task(task.case, task.entrant.observed(), task.start) for task in tasks]
        files = {self.crawls.folder(one): self.crawls.studied(task) for one, task in zip(watched, tasks, strict=True)}
        for task in self.crawls.run(watched):
            folder = self.crawls.folder(task)
            try:
                with JobReader.open(folder / JOB) as reader:
                    state, _ = study_lessons(reader)
            except NothingLearned as error:
                raise ValueError(f"{folder / JOB}: {error}") from error
            with write_whole(files[folder]) as file:
                file.write(state)

    def _measured(self, task: Task) -> MeasuredCrawl:
        folder, case = self.crawls.folder(task), task.case
        stats = json.loads((folder / STATS).read_text("utf-8"))
        trace = read_trace(read_log(folder / FETCHES), self.web, case.ground.counts, self.plan.pages)
        pages = stats.get("focused/page/judged") or len(trace.pages)
        relevance = verdicts_of(folder / JOB, self.web)
        run = self._run(case, task.entrant.text, task.start, trace, relevance)
        run.calibration = measure_calibration(trace.pages, case.ground.targets, relevance)
        run.cpu_ms = 1_000 * stats["focused/lab/cpu"] / pages if pages else None
        run.seconds = stats.get("elapsed_time_seconds")
        run.stopped_by = str(stats.get("focused/stopped_by", stats.get("finish_reason", "")))
        return run

    def _limits(self, walks: Sequence[Missing]) -> Iterator[MeasuredCrawl]:
        unjudged = {case.key: case for case, *_ in walks if case.critic and JUDGED & set(self.plan.limits)}
        if unjudged:
            self._judge(list(unjudged.values()))
        traces: dict[tuple[str, str, int], Trace] = {}
        for case, name, start in walks:
            if name in JUDGED and case.ground.relevance is None:
                continue
            # Only a row that asks the critic is another in each draw.
            key = case.name, name, start if name in JUDGED else start % len(case.starts)
            if key not in traces:
                seeds = [seed for seed in map(self.web.find, case.seeds(start)) if seed >= 0]
                traces[key] = walk(case.ground, seeds, self.plan.pages, name)
            yield self._run(case, name, start, traces[key], case.ground.relevance)

    def _judge(self, cases: Sequence[Case]) -> None:
        self.notify(f"judging all pages with {counted(len(cases), 'critic')}")
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
        targets = case.critic.targets if case.critic and case.examples else None
        if targets is None:
            return None
        cosines = targets.cosines([self.bags.of(row) for row in trace.pages])
        return measure_likeness(cosines, self.plan.gammas, self.plan.pages)


def _missing(results: Results, cases: Sequence[Case], rows: Iterable[str]) -> Iterator[Missing]:
    """What is still to be done: of each case, by each row, from each start."""
    done = {run.key for run in results.runs}
    for case, name in product(cases, rows):
        for start in case.numbers:
            if (case.name, name, start) not in done:
                yield case, name, start


def _relate(runs: Sequence[MeasuredCrawl]) -> None:
    """Fill in the figures that relate a crawl to others of the same topic and start."""
    bounds, clicks = (
        {(run.topic, run.start): run.figures for run in runs if run.row == row} for row in ("bound", "two-clicks")
    )
    losses = {(run.topic, run.start): _loss(run.figures) for run in runs if run.row == BASELINE}
    for run in runs:
        key = run.topic, run.start
        loss, own = losses.get(key), _loss(run.figures)
        run.share = share_of(run.figures, bounds[key]) if key in bounds else None
        run.of_two_clicks = share_of(run.figures, clicks[key]) if key in clicks else None
        run.loss_ratio = own / loss if own is not None and loss else None


def _loss(figures: CrawlFigures) -> float | None:
    return figures.loss if figures.loss_at_n is None else figures.loss_at_n
