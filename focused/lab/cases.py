"""A topic prepared for an experiment on a recorded web: files, critic, ground truth, starting pages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.critics.choose import choose_critic
from focused.critics.models import Card, save_critic
from focused.critics.teach import fit_for_use
from focused.lab.bounds import Truth
from focused.lab.chosen import ChosenTopic
from focused.lab.toml import to_toml
from focused.pages.page import Page
from focused.papers.paths.graph import Graph, read_page
from focused.papers.paths.topics import KnownTopic
from focused.topics.focus import in_focus
from focused.topics.identity import fingerprint, slug
from focused.topics.topic import load_topic
from focused.warc.web import Web

FAR = 2
"""Clicks between a far start and the nearest page on the topic, at least."""
_FEW = 3


@dataclass
class Case:
    """One topic on one web. ``starts[k]`` are the addresses of start *k*, ``folder`` holds its files."""

    chosen: ChosenTopic
    ground: Truth
    folder: Path
    starts: list[list[str]] = field(default_factory=list)
    critic: Critic | None = None

    @property
    def name(self) -> str:
        """The topic's name."""
        return self.chosen.topic.name

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
        file, topic = self.folder / f"{name}.toml", self.chosen.topic
        keys: dict[str, Any] = {"name": topic.name, "description": topic.description}
        keys |= {"keywords": topic.keywords, "focus": topic.focus, "seeds": self.starts[start]}
        keys["allowed_hosts"] = topic.allowed_hosts
        if self.chosen.examples:
            keys["examples"] = self.table.name
        keys |= {"critic": topic.critic, "prioritizer": prioritizer, "settings": topic.settings}
        file.write_text(to_toml(keys), "utf-8")
        return file


class Preparer:
    """Makes cases on one web; ``folder`` takes their files, ``models`` the critics."""

    def __init__(self, web: Web, graph: Graph, folder: Path, models: Path) -> None:
        self.web = web
        self.graph = graph
        self.folder = folder
        self.models = models
        # Topics of one web mostly share their example pages.
        self._parsed = cache(partial(read_page, web))

    def case(self, chosen: ChosenTopic) -> Case:
        """A topic on this web, with its tables and without starts."""
        case = Case(chosen, self._ground(chosen), self.folder / slug(chosen.topic))
        case.folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}\t{url}" for url, name in chosen.examples.items()]
        case.table.write_text("\n".join(["class\turl", *lines, ""]), "utf-8")
        case.ignored.write_text("\n".join([*chosen.examples, ""]), "utf-8")
        return case

    def _ground(self, chosen: ChosenTopic) -> Truth:
        known, examples = chosen.known, chosen.examples
        counts = ~self._mask(examples)
        wanted = [url for url, name in examples.items() if in_focus(name, known.focus)]
        labelled = self._mask([*known.target_urls, *wanted, *chosen.labelled])
        # A lab's hosts are exact, with their ports; those that a topic allows bring their subdomains.
        ends = tuple(f".{host}" for host in chosen.topic.allowed_hosts) or ("",)
        inside = np.array(
            [
                (not known.hosts or host in known.hosts) and f".{host.partition(':')[0]}".endswith(ends)
                for host in self.graph.hosts
            ]
        )
        return Truth(self.graph, self._mask(known.target_urls) & counts, labelled, counts, inside)

    def _mask(self, urls: Iterable[str]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.web), np.bool_)
        mask[[row for url in urls if (row := self._page(url)) >= 0]] = True
        return mask

    def _page(self, url: str) -> int:
        """The number of the page at an address; -1 if there is none."""
        row = self.web.find(url)
        return row if row >= 0 and self.web.status[row] == 200 else -1

    def teach(self, case: Case, critic: str) -> None:
        """Train a case's critic on its examples, and put it where crawls will look for it."""
        topic = load_topic(str(case.write_topic(0, {}, "teaching")))
        choice = choose_critic(topic, critic)
        case.critic = choice.make()
        if not choice.kind.learns:
            return
        there = [(row, name) for url, name in case.chosen.examples.items() if (row := self._page(url)) >= 0]
        classes = [name for _, name in there]
        fit_for_use(case.critic, [self._parsed(row) for row, _ in there], classes, topic.focus)
        card = Card(
            topic=topic.name,
            fingerprint=fingerprint(topic),
            critic=choice.name,
            options=choice.options,
            focus=topic.focus,
            examples=dict(sorted(Counter(classes).items())),
        )
        save_critic(self.models, slug(topic), case.critic, card)


def draw_starts(known: KnownTopic, kind: str, ground: Truth, sets: int) -> list[list[str]]:
    """Starting pages of one kind: as given if ``sets`` is 0, else drawn at random, the same on every machine."""
    given = known.seeds(kind)
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
        raise ValueError(f"topic {known.name!r}: --starts {sets}: no page of this web can be a start of kind {kind!r}")
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
