"""Entrants that must be taught by paths before they can crawl.

The paths are either given (``--paths``, drawn beforehand from another web), or drawn from the crawl's own records, as
section 3.5 of Chakrabarti, Punera, Subramanyam (2002) has an apprentice trained: a best-first crawl of the same length
from the same starts, whose pages, links and verdicts (no labels) are all that is known of the web. A page with R ≥ 0.5
is a target then. All entrants of one topic and start learn from the same crawl.

What an entrant has learned goes into a models folder of its own, ``taught/ENTRANT-START``, beside a copy of the topic's
critic (a hard link where that is possible): there its crawl finds both, and so does ``FOCUSED_MODELS=… scrapy why``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from focused.lab.crawls import Crawls, Task, workers
from focused.lab.entrants import Entrant
from focused.lab.jobs import JOB
from focused.lab.plan import Plan, TaughtEntrant
from focused.lab.schools import Pupil, School, teach_all
from focused.papers.paths.draw import Field, draw_visits, draw_walks
from focused.papers.paths.graph import Graph
from focused.papers.paths.path import Path as Way
from focused.papers.paths.path import PathsError
from focused.papers.paths.reading import read_paths
from focused.papers.paths.stops import FURTHEST
from focused.papers.teaching.drawing import field_of_job
from focused.papers.teaching.paths import addresses_of

_OBSERVED = Entrant("observed", "best-first", {})


class Teacher:
    """Teaches the entrants of a plan, in processes of their own."""

    def __init__(self, plan: Plan, crawls: Crawls, graph: Graph) -> None:
        self.plan = plan
        self.crawls = crawls
        self.graph = graph

    def paths_for(self, task: Task) -> list[Way]:
        """The paths that are given for an entrant; PathsError if there are none."""
        place, kind = Path(self.plan.paths), task.entrant.kind_of_paths
        topics = dict.fromkeys((task.case.folder.name, task.case.name.replace("/", "_")))
        names = [f"{topic}{suffix}.jsonl" for suffix in (f".{kind}", "") for topic in topics]
        files = [place] if not place.is_dir() else [place / name for name in names if (place / name).is_file()]
        if not files:
            there = ", ".join(names)
            topic = repr(task.case.name)
            raise PathsError([f"--paths {place}: no paths for topic {topic}: none of these files exists: {there}"])
        return read_paths(files[0])

    def key(self, task: Task) -> tuple[str, str, int | None]:
        """What an entrant is taught for: topic, entrant, start (None if given paths teach it for all starts)."""
        return task.case.name, task.entrant.text, None if self.plan.is_taught_once else task.start

    def is_taught(self, task: Task) -> bool:
        """Is its model where the crawl will look for it?"""
        return self.crawls.taught(task).is_file()

    def teach(self, tasks: Sequence[Task]) -> Iterator[TaughtEntrant]:
        """Teach what the tasks need, and yield each outcome."""
        classes: dict[tuple[str, int | None, str], dict[str, Task]] = {}
        for task in tasks:
            topic, entrant, start = self.key(task)
            classes.setdefault((topic, start, task.entrant.kind_of_paths), {}).setdefault(entrant, task)
        together = [list(pupils.values()) for pupils in classes.values()]
        if not self.plan.paths:
            self._watch([pupils[0] for pupils in together])
        schools = []
        for pupils in together:
            try:
                ways, source = self._ways(pupils[0])
            except PathsError as error:
                yield from (self._told(task, [], str(error)) for task in pupils)
            else:
                web = self.plan.paths_web or self.plan.web
                schools.append(School(ways, web, source, [self._pupil(task, ways) for task in pupils]))
        yield from teach_all(schools, workers(self.plan))

    def _watch(self, tasks: Sequence[Task]) -> None:
        """The crawls that paths are drawn from."""
        watched = {self.crawls.folder(one): one for one in map(_watched, tasks)}
        for _ in self.crawls.run(list(watched.values())):
            pass

    def _ways(self, task: Task) -> tuple[list[Way], dict[str, str]]:
        """The paths that teach an entrant, and where they come from."""
        if self.plan.paths:
            return self.paths_for(task), {"file": self.plan.paths}
        job = self.crawls.folder(_watched(task)) / JOB
        field = field_of_job(self.crawls.web, self.graph, job, self._roots(task))
        return draw_paths(field, task.entrant.kind_of_paths), {"job": str(job)}

    def _roots(self, task: Task) -> list[str]:
        """The pages of a start, redirects followed."""
        rows = [self.crawls.web.find(url) for url in task.case.seeds(task.start)]
        pages = [int(self.graph.leads_to[row]) for row in rows if row >= 0]
        return [self.graph.urls[page] for page in pages if page >= 0]

    def _pupil(self, task: Task, ways: Sequence[Way]) -> Pupil:
        """An entrant as its crawl will find it, the topic's critic at hand."""
        name, models = task.case.folder.name, self.crawls.models_of(task)
        shutil.rmtree(models / name, ignore_errors=True)
        models.mkdir(parents=True, exist_ok=True)
        if (task.case.models / name).is_dir():
            shutil.copytree(task.case.models / name, models / name, copy_function=_link_or_copy)
        return self._told(task, ways), self.crawls.job(task)

    def _told(self, task: Task, ways: Sequence[Way], refused: str = "") -> TaughtEntrant:
        urls = addresses_of(ways)
        rows = [row for row in map(self.crawls.web.find, urls) if row >= 0]
        topic, entrant, start = self.key(task)
        return TaughtEntrant(
            topic=topic,
            row=entrant,
            start=start,
            paths=len(ways),
            pages=len(urls),
            own_pages=int(task.case.ground.inside[rows].sum()),
            refused=refused,
        )


def _watched(task: Task) -> Task:
    """The crawl that an entrant learns from."""
    return Task(task.case, _OBSERVED, task.start)


def draw_paths(field: Field, kind: str) -> list[Way]:
    """Paths of one kind; walks begin as far out as there are pages, if that is less than the paper's four clicks."""
    if kind == "visits":
        return draw_visits(field)
    return draw_walks(field, furthest=min(FURTHEST, max(1, int(field.distances.max(initial=0)))))


def _link_or_copy(source: str, target: str) -> None:
    """Critics take megabytes, and there may be hundreds of models folders."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
