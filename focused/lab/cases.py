"""A topic prepared for an experiment on a recorded web: files, critic, ground truth, starting pages."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.critics.choose import Choice, choose_critic
from focused.critics.models import Card, save_critic
from focused.critics.teach import fit_for_use
from focused.files import write_text
from focused.lab.bounds import Truth
from focused.lab.chosen import ChosenTopic
from focused.lab.given import GivenToCritic, parse_given
from focused.lab.toml import to_toml
from focused.pages.page import Page
from focused.papers.paths.graph import Graph, read_page
from focused.papers.paths.topics import KnownTopic
from focused.topics.focus import in_focus
from focused.topics.identity import fingerprint, slug
from focused.topics.topic import Topic, load_topic
from focused.warc.web import Web

FAR = 2
"""Clicks between a far start and the nearest page on the topic, at least."""
_FEW = 3


@dataclass
class Case:
    """One topic on one web, in one draw of the example pages that teach its critic (``examples``).

    ``starts[k]`` are the addresses of start *k*, ``folder`` holds its files, ``models`` its critic.
    """

    chosen: ChosenTopic
    ground: Truth
    folder: Path
    models: Path
    examples: dict[str, str]
    draw: int = 0
    starts: list[list[str]] = field(default_factory=list)
    critic: Critic | None = None

    @property
    def name(self) -> str:
        """The topic's name."""
        return self.chosen.topic.name

    @property
    def key(self) -> tuple[str, int]:
        """The topic's name, and the number of the draw."""
        return self.name, self.draw

    @property
    def numbers(self) -> range:
        """The numbers of its crawls, one for each start."""
        return range(self.draw * len(self.starts), (self.draw + 1) * len(self.starts))

    def seeds(self, number: int) -> list[str]:
        """The addresses at which a crawl begins."""
        return self.starts[number % len(self.starts)]

    @property
    def wanted(self) -> int:
        """How many targets there are."""
        return int(self.ground.targets.sum())

    @property
    def ignored(self) -> Path:
        """A file of the addresses that do not count."""
        return self.folder / "ignored.txt"

    @property
    def labelled(self) -> Path:
        """A file of the addresses of pages that have a label in the focus."""
        return self.folder / "labelled.txt"

    @property
    def table(self) -> Path:
        """The file of the example pages that teach."""
        return self.folder / f"examples{_suffix(self.draw)}.tsv"

    def write_topic(self, number: int, prioritizer: dict[str, Any], name: str) -> Path:
        """Write the topic file for one crawl."""
        file, topic = self.folder / f"{name}.toml", self.chosen.topic
        keys: dict[str, Any] = {"name": topic.name, "description": topic.description}
        keys |= {"keywords": topic.keywords, "focus": topic.focus, "seeds": self.seeds(number)}
        keys["allowed_hosts"] = topic.allowed_hosts
        if self.examples:
            keys["examples"] = self.table.name
        keys |= {"critic": topic.critic, "prioritizer": prioritizer, "settings": topic.settings}
        write_text(file, to_toml(keys))
        return file


class Preparer:
    """Makes cases on one web; ``folder`` takes their files, ``models`` the critics of the first draw."""

    def __init__(self, web: Web, graph: Graph, folder: Path, models: Path) -> None:
        self.web = web
        self.graph = graph
        self.folder = folder
        self.models = models
        # Topics of one web mostly share their example pages.
        self._parsed = cache(partial(read_page, web))

    def case(self, chosen: ChosenTopic) -> Case:
        """A topic on this web that is taught by all its examples, with its tables and without starts."""
        return self.cases(chosen, parse_given(""))[0]

    def cases(self, chosen: ChosenTopic, given: GivenToCritic, draws: int = 1) -> list[Case]:
        """A topic on this web, a case for each draw of its examples. Those that are not drawn do not count either."""
        folder = self.folder / slug(chosen.topic)
        folder.mkdir(parents=True, exist_ok=True)
        ground = self._ground(chosen)
        cases = []
        for number in range(draws):
            models = self.models.with_name(f"{self.models.name}{_suffix(number)}")
            examples = self._drawn(chosen, given, number)
            # Each draw has its critic, and a critic its verdicts.
            case = Case(chosen, replace(ground), folder, models, examples, number)
            lines = [f"{name}\t{url}" for url, name in examples.items()]
            write_text(case.table, "\n".join(["class\turl", *lines, ""]))
            write_text(case.ignored, "\n".join([*chosen.examples, ""]))
            labelled = [self.web.urls[row] for row in np.flatnonzero(ground.labelled).tolist()]
            write_text(case.labelled, "\n".join([*labelled, ""]))
            cases.append(case)
        return cases

    def _drawn(self, chosen: ChosenTopic, given: GivenToCritic, number: int) -> dict[str, str]:
        if given.all_pages:
            return chosen.examples
        recorded = {url: name for url, name in chosen.examples.items() if self._page(url) >= 0}
        return given.draw(recorded, chosen.known, number)

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
        """Choose a case's critic, train it if it must be trained, and put it where crawls will look for it."""
        topic = load_topic(str(case.write_topic(0, {}, f"teaching{_suffix(case.draw)}")))
        # The critic of an earlier comparison would be taken for this one.
        shutil.rmtree(case.models / slug(topic), ignore_errors=True)
        choice = choose_critic(topic, critic)
        _check_choice(choice, topic)
        case.critic = choice.make()
        if not choice.is_taught:
            return
        there = [(row, name) for url, name in case.examples.items() if (row := self._page(url)) >= 0]
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
        save_critic(case.models, slug(topic), case.critic, card)


def _check_choice(choice: Choice, topic: Topic) -> None:
    """ValueError if there is nothing by which this critic could judge."""
    if choice.is_taught and not topic.examples:
        raise ValueError(
            f"topic {topic.name!r}: the critic {choice.name!r} is taught by example pages, and none are given: "
            "add pages:K to --given, or leave --critic out"
        )
    keywords = choice.options.get("keywords")
    # A topic's name in a topics file is not a word of its user's.
    if not topic.keywords and (keywords == [topic.name] or (keywords == [] and not choice.is_taught)):
        raise ValueError(
            f"topic {topic.name!r}: the critic {choice.name!r} judges by keywords, and none are given: "
            "add title or words to --given (or keywords to the topic's own file), or leave --critic out"
        )


def _suffix(draw: int) -> str:
    """Sets the files of further draws apart from those of the first."""
    return f"-{draw}" if draw else ""


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
