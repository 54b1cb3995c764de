"""Crawls of a recorded web without Scrapy, to choose a prioritizer's defaults.

    python -m bench.simulate wpcd --start far --try best-first --try apprentice --try 'apprentice combine=first'
    python -m bench.simulate wpcd --start on --try 'apprentice study=true'

Prints, a row for each topic and prioritizer, the targets found at the three budgets (200, 500 and 1,000 pages; on
webkb 50, 100 and 200), and the means over topics of: the share of min(budget, targets) found at the budgets, the
R-precision, and the expected loss (1 - mean relevance) at N = number of targets.

The rules are those of the recorded webs: pages with 200 count, example pages count nowhere. The critic is `logistic`,
taught by the examples. Everything goes through the prioritizers' contract; the frontier is the simplest that can be:
greedy, ties first-in-first-out, everything scored again whenever something was learned. ``study=true`` is the paper's
§3.5: the apprentice is trained on the lessons of a best-first crawl, and then leads a second crawl from the same seeds
without learning any more. Parsed webs and verdicts are kept in the user's cache folder.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha1
from itertools import product
from math import nan
from pathlib import Path
from typing import Any, Self

import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType
from numpy.typing import NDArray

from focused.critics.base import Verdict
from focused.critics.logistic import LogisticCritic
from focused.critics.teach import fit_for_use
from focused.files import write_whole
from focused.pages.evidence import Evidence
from focused.pages.page import Page, page_from_html
from focused.papers.prioritizers.apprentice import Apprentice
from focused.papers.prioritizers.observed import BestFirstObserved, for_apprentice
from focused.prioritizers.base import Lessons, Prioritizer
from focused.prioritizers.options import build
from focused.prioritizers.trainer import Trainer
from focused.registry import find

CORPORA = Path(os.environ.get("FOCUSED_CORPORA", Path(__file__).parent.parent.parent / "shared" / "corpora"))
PIECES = 8
_MOST_LINKS = 1_000_000


@dataclass
class Web:
    """A recorded web: pages and redirects."""

    name: str
    pages: dict[str, Page]
    redirects: dict[str, str]


def _cache(name: str, *what: str) -> Path:
    """A file in the user's own folder, for a web and the code that reads and judges it as they are."""
    rooms = Path(__file__).parents[1] / "focused"
    code = b"".join(path.read_bytes() for room in ("pages", "critics") for path in sorted((rooms / room).glob("*.py")))
    when = (CORPORA / f"{name}.warc.gz").stat().st_mtime_ns
    of = "-".join([name, *what, f"{when:x}", sha1(code, usedforsecurity=False).hexdigest()[:12]])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "focused" / f"simulate-{of}.pickle"


def load_web(name: str) -> Web:
    """The web of a WARC, parsed once."""
    cache = _cache(name)
    if not cache.exists():
        with write_whole(cache) as file:
            pickle.dump(_read_warc(CORPORA / f"{name}.warc.gz"), file, pickle.HIGHEST_PROTOCOL)
    return Web(name, *pickle.loads(cache.read_bytes()))  # written by us


def _read_warc(path: Path) -> tuple[dict[str, Page], dict[str, str]]:
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

    def allows(self, url: str) -> bool:
        """Is the address inside the part of the web that is crawled?"""
        return self.hosts is None or url.split("/", 3)[2] in self.hosts


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
    cache = _cache(web.name, topic)
    if not cache.exists():
        critic = fit_for_use(
            LogisticCritic(),
            [web.pages[row["url"]] for row in examples],
            [row["class"] for row in examples],
            focus,
        )
        verdicts = {url: critic.judge(page) for url, page in web.pages.items()}
        with write_whole(cache) as file:
            pickle.dump((critic, verdicts), file, pickle.HIGHEST_PROTOCOL)
    critic_and_verdicts: tuple[LogisticCritic, dict[str, Verdict]] = pickle.loads(cache.read_bytes())
    return critic_and_verdicts


