"""What a frontier store promises, and the words it uses.

A link goes *waiting → leased → done*. Every dispatch has a lease token; a link is forgotten only when callback and
pipelines are through, and then its outcome, its item and its page go into the store in one transaction. A store that
was killed knows which links were leased and hands them out again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.frontier.order import Gate
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons, Prioritizer

SEED_RANK = 4.0
"""Seeds come before everything that has a score in [0, 1]."""


class State(IntEnum):
    """Where a link stands. RESERVED: seen on a page, numbered, but not (yet) admitted."""

    RESERVED = 0
    WAITING = 1
    LEASED = 2
    DONE = 3


class Outcome(IntEnum):
    """How a link ended."""

    NONE = 0
    PAGE = 1
    DUPLICATE = 2
    DEAD = 3
    DENIED = 4
    NOT_HTML = 5
    FAILED = 6
    REDIRECT = 7
    OTHER = 8


class JobRefused(ValueError):
    """A job folder that this crawl must not use; the message says why and what to do."""


@dataclass(slots=True)
class NewLink:
    """A link that is admitted to the frontier; ``link`` is its reserved number (0 = not reserved yet).

    ``base`` is added to its score: the place of a request that has no evidence, and what a user's own component
    added. ``request`` is the whole request where the address alone does not tell it; ``key`` its identity then.
    """

    url: str
    host: str
    link: int = 0
    key: int = 0
    depth: int = 0
    source: int = 0
    base: float = 0.0
    request: bytes | None = None


@dataclass(slots=True)
class Lease:
    """A link handed out; ``chain`` are the links that redirected here under this lease."""

    token: int
    link: int
    url: str
    host: int
    depth: int = 0
    source: int = 0
    score: float = 0.0
    tries: int = 1
    seed: bool = False
    request: bytes | None = None
    chain: list[int] = field(default_factory=list)


@dataclass(slots=True)
class PageRecord:
    """What is kept of a page that was fetched; ``order`` counts pages in the order in which they were judged."""

    link: int
    url: str
    relevance: float
    digest: int
    outcome: Outcome = Outcome.PAGE
    order: int = 0
    title: str = ""
    best_class: str = ""
    item: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Known:
    """What the frontier knows of some addresses, column by column.

    ``relevance`` is NaN where nothing was fetched; ``wanted`` says whether another piece of evidence would be kept,
    of links to pages fetched before those that may give a late lesson.
    """

    links: NDArray[np.int64]
    states: NDArray[np.uint8]
    wanted: NDArray[np.bool_]
    relevance: NDArray[np.float32]


class FrontierStore(ABC):
    """All links of a crawl with their evidence, in order. One behaviour suite tests every store."""

    @property
    @abstractmethod
    def prioritizer(self) -> Prioritizer:
        """The snapshot that scores; assigning a new one makes the scores of what waits out of date."""

    @abstractmethod
    def reserve(self, urls: Sequence[str]) -> Known:
        """Number some addresses, those seen for the first time too, and tell what is known of them."""

    @abstractmethod
    def add(self, new: NewLink) -> bool:
        """Admit a link; False if it was admitted before."""

    @abstractmethod
    def add_evidence(self, source: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        """Keep the evidence of one page's links (``evidence.link`` says which); waiting ones are ordered anew."""

    @abstractmethod
    def lease(self, now: float, gate: Gate) -> Lease | None:
        """Hand out the best link whose host may be fetched now."""

    @abstractmethod
    def redirect(self, token: int, url: str, host: str) -> bool:
        """A leased link leads to another address; True if that is to be fetched, under the same lease."""

    @abstractmethod
    def return_lease(self, token: int) -> None:
        """A leased link is to be fetched again under its lease (a retry, a redirect), as soon as its host may be."""

    @abstractmethod
    def postpone(self, token: int) -> None:
        """End a lease as if it had not been: the link waits again, with its score."""

    @abstractmethod
    def record(self, token: int, page: PageRecord) -> PageRecord:
        """Keep a judged page until its link is acknowledged. Numbers it, and marks it if it is a duplicate."""

    @abstractmethod
    def lessons_of(self, token: int) -> Lessons | None:
        """The lessons that a leased link's page teaches: evidence of every known link to it."""

    @abstractmethod
    def late_lessons(self, evidence: Evidence, source_relevance: float) -> Lessons | None:
        """The lessons that a page's links to pages fetched before give at once."""

    @abstractmethod
    def acknowledge(self, token: int, outcome: Outcome, detail: str = "") -> Outcome:
        """A leased link is through: outcome, page, item in one transaction. A recorded page's own outcome counts."""

    @abstractmethod
    def rescore(self) -> Callable[[], Callable[[], None]]:
        """Score all that waits anew: gives the work for a thread, which gives the closing step for the reactor."""

    @abstractmethod
    def close(self) -> None:
        """Write what is pending and let go of the files."""
