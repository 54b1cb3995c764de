"""The expected loss of crawls at N = number of targets, judged by the labels and by a critic that did not lead them.

    scrapy compare all --web C/wpcd.warc.gz … --start far --prioritizers best-first,focused --fast --out out/far
    python -m bench.loss out/far

Section 3.5 of Chakrabarti, Punera, Subramanyam (WWW 2002) gives, for each topic, the loss (1 - mean relevance) of the
baseline and of the apprentice, and what share of it was cut. Here a row stands for a topic, a column for a prioritizer:
first *by labels*, the share of the first N pages that are no targets, then *by critic*, 1 - mean R of the critic named
with --critic, taught by the comparison's own examples. Means are over starts. Crawls must have been allowed N pages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import numpy as np

from focused.critics.base import Critic
from focused.critics.teach import fit_for_use
from focused.lab.crawls import plain
from focused.lab.jobs import FETCHES
from focused.lab.measure import read_trace
from focused.lab.plan import MeasuredCrawl, Results, read_results
from focused.lab.replay.log import read_log
from focused.pages.page import Page
from focused.papers.paths.graph import read_page
from focused.papers.paths.topics import KnownTopic, read_examples, read_topics
from focused.registry import find
from focused.topics.identity import slug
from focused.topics.topic import Topic
from focused.warc.web import Web


@dataclass
class Losses:
    """Of one topic's crawls by one prioritizer, a number for each start."""

    by_labels: list[float] = field(default_factory=list)
    by_critic: list[float] = field(default_factory=list)


class Judge:
    """A second critic, and the pages of one comparison's web."""

    def __init__(self, results: Results, critic: str) -> None:
        self.plan = results.plan
        self.web: Web = Web.open(*results.plan.web)
        self.kind = find("critic", critic)
        self.topics = read_topics(results.plan.topics_file)
        self.examples = read_examples(results.plan.examples)
        self.pages: dict[int, Page] = {}

    def losses(self, topic: str, runs: Sequence[MeasuredCrawl]) -> dict[str, Losses]:
        """Loss at N of the runs of one topic, by row."""
        lab = self.topics[topic]
        counts = np.array([url not in self.examples for url in self.web.urls])
        targets = {self.web.find(url) for url in lab.target_urls if url not in self.examples}
        critic = self.teach(lab)
        losses: dict[str, Losses] = {}
        for run in runs:
            folder = Path(self.plan.out) / "crawls" / slug(Topic(name=topic, focus=lab.focus))
            log = read_log(folder / f"{plain(run.row)}-{run.start}" / FETCHES)
            pages = read_trace(log, self.web, counts, len(targets)).pages
            of_row = losses.setdefault(run.row, Losses())
            of_row.by_labels.append(1 - len(targets & set(pages)) / len(pages))
            of_row.by_critic.append(1 - fmean(critic.judge(self.page(row)).relevance for row in pages))
        return losses

    def teach(self, topic: KnownTopic) -> Critic:
        """The second critic for a topic."""
        rows = [(row, name) for url, name in self.examples.items() if (row := self.web.find(url)) >= 0]
        pages = [self.page(row) for row, _ in rows]
        return fit_for_use(self.kind(), pages, [name for _, name in rows], topic.focus)

    def page(self, row: int) -> Page:
        """A page of the web, parsed once."""
        if row not in self.pages:
            self.pages[row] = read_page(self.web, row)
        return self.pages[row]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="what was given to scrapy compare as --out")
    parser.add_argument("--baseline", default="best-first")
    parser.add_argument("--against", default="focused")
    parser.add_argument("--critic", default="naive-bayes", help="who judges")
    told = parser.parse_args()
    print(f"| topic | N | {told.baseline}, by labels | {told.against} | cut | {told.baseline}, by critic |", end="")
    print(f" {told.against} | cut |\n|---|---|---|---|---|---|---|---|")
    for folder in told.folders:
        for line in table(read_results(folder), told.baseline, told.against, critic=told.critic):
            print(line, flush=True)


def table(results: Results, baseline: str, against: str, *, critic: str) -> Iterator[str]:
    """A line for each topic whose crawls were allowed as many pages as it has targets."""
    judge = Judge(results, critic)
    for topic, wanted in results.targets.items():
        runs = [run for run in results.runs if run.topic == topic and run.row in {baseline, against}]
        if wanted > results.plan.pages or {run.row for run in runs} != {baseline, against}:
            print(f"{topic}: left out ({wanted} targets, crawls of {results.plan.pages} pages)", file=sys.stderr)
            continue
        losses = judge.losses(topic, runs)
        cells = [topic, str(wanted)]
        for how in ("by_labels", "by_critic"):
            before, after = (fmean(getattr(losses[row], how)) for row in (baseline, against))
            cells += [f"{before:.2f}", f"{after:.2f}", f"{1 - after / before:.0%}"]
        yield "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
