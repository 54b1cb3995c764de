"""What a prioritizer is: a judge of links, before they are followed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page

Combination = Literal["first", "max", "mean"]
LATE_WEIGHT = 0.5
"""What a late lesson weighs. It says less: the link was not followed, and most are links that many pages have."""


@dataclass(slots=True)
class Lessons:
    """The outcome of links that were followed: a row of evidence and the verdict on the page behind it.

    ``relevance`` is R(v), ``source_relevance`` R(u); ``alive`` is False where *v* was dead, and then there is no R.
    ``first`` marks one row for each page *v*, that by which it was new: the others repeat what is known.
    ``evidence.link`` and ``evidence.source`` are the numbers of *v* and *u*.
    """

    evidence: Evidence
    relevance: NDArray[np.float32]
    source_relevance: NDArray[np.float32]
    weight: NDArray[np.float32]
    alive: NDArray[np.bool_]
    first: NDArray[np.bool_]

    @classmethod
    def of_page(cls, evidence: Evidence, relevance: float, source_relevance: NDArray[np.float32]) -> Lessons:
        """The lessons of one page *v*, whose R is NaN if it was dead.

        They weigh 1 together, or navigation bars would drown the rest.
        """
        n, alive = len(evidence), not isnan(relevance)
        return cls(
            evidence,
            np.full(n, relevance if alive else 0.0, np.float32),
            source_relevance,
            np.full(n, 1 / n, np.float32),
            np.full(n, alive, np.bool_),
            np.arange(n) == 0,
        )

    @classmethod
    def late(cls, evidence: Evidence, relevance: NDArray[np.float32], source_relevance: NDArray[np.float32]) -> Lessons:
        """Lessons of links that were found after the pages behind them were judged."""
        n = len(evidence)
        weight = np.full(n, LATE_WEIGHT, np.float32)
        return cls(evidence, relevance, source_relevance, weight, np.ones(n, np.bool_), np.zeros(n, np.bool_))

    def __len__(self) -> int:
        return len(self.evidence)

    @property
    def of_dead_link(self) -> bool:
        """Are all of them of links without a page?"""
        return not self.alive.any()

    def select(self, rows: NDArray[np.int64]) -> Lessons:
        """Some of the lessons, in the order given."""
        return Lessons(self.evidence.select(rows), *(getattr(self, name)[rows] for name in LESSON_COLUMNS))

    @classmethod
    def concat(cls, parts: list[Lessons]) -> Lessons:
        """Several batches as one."""
        rest = [np.concatenate([getattr(part, name) for part in parts]) for name in LESSON_COLUMNS]
        return cls(Evidence.concat([part.evidence for part in parts]), *rest)


LESSON_COLUMNS = {
    "relevance": np.float32,
    "source_relevance": np.float32,
    "weight": np.float32,
    "alive": np.bool_,
    "first": np.bool_,
}
"""What lessons consist of beside the evidence."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature adds to a score, as log-odds; ``feature`` is an id of the evidence or a name.

    ``towards`` is the state that it speaks for, where links have states.
    """

    feature: int | str
    weight: float
    towards: str = ""


class Shown(NamedTuple):
    """How a feature that has a name is explained: under which heading (none: first of all), and in what words."""

    heading: str
    words: str


CRITIC, ITS_ADDRESS, PLACE = "the critic says", "its address", "its place"
BIAS = {"bias": Shown("", "what a link is usually worth")}


def together(parts: list[Contribution]) -> list[Contribution]:
    """One contribution a feature."""
    total: dict[int | str, float] = {}
    for part in parts:
        total[part.feature] = total.get(part.feature, 0.0) + part.weight
    return [Contribution(feature, weight) for feature, weight in total.items()]


class Prioritizer(ABC):
    """A judge of links. Scores are estimates of R(v) in [0, 1].

    A prioritizer is a snapshot: `score` and `evidence` are pure, and `learn` gives a new snapshot, so that learning
    can go on in a thread while links are scored. Constructor options are the keys of ``[prioritizer]``.
    """

    name: ClassVar[str]
    """Its name in messages; by default the name of the class."""
    dense: tuple[str, ...] = ()
    """Names of the numbers in ``Evidence.dense``; of the class, or of each one where they depend on what it learned."""
    learns: ClassVar[bool] = False
    learns_every: ClassVar[int] = 10
    """It learns after this many pages, unless the settings say otherwise."""
    id_bits: int = 32
    """How many of the upper bits of its features' ids it looks at: a store that is short of memory keeps only these."""
    learns_of_the_dead: bool = False
    """Whether it learns which links are dead. (It does so at once, outside any thread: it must be quick.)"""
    late_lessons: ClassVar[int] = 0
    """How many links to one page, found after that page, it wants to learn from, if the settings do not say."""
    sees_fetched: bool = False
    """Whether `evidence` uses ``fetched``. (It is then shown all links of a page, including those fetched before.)"""
    follows_paths: ClassVar[bool] = False
    """Whether `evidence` uses ``arrived_by``. (This costs one look-up per page.)"""
    taught: ClassVar[bool] = False
    """Whether it must be taught before a crawl. (What it knows is kept in the models folder.)"""
    shown: Mapping[str, Shown] = {}
    """How `scrapy why` shows the features that `explain` names; others are shown by their names alone."""
    studies: ClassVar[bool] = False
    """Whether all lessons of its crawl can be studied together afterwards (`scrapy export --train`)."""
    labels_pages: ClassVar[bool] = False
    """Whether `label_of` says where on a path a page is."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def __init__(self, *, critic: Critic | None = None, combine: Combination = "first", seed: Seed = 0) -> None:
        self.critic = critic
        self.combine = combine
        self.seed = seed

    @abstractmethod
    def evidence(
        self,
        page: Page,
        verdict: Verdict,
        links: Links,
        *,
        fetched: NDArray[np.float32] | None = None,
        arrived_by: Evidence | None = None,
    ) -> Evidence:
        """Evidence of some of a page's links, as a batch.

        ``fetched`` holds R of the links' targets where they were fetched before, else NaN; ``arrived_by`` is the
        evidence of the link through which the page was reached.
        """

    def renewed(self, evidence: Evidence, source_relevance: NDArray[np.float32]) -> Evidence:
        """Evidence from before the critic has learned, as it would be made now; not changed in place.

        ``source_relevance`` is R(*u*) as it is now; NaN where it is not known. By default evidence stays as it is.
        """
        return evidence

    @abstractmethod
    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """A score for each row of evidence."""

    def finite_scores(self, evidence: Evidence) -> NDArray[np.float32]:
        """The scores, as numbers that can be put in order: NaN counts as 0."""
        scores = self.score(evidence)
        return scores if np.isfinite(scores).all() else np.nan_to_num(scores, nan=0.0, posinf=1.0, neginf=0.0)

    def load(self, folder: Path, topic: str) -> None:
        """Take what was taught before the crawl from the topic's models folder; ValueError says what is missing."""

    def label_of(self, page: Page, verdict: Verdict, *, arrived_by: Evidence | None = None) -> str:
        """Where on a path a fetched page is, for the page's item; nothing if that is not known."""
        return ""

    def learn(self, lessons: Lessons) -> Self | None:
        """A new snapshot that has learned from the lessons; None if there was nothing to learn."""
        return None

    def studied(self, lessons: Lessons) -> Arrays:
        """The state of a learner that has studied all lessons of a crawl together; only where `studies` is true."""
        return {}

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """What the features of one link (a batch of one row) add to its score, strongest first."""
        return [Contribution("score", float(self.score(evidence)[0]))]

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What each feature id adds to a score, for those who want to show what was learned."""
        return np.zeros(len(ids), np.float32)

    def state(self) -> Arrays:
        """All that was learned, as arrays (no objects: a state file cannot run code)."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state` returned; ValueError if it does not fit this prioritizer's options."""
