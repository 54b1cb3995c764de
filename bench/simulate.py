"""Crawls of a recorded web without Scrapy, to choose a prioritizer's defaults.

    python bench/simulate.py wpcd --start far --pages 1000 --try apprentice --try 'apprentice combine=first'

Prints, a row for each topic and prioritizer, the targets found at 200, 500 and 1,000 pages and the R-precision, and
for each prioritizer the mean share: targets found at the three budgets over min(targets, budget). The rules are
those of the recorded webs: pages with 200 count, example pages count nowhere. The critic is a balanced logistic
regression on TF-IDF of the examples. Everything goes through the prioritizers' contract; the frontier is the
simplest that can be: greedy, ties first-in-first-out, everything scored again after every batch of lessons.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from focused.critics.base import Verdict
from focused.critics.logistic import LogisticCritic
from focused.pages.evidence import Evidence
from focused.pages.page import Page, page_from_html
from focused.prioritizers import PRIORITIZERS
from focused.prioritizers.base import Lessons
from focused.registry import find

CORPORA = Path(os.environ.get("FOCUSED_CORPORA", Path(__file__).parent.parent.parent / "shared" / "corpora"))
PIECES = 8
EVERY = 10


@dataclass
class Web:
    """A recorded web: pages and redirects."""

    name: str
    pages: dict[str, Page]
    redirects: dict[str, str]


def load_web(name: str) -> Web:
    """The web of a WARC, parsed once and kept in /tmp."""
    cache = Path("/tmp") / f"focused-simulate-{os.getuid()}-{name}.pickle"  # noqa: S108
    if not cache.exists():
        pages, redirects = _read_warc(CORPORA / f"{name}.warc.gz")
        cache.write_bytes(pickle.dumps((pages, redirects), pickle.HIGHEST_PROTOCOL))
    return Web(name, *pickle.loads(cache.read_bytes()))  # written by us


def _read_warc(path: Path) -> tuple[dict[str, Page], dict[str, str]]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    pages: dict[str, Page] = {}
    redirects: dict[str, str] = {}
    for record in ArchiveIterator(path.open("rb"), record_types=WarcRecordType.response, parse_http=True):
        url = record.headers["WARC-Target-URI"]
        if record.http_headers.status_code in {301, 302}:
            redirects[url] = record.http_headers["Location"]
        elif record.http_headers.status_code == 200:
            page = page_from_html(record.reader.read(), url)
            page.leaves = [""] * len(page.leaves)  # the words are in the ids
            pages[url] = page
    return pages, redirects


@dataclass
class Task:
    """One topic of a web: where to start, what to find, and the critic's verdicts on all pages."""

    name: str
    seeds: list[str]
    targets: set[str]
    critic: Any
    verdicts: dict[str, Verdict]
    examples: set[str]
    hosts: set[str] | None = None


def load_task(web: Web, topic: str, start: str) -> Task:
    """A topic with its critic trained and its verdicts given."""
    told = json.loads((CORPORA / f"{web.name}.topics.json").read_text())[topic]
    seeds = told[f"seeds_{start}"] or told["seeds_root"]
    with (CORPORA / f"{web.name}.examples.tsv").open(newline="") as file:
        examples = [row for row in csv.DictReader(file, delimiter="\t") if row["url"] in web.pages]
    held_out = topic.partition("@")[2]
    examples = [row for row in examples if not held_out or row["university"] != held_out]
    critic, verdicts = _taught(web, topic, examples, told["focus"])
    urls = {row["url"] for row in examples}
    hosts = set(told["hosts"]) if "hosts" in told else None
    return Task(topic, seeds, set(told["target_urls"]) - urls, critic, verdicts, urls, hosts)


def _taught(web: Web, topic: str, examples: list[dict[str, str]], focus: list[str]) -> tuple[Any, dict[str, Verdict]]:
    cache = Path("/tmp") / f"focused-simulate-{os.getuid()}-{web.name}-{topic}.pickle"
    if not cache.exists():
        critic = LogisticCritic().fit(
            [web.pages[row["url"]] for row in examples], [row["class"] for row in examples], focus
        )
        verdicts = {url: critic.judge(page) for url, page in web.pages.items()}
        cache.write_bytes(pickle.dumps((critic, verdicts)))
    return pickle.loads(cache.read_bytes())