@dataclass
class Crawl:
    """A greedy crawl through the prioritizer's contract. Links have numbers, in the order in which they were seen."""

    web: Web
    task: Task
    prioritizer: Prioritizer
    found: list[bool] = field(default_factory=list)
    harvest: list[float] = field(default_factory=list)
    lessons: list[Lessons] = field(default_factory=list)
    """All lessons so far, one entry a page."""

    def __post_init__(self) -> None:
        self.urls: list[str] = []
        self.numbers: dict[str, int] = {}
        self.relevance = np.full(_MOST_LINKS, np.nan, np.float32)
        self.score = np.full(_MOST_LINKS, -np.inf, np.float32)  # -inf: does not wait
        self.asked: set[int] = set()
        self.pieces: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.blocks: list[Evidence] = []
        self.sources: list[float] = []
        self.trainer = Trainer(self.prioritizer.learns_every)
        self.late: dict[int, int] = defaultdict(int)

    def run(self, pages: int) -> Self:
        """Fetch this many pages, or all that can be reached."""
        for url in self.task.seeds:
            self.fetch(self.number(url))
        while len(self.found) < pages:
            best = int(np.argmax(self.score[: len(self.urls)]))
            if self.score[best] == -np.inf:
                break
            self.fetch(best)
        return self

    def number(self, url: str) -> int:
        """The number of an address."""
        number = self.numbers.setdefault(url, len(self.urls))
        if number == len(self.urls):
            self.urls.append(url)
        return number

    def fetch(self, link: int) -> None:
        """Ask for a page, follow a redirect, learn from what comes."""
        self.asked.add(link)
        self.score[link] = -np.inf
        arrived_by = self.evidence_of(link)
        end = self.web.redirects.get(self.urls[link], self.urls[link])
        page, target = self.web.pages.get(end), self.number(end)
        if page is None:
            self.teach(link, None)
            return
        verdict = self.task.verdicts[end]
        self.teach(link, verdict.relevance)
        if target != link:
            if target in self.asked:
                return
            self.asked.add(target)
            self.score[target] = -np.inf
            arrived_by = arrived_by or self.evidence_of(target)
            self.teach(target, verdict.relevance)
        self.relevance[[link, target]] = verdict.relevance
        self.add_links(page, verdict, arrived_by)
        if end not in self.task.examples:
            self.found.append(end in self.task.targets)
            self.harvest.append(verdict.relevance)
            if self.trainer.page_done():
                self.learn()

    def evidence_of(self, link: int) -> Evidence | None:
        """What is known of the links that lead to a page."""
        pieces = self.pieces.get(link) if self.prioritizer.follows_paths else None
        return Evidence.concat([self.blocks[block].row(row) for block, row in pieces]) if pieces else None

    def add_links(self, page: Page, verdict: Verdict, arrived_by: Evidence | None) -> None:
        """Keep evidence of the links that wait, a few pieces for each, and score them."""
        inside = [i for i, url in enumerate(page.links.urls) if self.task.allows(url)]
        numbers = [self.number(page.links.urls[i]) for i in inside]
        links = page.links.select(inside)
        wanted = [i for i, n in enumerate(numbers) if n not in self.asked and len(self.pieces[n]) < PIECES]
        late = [i for i, n in enumerate(numbers) if self.teaches_late(n, page)]
        if not wanted and not late:
            return
        look = partial(self.prioritizer.evidence, page, verdict, arrived_by=arrived_by)
        if self.prioritizer.sees_fetched:
            evidence = look(links, fetched=self.relevance[numbers]).select(wanted + late)
        else:
            evidence = look(links.select(wanted + late))
        if late:
            self.teach_late(evidence.select(range(len(wanted), len(evidence))), [numbers[i] for i in late], verdict)
            evidence = evidence.select(range(len(wanted)))
        for row, i in enumerate(wanted):
            if len(self.pieces[numbers[i]]) < PIECES:
                self.pieces[numbers[i]].append((len(self.blocks), row))
        self.blocks.append(evidence)
        self.sources.append(verdict.relevance)
        self.rescore(sorted({numbers[i] for i in wanted}), self.prioritizer.score(evidence), len(self.blocks) - 1)

    def teaches_late(self, link: int, page: Page) -> bool:
        """Is it a page fetched before, a link to which may be a lesson?"""
        known = self.urls[link] != page.url and not np.isnan(self.relevance[link])
        if known and self.late[link] < self.prioritizer.late_lessons:
            self.late[link] += 1
            return True
        return False

    def teach_late(self, evidence: Evidence, links: list[int], verdict: Verdict) -> None:
        """Lessons of links to pages fetched before."""
        sources = np.full(len(links), verdict.relevance, np.float32)
        self.keep(Lessons.late(evidence, self.relevance[links], sources))

    def teach(self, link: int, relevance: float | None) -> None:
        """The lessons of one page, that weigh 1 together."""
        pieces = self.pieces.pop(link, [])
        if not pieces:
            return
        evidence = Evidence.concat([self.blocks[block].row(row) for block, row in pieces])
        sources = np.array([self.sources[block] for block, _ in pieces], np.float32)
        self.keep(Lessons.of_page(evidence, nan if relevance is None else relevance, sources))

    def keep(self, lessons: Lessons) -> None:
        """To be learned with the next batch."""
        self.lessons.append(lessons)
        self.trainer.add(lessons)

    def learn(self) -> None:
        """Learn what is new, and put the frontier in order anew."""
        batch = self.trainer.take_batch()
        new = self.prioritizer.learn(batch) if batch else None
        if new is None:
            return
        self.prioritizer = new
        waiting = np.flatnonzero(self.score[: len(self.urls)] > -np.inf).tolist()
        self.rescore(waiting, new.score(Evidence.concat(self.blocks)))

    def rescore(self, links: list[int], scores: NDArray[np.float32], block: int | None = None) -> None:
        """Combine the scores of the pieces of links: of all blocks, or of the newest with what was there."""
        if not links:
            return
        if block is not None:
            scores = self._with_older(links, scores, block)
        else:
            at = np.cumsum([0, *map(len, self.blocks)])
            scores = scores[[at[b] + row for n in links for b, row in self.pieces[n]]]
        lengths = np.array([len(self.pieces[n]) for n in links])
        self.score[links] = combined(scores, lengths, self.prioritizer.combine)

    def _with_older(self, links: list[int], scores: NDArray[np.float32], block: int) -> NDArray[np.float32]:
        pieces = [(b, row) for n in links for b, row in self.pieces[n]]
        older = [i for i, (b, _) in enumerate(pieces) if b != block]
        every = np.empty(len(pieces), np.float32)
        if older:
            rows = [self.blocks[pieces[i][0]].row(pieces[i][1]) for i in older]
            every[older] = self.prioritizer.score(Evidence.concat(rows))
        newest = [i for i, (b, _) in enumerate(pieces) if b == block]
        every[newest] = scores[[pieces[i][1] for i in newest]]
        return every


