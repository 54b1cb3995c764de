"""A topic prepared for an experiment on a recorded web: files, critic, ground truth, starting pages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.critics.choose import choose_critic
from focused.critics.models import Card, save_critic
from focused.critics.teach import fit_for_use
from focused.lab.bounds import Truth
from focused.lab.replay.log import FetchLog
from focused.lab.toml import to_toml
from focused.pages.page import Page
from focused.papers.paths.graph import Graph, read_page
from focused.papers.paths.topics import KnownTopic, read_examples, with_label
from focused.topics.focus import in_focus
from focused.topics.identity import fingerprint, slug
from focused.topics.topic import Topic, load_topic
from focused.warc.web import Web

FAR = 2
"""Clicks between a far start and the nearest page on the topic, at least."""
_FEW = 3


@dataclass
class Case:
    """One topic on one web. ``starts[k]`` are the addresses of start *k*, ``folder`` holds its files."""

    name: str
    ground: Truth
    starts: list[list[str]]
    topic: Topic
    folder: Path
    hosts: list[str]
    examples: int
    critic: Critic | None = None

    @property
    def wanted(self) -> int:
        """How many targets there are."""
        return int(self.ground.targets.sum())

    @property
    def ignored(self) -> Path:
        """A file of the addresses that do not count."""
        return self.folder / "ignored.txt"

    @property
    def table(self) -> Path:
        """The file of example pages."""
        return self.folder / "examples.tsv"

    def write_topic(self, start: int, prioritizer: dict[str, Any], name: str) -> Path:
        """Write the topic file for one crawl."""
        file = self.folder / f"{name}.toml"
        keys: dict[str, Any] = {"name": self.topic.name, "description": self.topic.description}
        keys |= {"keywords": self.topic.keywords, "focus": self.topic.focus, "seeds": self.starts[start]}
        keys["allowed_hosts"] = self.topic.allowed_hosts
        if self.examples:
            keys["examples"] = self.table.name
        keys |= {"critic": self.topic.critic, "prioritizer": prioritizer, "settings": self.topic.settings}
        file.write_text(to_toml(keys), "utf-8")
        return file


class Preparer:
    """Makes cases on one web; ``folder`` takes their files, ``models`` the critics."""

    def __init__(self, web: Web, graph: Graph, folder: Path, models: Path) -> None:
        self.web = web
        self.graph = graph
        self.folder = folder
        self.models = models
        self.labels: dict[str, list[str]] = {}
        # Topics of one web mostly share their example pages.
        self._parsed: dict[int, Page] = {}

    def from_table(self, lab: KnownTopic, examples: dict[str, str], seeds: Sequence[Sequence[str]]) -> Case:
        """A topic of a topics file; ``examples`` are address and class. Without ``seeds`` it has no files yet."""
        topic = Topic(name=lab.name, focus=lab.focus)
        return self._case(topic, lab, examples, seeds)

    def from_topic(self, topic: Topic, table: str = "") -> Case:
        """A topic as users write them: starts are its seeds, targets the pages with a label in its focus.

        Without a focus (a topic of words has none) the label is the topic's name. ``table`` replaces its own
        examples.
        """
        examples = read_examples(table or topic.examples) if topic.examples else {}
        focus = topic.focus or [topic.name]
        targets = with_label(self.labels, focus)
        lab = KnownTopic(name=topic.name, focus=focus, target_urls=targets)
        return self._case(topic, lab, examples, [topic.seeds])

    def _case(self, topic: Topic, lab: KnownTopic, examples: dict[str, str], seeds: Sequence[Sequence[str]]) -> Case:
        case = Case(
            name=lab.name,
            ground=self._ground(lab, examples, topic.allowed_hosts),
            starts=[list(start) for start in seeds],
            topic=topic,
            folder=self.folder / slug(topic),
            hosts=lab.hosts,
            examples=len(examples),
        )
        case.folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}\t{url}" for url, name in examples.items()]
        case.table.write_text("\n".join(["class\turl", *lines, ""]), "utf-8")
        case.ignored.write_text("\n".join([*examples, ""]), "utf-8")
        return case

    def _ground(self, lab: KnownTopic, examples: dict[str, str], allowed: Sequence[str]) -> Truth:
        counts = ~self._mask(examples)
        wanted = [url for url, name in examples.items() if in_focus(name, lab.focus)]
        labelled = self._mask([*lab.target_urls, *wanted, *with_label(self.labels, lab.focus)])
        # A lab's hosts are exact, with their ports; those that a topic allows bring their subdomains.
        ends = tuple(f".{host}" for host in allowed) or ("",)
        inside = np.array(
            [
                (not lab.hosts or host in lab.hosts) and f".{host.partition(':')[0]}".endswith(ends)
                for host in self.graph.hosts
            ]
        )
        return Truth(self.graph, self._mask(lab.target_urls) & counts, labelled, counts, inside)

    def _mask(self, urls: Iterable[str]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.web), np.bool_)
        found = (self.web.find(url) for url in urls)
        mask[[row for row in found if row >= 0 and self.web.status[row] == 200]] = True
        return mask

    def teach(self, case: Case, name: str, log: FetchLog) -> None:
        """Train a case's critic on its examples, and put it where crawls will look for it."""
        topic = load_topic(str(case.write_topic(0, {}, "teaching")))
        choice = choose_critic(topic, name)
        case.critic = choice.make()
        if not choice.kind.learns:
            return
        pages, classes = self._example_pages(case.table, log)
        fit_for_use(case.critic, pages, classes, topic.focus)
        card = Card(
            topic=topic.name,
            fingerprint=fingerprint(topic),
            critic=choice.name,
            options=choice.options,
            focus=topic.focus,
            examples=dict(sorted(Counter(classes).items())),
            trained=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        save_critic(self.models, slug(topic), case.critic, card)

    def _example_pages(self, table: Path, log: FetchLog) -> tuple[list[Page], list[str]]:
        pages, classes = [], []
        for url, name in read_examples(table).items():
            row = self.web.find(url)
            log.add(self.web.status[row] if row >= 0 else 404, url)
            if row >= 0 and self.web.status[row] == 200:
                if row not in self._parsed:
                    self._parsed[row] = read_page(self.web, row)
                pages.append(self._parsed[row])
                classes.append(name)
        return pages, classes


def draw_starts(lab: KnownTopic, kind: str, ground: Truth, sets: int) -> list[list[str]]:
    """Starting pages of one kind: as given if ``sets`` is 0, else drawn at random, the same on every machine."""
    given = lab.seeds(kind)
    if not sets or kind == "root":
        return [given]
    urls = ground.graph.urls
    if kind == "on":
        pool = np.flatnonzero(ground.targets & ground.pages_inside)
    else:
        clicks = ground.graph.distances(ground.labelled, ground.pages_inside)
        pool = np.flatnonzero((clicks >= FAR) & ground.counts & ground.pages_inside)
    few = min(len(given) or _FEW, len(pool))
    if not few:
        raise ValueError(f"topic {lab.name!r}: --starts {sets}: no page of this web can be a start of kind {kind!r}")
    return [[urls[row] for row in random.Random(number).sample(pool.tolist(), few)] for number in range(sets)]


def judge_all(
    web: Web, critics: Sequence[Critic], seen: Callable[[int, Page], None] = lambda *_: None
) -> NDArray[np.float32]:
    """R of every page by every critic (a row each); each page is parsed once, and shown to ``seen``."""
    relevance = np.zeros((len(critics), len(web)), np.float32)
    for row in web.pages():
        page = read_page(web, row)
        relevance[:, row] = [critic.judge(page).relevance for critic in critics]
        seen(row, page)
    return relevance