@dataclass
class Crawl:
    """A greedy crawl through the prioritizer's contract."""

    web: Web
    task: Task
    prioritizer: Any
    numbers: dict[str, int] = field(default_factory=dict)
    urls: list[str] = field(default_factory=list)
    found: list[bool] = field(default_factory=list)
    harvest: list[float] = field(default_factory=list)
    requests: int = 0
    lessons: list[Lessons] = field(default_factory=list)
    taught: list[Lessons] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.order = np.full(1024, np.inf)
        self.score = np.zeros(1024, np.float32)
        self.waiting = np.zeros(1024, bool)
        self.pieces: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.blocks: list[Evidence] = []
        self.sources: list[float] = []
        self.seconds: dict[str, float] = defaultdict(float)

    def run(self, pages: int) -> Crawl:
        """Fetch this many pages, or all that can be reached."""
        queue = [self.number(url) for url in self.task.seeds]
        at_last = 0
        while len(self.found) < pages:
            v = queue.pop(0) if queue else self.best()
            if v is None:
                break
            self.fetch(v)
            if len(self.found) - at_last >= EVERY:
                at_last = len(self.found)
                self.learn()
        return self

    def number(self, url: str) -> int:
        n = self.numbers.get(url)
        if n is None:
            n = self.numbers[url] = len(self.urls)
            self.urls.append(url)
            if n >= len(self.order):
                self.order = np.concatenate([self.order, np.full(n, np.inf)])
                self.score = np.concatenate([self.score, np.zeros(n, np.float32)])
                self.waiting = np.concatenate([self.waiting, np.zeros(n, bool)])
            self.order[n] = n
        return n

    def best(self) -> int | None:
        score = np.where(self.waiting, self.score, -np.inf)
        most = score.max()
        if most == -np.inf:
            return None
        return int(np.flatnonzero(score == most)[0])

    def fetch(self, v: int) -> None:
        url = self.urls[v]
        self.requests += 1
        self.waiting[v] = False
        self.order[v] = -1
        end = self.web.redirects.get(url, url)
        page = self.web.pages.get(end)
        if page is None:
            self.teach(v, 0.0, alive=False)
            return
        verdict = self.task.verdicts[end]
        relevance = verdict.relevance
        self.teach(v, relevance, alive=True)
        w = self.number(end)
        if w != v:
            if self.order[w] == -1:
                return
            self.order[w] = -1
            self.waiting[w] = False
            self.teach(w, relevance, alive=True)
        if end not in self.task.examples:
            self.found.append(end in self.task.targets)
            self.harvest.append(relevance)
        self.add_links(page, verdict)

    def add_links(self, page: Page, verdict: Verdict) -> None:
        began = time.perf_counter()
        numbers = [self.number(url) if self.allowed(url) else -1 for url in page.links.urls]
        rows = [i for i, n in enumerate(numbers) if n >= 0 and self.order[n] >= 0 and len(self.pieces[n]) < PIECES]
        if not rows:
            return
        evidence = self.prioritizer.evidence(page, verdict, page.links.take(rows))
        block = len(self.blocks)
        self.blocks.append(evidence)
        self.sources.append(verdict.relevance)
        scores = self.prioritizer.score(evidence)
        for j, i in enumerate(rows):
            n = numbers[i]
            pieces = self.pieces[n]
            if len(pieces) >= PIECES:
                continue
            pieces.append((block, j))
            k = len(pieces)
            self.waiting[n] = True
            if k == 1:
                self.score[n] = scores[j]
            elif self.prioritizer.combine == "max":
                self.score[n] = max(self.score[n], scores[j])
            elif self.prioritizer.combine == "mean":
                self.score[n] += (scores[j] - self.score[n]) / k
        self.seconds["links"] += time.perf_counter() - began

    def allowed(self, url: str) -> bool:
        return self.task.hosts is None or url.split("/", 3)[2] in self.task.hosts

    def teach(self, v: int, relevance: float, *, alive: bool) -> None:
        pieces = self.pieces.pop(v, [])
        if not pieces:
            return
        n = len(pieces)
        evidence = Evidence.concat([self.blocks[b].row(j) for b, j in pieces])
        source = np.array([self.sources[b] for b, _ in pieces], np.float32)
        weight = np.full(n, 1 / n, np.float32)
        R = np.full(n, relevance, np.float32)
        self.lessons.append(Lessons(evidence, R, source, weight, np.full(n, alive)))

    def learn(self) -> None:
        lessons, self.lessons = self.lessons, []
        self.taught += lessons
        if not lessons or not self.prioritizer.learns:
            return
        began = time.perf_counter()
        new = self.prioritizer.learn(Lessons.concat(lessons))
        self.seconds["learn"] += time.perf_counter() - began
        if new is not None:
            self.prioritizer = new
            self.rescore()

    def rescore(self) -> None:
        began = time.perf_counter()
        waiting = [n for n in np.flatnonzero(self.waiting)]
        at = np.cumsum([0] + [len(block) for block in self.blocks])
        scores = self.prioritizer.score(Evidence.concat(self.blocks))
        lengths = np.array([len(self.pieces[n]) for n in waiting])
        if not len(lengths):
            return
        rows = scores[np.array([at[b] + j for n in waiting for b, j in self.pieces[n]])]
        starts = np.cumsum(np.concatenate([[0], lengths[:-1]]))
        how = self.prioritizer.combine
        if how == "first":
            self.score[waiting] = rows[starts]
        elif how == "max":
            self.score[waiting] = np.maximum.reduceat(rows, starts)
        else:
            self.score[waiting] = np.add.reduceat(rows, starts) / lengths
        self.seconds["rescore"] += time.perf_counter() - began