def combined(scores: NDArray[np.float32], lengths: NDArray[np.int64], how: str) -> NDArray[np.float32]:
    """One score for each run of pieces."""
    starts = np.cumsum(lengths) - lengths
    if how == "first":
        first: NDArray[np.float32] = scores[starts]
        return first
    if how == "max":
        most: NDArray[np.float32] = np.maximum.reduceat(scores, starts)
        return most
    mean: NDArray[np.float32] = (np.add.reduceat(scores, starts) / lengths).astype(np.float32)
    return mean


class Graduate(Apprentice):
    """An apprentice that has learned all it will learn."""

    def learn(self, lessons: Lessons) -> None:
        """Nothing."""
        return


def crawl(web: Web, task: Task, words: str, seed: int) -> Crawl:
    """The crawl that ``apprentice combine=first`` stands for."""
    name, options = parse_try(words)
    pages = budgets(web.name)[-1]
    study = options.pop("study", False)
    if study:
        observed = build(BestFirstObserved, {**options, "combine": "first"}, critic=task.critic)
        lessons = for_apprentice(Lessons.concat(Crawl(web, task, observed).run(pages).lessons))
        graduate = build(Graduate, {**options, "seed": seed}, critic=task.critic)
        assert isinstance(graduate, Apprentice)
        return Crawl(web, task, graduate.study(lessons)).run(pages)
    kind = find("prioritizer", name)
    if kind.taught:
        raise SystemExit(f"{name} is taught by paths, which need whole pages: measure it with scrapy compare")
    return Crawl(web, task, build(kind, {**options, "seed": seed}, critic=task.critic)).run(pages)


def budgets(web: str) -> tuple[int, ...]:
    """After how many pages the targets are counted."""
    return (50, 100, 200) if web == "webkb" else (200, 500, 1000)


@dataclass
class Figures:
    """What a crawl found."""

    counts: list[int]
    share: float
    precision: float
    loss: float

    @classmethod
    def of(cls, crawl: Crawl) -> Self:
        """Of a finished crawl."""
        targets, at = len(crawl.task.targets), budgets(crawl.web.name)
        counts = [sum(crawl.found[:n]) for n in at]
        share = sum(counts) / sum(min(n, targets) for n in at)
        return cls(counts, share, sum(crawl.found[:targets]) / targets, 1 - float(np.mean(crawl.harvest[:targets])))

    def __str__(self) -> str:
        return f"share {self.share:.3f}  R-precision {self.precision:.3f}  loss {self.loss:.3f}"


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
    parser.add_argument("web", nargs="+", help="wpcd, uci, webkb")
    parser.add_argument("--start", action="append", choices=("on", "far", "root"))
    parser.add_argument("--topics", help="separated by commas; without it all of a web's")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each crawl")
    parser.add_argument("--try", dest="tries", action="append", required=True, metavar="'NAME KEY=VALUE…'")
    parser.add_argument("--quiet", action="store_true", help="only the means")
    told = parser.parse_args()
    results: dict[str, list[Figures]] = defaultdict(list)
    for web in map(load_web, told.web):
        every = json.loads((CORPORA / f"{web.name}.topics.json").read_text())
        for topic, start in product(told.topics.split(",") if told.topics else every, told.start or ["on"]):
            task = load_task(web, topic, start)
            for words, seed in product(told.tries, range(told.seeds)):
                result = Figures.of(crawl(web, task, words, seed))
                results[words].append(result)
                if not told.quiet:
                    counts = "/".join(map(str, result.counts))
                    print(
                        f"{topic[-24:]:24} {start:4} {words:40} {counts:>12} of {len(task.targets):4}  {result}",
                        flush=True,
                    )
    for words, all_figures in results.items():
        share, precision, loss = (np.mean([getattr(f, k) for f in all_figures]) for k in ("share", "precision", "loss"))
        print(f"{words:50} {Figures([], float(share), float(precision), float(loss))}  ({len(all_figures)} crawls)")


if __name__ == "__main__":
    main()
