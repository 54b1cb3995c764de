"""What marks are worth, and how soon a crawl takes them in, by the commands that a user types.

    python -m bench.marks webkb uci wpcd [--topics A,B] [--answers 0,10,40] [--out out/marks]
    python -m bench.marks taking [--pages 10000] [--marks 20]

Worth: real crawls of recorded webs with labels (WEB.warc.gz, or a name in the folder FOCUSED_CORPORA), made and
measured as `scrapy compare --given words --limits bound` does. Each crawl rests after one, two, three and four eighths
of its pages. There a user whose answers are the labels asks `scrapy mark JOBDIR --ask 10 --json`, answers by `scrapy
mark JOBDIR --yes … --no …` until all answers are given, and runs the command of the crawl again. Rows differ by the
number of answers alone: all rest alike. Results are in OUT/WEB, as `compare` writes them; what is there is not done
again.

Taking: see `bench.marks_taking`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from statistics import fmean, median, stdev
from time import monotonic
from typing import Any

from bench import marks_taking
from focused.lab.compare import Comparison
from focused.lab.crawls import Crawls, Task
from focused.lab.entrants import Entrant
from focused.lab.jobs import FETCHES, HANDLER, JOB, JobFailed
from focused.lab.labels import LabelTeacher
from focused.lab.measure import read_trace
from focused.lab.plan import Plan, Results
from focused.lab.process import CrawlProcess, crawl_environment
from focused.lab.replay.log import read_log
from focused.papers.paths.topics import labels_beside
from focused.parts import DEFAULT_PRIORITIZER
from focused.topics.topic import Topic
from focused.visits.questions import Question

AT_ONCE = 10
RESTS = (1, 2, 3, 4)
"""Eighths of the pages of a crawl."""
GIVEN = "marks.json"
COURSES: dict[str, dict[str, Any]] = {
    "webkb": {"start": "root", "hold_out": "university", "pages": 200, "budgets": (50, 100, 200)},
    "wpcd": {"start": "far"},
}
"""How the webs of docs/results.md are crawled there; others from their root."""


@dataclass
class Given:
    """What a user has said of one crawl, and the seconds that the commands took."""

    yes: int
    no: int
    asking: list[float]
    marking: list[float]


class User:
    """Asks which pages to mark, and marks them by the labels."""

    def __init__(self, job: Path, labelled: Path) -> None:
        self._job = job
        self._label = LabelTeacher(line for line in labelled.read_text("utf-8").split("\n") if line)
        self.given = Given(0, 0, [], [])

    @property
    def answers(self) -> int:
        """How many have been given."""
        return self.given.yes + self.given.no

    def mark(self, most: int) -> None:
        """Mark at most so many pages; fewer, where fewer are worth a question."""
        if most <= 0:
            return
        asked = self._run(self.given.asking, "--ask", str(most), "--json")
        urls = [json.loads(line)["url"] for line in asked.splitlines()]
        said = self._label([Question(url, "", "") for url in urls], Topic(name=""))
        yes, no = ([url for url, one in zip(urls, said, strict=True) if one is what] for what in (True, False))
        given = [word for name, ones in (("--yes", yes), ("--no", no)) if ones for word in (name, *ones)]
        if given:
            self._run(self.given.marking, *given)
        self.given.yes += len(yes)
        self.given.no += len(no)

    def _run(self, seconds: list[float], *words: str) -> str:
        command, began = [sys.executable, "-m", "scrapy", "mark", str(self._job), *words], monotonic()
        done = subprocess.run(command, env=crawl_environment(), stdout=subprocess.PIPE, text=True, check=True)
        seconds.append(monotonic() - began)
        return done.stdout


class MarkedCrawls(Crawls):
    """Crawls that rest for a user, each start a process of its own."""

    def run(self, tasks: Sequence[Task]) -> Iterator[Task]:
        for count, task in enumerate(tasks, 1):
            given = self._crawl(task)
            shown = f"{given.yes} yes, {given.no} no"
            self.notify(f"{count}/{len(tasks)} {task.case.name}: {task.entrant.text} ({shown})")
            yield task

    def _crawl(self, task: Task) -> Given:
        job, most = self.job(task), _answers_of(task.entrant.text)
        job.folder.mkdir(parents=True)
        user = User(job.folder / JOB, task.case.labelled)
        own = {"FOCUSED_REPLAY_WEB": os.pathsep.join(self.plan.web), "FOCUSED_REPLAY_LOG": str(job.folder / FETCHES)}
        settings = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in job.whole_settings(dict.fromkeys(("http", "https"), HANDLER), **own).items()
        }
        taken = 0
        for eighths in (*RESTS, 0):
            arguments = dict(job.arguments)
            if eighths:
                arguments["pages"] = str(self.plan.pages * eighths // 8)
            else:
                settings["FOCUSED_LAB_PAGES"] = str(self._pages_left(task))
            crawler = CrawlProcess(job.folder, arguments, settings)
            code = crawler.wait(inf)
            taken += sum(crawler.stats.get(f"focused/mark/{said}", 0) for said in ("yes", "no"))
            if code or taken != user.answers:
                why = f"code {code}" if code else f"{taken} of {user.answers} marks taken in"
                raise JobFailed(f"the crawl in {job.folder} failed ({why}); its log ends with\n{crawler.log[-2000:]}")
            if eighths:
                user.mark(min(AT_ONCE, most - user.answers))
        (job.folder / GIVEN).write_text(json.dumps(vars(user.given)), "utf-8")
        return user.given

    def _pages_left(self, task: Task) -> int:
        """How many pages that count are still to be fetched; at least one, since 0 would be no limit."""
        fetches = read_log(self.folder(task) / FETCHES)
        done = len(read_trace(fetches, self.web, task.case.ground.counts, self.plan.pages).pages)
        return max(self.plan.pages - done, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("webs", nargs="+", metavar="WEB", help="WEB.warc.gz or a name; or the word taking")
    parser.add_argument("--topics", default="all", help="separated by commas (default: all)")
    for table_ in ("topics-file", "examples", "labels"):
        parser.add_argument(f"--{table_}", default="", metavar="FILE", help="as in compare (default: beside the web)")
    parser.add_argument("--given", default="words", help="what the critic is given, as in compare (default: words)")
    parser.add_argument(
        "--answers", default="0,10,40", help="rows of the table; the first is compared with (%(default)s)"
    )
    parser.add_argument("--pages", type=int, default=0, help="pages a crawl, or (taking) of the job when it is judged")
    parser.add_argument("--out", type=Path, default=Path("out/marks"))
    parser.add_argument("--marks", type=int, default=20, help="taking: how many")
    options = parser.parse_args()
    if options.webs == ["taking"]:
        marks_taking.measure(options.pages or 10_000, options.marks)
        return
    for web in map(_find, options.webs):
        plan = make_plan(web, options)
        comparison = Comparison(
            plan,
            partial(print, file=sys.stderr, flush=True),
            sys.argv,
            resume=(Path(plan.out) / "results.json").exists(),
            entrant=_entrant,
            crawls=MarkedCrawls,
        )
        results = comparison.run()
        print("\n".join([*table(web.name.split(".")[0], results), *commands(Path(plan.out))]), flush=True)


def _find(name: str) -> Path:
    path = Path(name)
    if not path.exists():
        path = Path(os.environ.get("FOCUSED_CORPORA", "."), f"{name}.warc.gz")
    if not path.is_file():
        sys.exit(f"bench.marks: there is no web {name!r}: give a WARC file, or a name in the folder FOCUSED_CORPORA")
    return path.resolve()


def make_plan(web: Path, options: argparse.Namespace) -> Plan:
    """The plan of the comparison of one web; files beside the web say the rest."""
    name = web.name.split(".")[0]
    course = {"start": "root", **COURSES.get(name, {})}
    if options.pages:
        course |= {"pages": options.pages, "budgets": tuple(options.pages // part for part in (4, 2, 1))}
    return Plan(
        topics=options.topics.split(","),
        web=[str(web)],
        prioritizers=[f"{int(count)} answers" for count in options.answers.split(",")],
        topics_file=options.topics_file or str(web.with_name(f"{name}.topics.json")),
        examples=options.examples or str(web.with_name(f"{name}.examples.tsv")),
        labels=options.labels or labels_beside(str(web)),
        given=options.given,
        limits=("bound",),
        out=str(options.out / name),
        **{"pages": 1_000, **course},
    )


def _entrant(text: str) -> Entrant:
    return Entrant(text, DEFAULT_PRIORITIZER, {})


def _answers_of(row: str) -> int:
    return int(row.partition(" ")[0])


def table(web: str, results: Results) -> Iterator[str]:
    """A row for each number of answers, against the first."""
    shares = {
        row: {(run.topic, run.start): run.share for run in results.runs if run.row == row and run.share is not None}
        for row in results.plan.prioritizers
    }
    first = next(iter(shares))
    yield f"| {web} | crawls | share of bound | against {first} | better / equal / worse |"
    yield "|---|---|---|---|---|"
    for row, ones in shares.items():
        both = sorted(ones.keys() & shares[first].keys())
        differences = [ones[key] - shares[first][key] for key in both]
        against = "" if row == first or not both else paired(differences)
        yield f"| {row} | {len(ones)} | {fmean(ones.values()):.3f} | {against or '|'} |"


def paired(differences: Sequence[float]) -> str:
    """Two cells: the mean difference and its standard error, and how many are above, at and below 0."""
    error = stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else 0.0
    better, worse = (sum(sign * one > 0 for one in differences) for sign in (1, -1))
    equal = len(differences) - better - worse
    return f"{fmean(differences):+.3f} ± {error:.3f} | {better} / {equal} / {worse}"


def commands(folder: Path) -> Iterator[str]:
    """What was said in all crawls of a comparison, whenever they were made, and how long the commands took."""
    every: dict[str, list[Given]] = {}
    for file in sorted(folder.glob(f"crawls/*/*/{GIVEN}")):
        row = file.parent.name.rpartition("-")[0].replace("_", " ")
        every.setdefault(row, []).append(Given(**json.loads(file.read_text("utf-8"))))
    for row, ones in every.items():
        if any(one.asking for one in ones):
            yes, no = fmean(one.yes for one in ones), fmean(one.no for one in ones)
            times = [
                f"{name} {median(seconds):.1f} s (at most {max(seconds):.1f})"
                for name in ("asking", "marking")
                if (seconds := [second for one in ones for second in getattr(one, name)])
            ]
            yield f"{row}: {yes:.1f} yes and {no:.1f} no a crawl; the commands took {', '.join(times)}"


if __name__ == "__main__":
    main()