def budgets(web: str) -> tuple[int, ...]:
    """After how many pages the targets are counted."""
    return (50, 100, 200) if web == "webkb" else (200, 500, 1000)


def figures(crawl: Crawl, at: tuple[int, ...]) -> dict[str, float]:
    """What a crawl found."""
    found = np.cumsum([*crawl.found, 0])
    targets = len(crawl.task.targets)
    counts = [int(found[min(n, len(found)) - 1]) for n in at]
    most = [min(n, targets) for n in at]
    precision = found[min(targets, len(found)) - 1] / targets
    loss = 1 - float(np.mean(crawl.harvest[: max(targets, 1)]))
    return {"counts": counts, "share": sum(counts) / sum(most), "R": float(precision), "loss": loss}  # type: ignore[dict-item]


def parse_try(words: str) -> tuple[str, dict[str, Any]]:
    """``apprentice combine=first bits=20`` as a name and options."""
    name, *pairs = words.split()
    options: dict[str, Any] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return name, options


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web", nargs="+")
    parser.add_argument("--start", action="append", choices=("on", "far", "root"))
    parser.add_argument("--topics", help="comma-separated; all of the web without it")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=1, help="runs of each learning prioritizer, with other seeds")
    parser.add_argument("--try", dest="tries", action="append", required=True, metavar="'NAME KEY=VALUE…'")
    parser.add_argument("--quiet", action="store_true", help="only the means")
    told = parser.parse_args()
    totals: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name in told.web:
        web = load_web(name)
        topics = (
            told.topics.split(",") if told.topics else list(json.loads((CORPORA / f"{name}.topics.json").read_text()))
        )
        for topic in topics:
            for start in told.start or ["on"]:
                task = load_task(web, topic, start)
                for words in told.tries:
                    kind, options = parse_try(words)
                    for seed in range(told.seeds):
                        began = time.process_time()
                        prioritizer = find("prioritizer", kind, PRIORITIZERS)(seed=seed, critic=task.critic, **options)
                        crawl = Crawl(web, task, prioritizer).run(min(told.pages, budgets(name)[-1]))
                        result = figures(crawl, budgets(name))
                        totals[words].append(result)
                        if not told.quiet:
                            spent = " ".join(f"{k} {v:.1f}" for k, v in crawl.seconds.items())
                            counts = "/".join(map(str, result["counts"]))
                            print(
                                f"{topic[-24:]:24} {start:4} {words:40} {counts:>12} of {len(task.targets):4} "
                                f"share {result['share']:.3f} R {result['R']:.3f} loss {result['loss']:.3f} "
                                f"{time.process_time() - began:.1f} s ({spent})",
                                flush=True,
                            )
    print()
    for words, results in totals.items():
        means = {k: np.mean([r[k] for r in results]) for k in ("share", "R", "loss")}
        print(
            f"{words:60} share {means['share']:.3f} R {means['R']:.3f} loss {means['loss']:.3f} ({len(results)} runs)"
        )


if __name__ == "__main__":
    main()
