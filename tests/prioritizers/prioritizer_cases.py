"""Small pages, verdicts and lessons for tests of prioritizers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from focused.critics.base import Critic, Verdict
from focused.critics.targets import Targets
from focused.pages.evidence import Evidence
from focused.pages.page import Page, page_from_html
from focused.pages.tokens import word_to_id
from focused.papers.critics.lexical import LexicalCritic
from focused.papers.paths.path import Path, Step
from focused.papers.paths.stops import Stops, resolve
from focused.papers.prioritizers.taught import TaughtPrioritizer
from focused.prioritizers.base import Lessons, Prioritizer
from focused.prioritizers.options import build
from focused.registry import find

URL = "http://site.example/"


class OneWordCritic(Critic):
    """Finds relevant what holds one word."""

    name = "one-word"

    def __init__(self, word: str = "penguin") -> None:
        self.id = word_to_id(word)
        self.targets = Targets.of_words({self.id: word})

    def judge(self, page):
        return Verdict(float(np.float32(0.9 if self.id in page.ids else 0.1)))


def page(body: str, url: str = URL) -> Page:
    return page_from_html(f"<body>{body}</body>", url)


def evidence_of(
    prioritizer: Prioritizer,
    body: str,
    relevance: float = 0.5,
    classes: tuple[tuple[str, float], ...] = (),
    fetched: Sequence[float] | None = None,
) -> Evidence:
    """Evidence of all the links of a page."""
    parsed = page(body)
    known = np.full(len(parsed.links), np.nan) if fetched is None else np.array(fetched)
    return prioritizer.evidence(parsed, Verdict(relevance, classes), parsed.links, fetched=known.astype(np.float32))


def lessons_of(evidence: Evidence, relevance: Sequence[float], source: float = 0.5) -> Lessons:
    """One lesson a row, each about a page of its own."""
    n = len(evidence)
    ones = np.ones(n, np.float32)
    return Lessons(
        evidence, np.array(relevance, np.float32), ones * np.float32(source), ones, *np.ones((2, n), np.bool_)
    )


WAY = (
    ("", "university", "welcome students visitors campus", "computer science department", "cs"),
    ("cs", "department", "department research faculty admission", "people", "cs/people"),
    ("cs/people", "", "people list phone office", "{name}", "~{name}"),
    ("~{name}", "faculty", "professor research publications teaching", "course {name}", "~{name}/cs1"),
    ("~{name}/cs1", "goal", "course syllabus homework lectures exam", "", ""),
)
_ASTRAY = ("news", "sports", "library", "map")


def toy_site(site: str, name: str) -> dict[str, Page]:
    """The pages of one university, by address: a way to a course page, and pages beside it that lead nowhere."""
    root = f"http://{site}.example/"
    pages = {}
    for way in WAY:
        here, _, text, anchor, leads_to = (part.format(name=name) for part in way)
        onward = f"<li>see <a href='/{leads_to}'>{anchor}</a> here" if anchor else ""
        others = "".join(f"<li>about <a href='/{here or 'home'}/{other}.html'>{other}</a>" for other in _ASTRAY)
        body = f"<title>{text.split()[0]} of {site}</title><h1>{text.split()[0]}</h1><p>{text} {site}</p>"
        pages[root + here] = page(f"{body}<ul>{onward}{others}</ul>", root + here)
        for other in _ASTRAY:
            address = f"{root}{here or 'home'}/{other}.html"
            pages[address] = page(f"<h2>{other}</h2><p>{other} weather tickets opening hours</p>", address)
    return pages


def toy_paths(sites: int = 6) -> list[Stops]:
    """Paths from the homes of some universities to a course page each, and to failures on the way."""
    paths: list[Stops] = []
    for number in range(sites):
        site, name = f"u{number}", f"ann{number}"
        pages = toy_site(site, name)
        root = f"http://{site}.example/"
        steps = [Step(root + path.format(name=name), label) for path, label, *_ in WAY]
        found = [Path(steps)]
        for taken in range(1, len(steps)):
            here = steps[taken - 1].url.removeprefix(root) or "home"
            astray = f"{root}{here}/{_ASTRAY[(number + taken) % len(_ASTRAY)]}.html"
            found.append(Path([*steps[:taken], Step(astray, "fail")]))
        paths += resolve(found, pages.get, str)
    return paths


LEVELS = {
    "nature.birds": ["The penguin swims. A penguin page with penguin feathers.", "The penguin is a bird of the ice."],
    "nature.stars": ["A telescope shows the galaxy.", "The galaxy has many stars and a planet."],
    "other": ["Tax law and tax rates.", "A tax office and the law of the country."],
}


@cache
def fitting_critic(name: str) -> Critic:
    """A critic that a prioritizer works with: most do with any."""
    if name != "lexical":
        return OneWordCritic()
    examples = [(page(f"<p>{text}"), kind) for kind, texts in LEVELS.items() for text in texts]
    return LexicalCritic().fit([one for one, _ in examples], [kind for _, kind in examples], ["nature.birds"])


def built(name: str, options: dict[str, Any] | None = None, critic: Critic | None = None) -> Any:
    """A prioritizer ready to lead a crawl: one that must be taught has been, on the toy paths."""
    prioritizer = build(find("prioritizer", name), options or {}, critic=critic or fitting_critic(name))
    if isinstance(prioritizer, TaughtPrioritizer):
        prioritizer.teach(toy_paths())
    return prioritizer
