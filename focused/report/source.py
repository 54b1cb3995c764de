"""What a report is made from, wherever it is kept: pages, links, how the crawl was made, what it has learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.frontier.store import Outcome
from focused.report.learned import AtOffset, Model


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged pages in the order of fetching, a column each; ``host`` counts in ``hosts``.

    ``is_new`` tells those with the content of a page fetched before from others.
    """

    order: NDArray[np.int64]
    relevance: NDArray[np.float64]
    is_new: NDArray[np.bool_]
    host: NDArray[np.int64]
    hosts: Sequence[str]


@dataclass(frozen=True, slots=True)
class PageLine:
    """A page as it is shown in a list."""

    order: int
    url: str
    title: str
    relevance: float
    best_class: str


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A class of pages, by the critic's first choice."""

    name: str
    pages: int
    mean: float


@dataclass(frozen=True, slots=True)
class StartLine:
    """A start of the crawl: when it began and ended, why, and what it fetched; None or '' where that is not known."""

    began: str
    ended: str | None
    why: str
    requests: int | None
    pages: int


class Source(ABC):
    """A crawl as its records tell of it; it may be under way."""

    place: str
    """What to call where they are."""

    @abstractmethod
    def about(self) -> dict[str, Any] | None:
        """How it was made; None if it does not tell."""

    @abstractmethod
    def judged(self) -> Judged:
        """Its pages."""

    @abstractmethod
    def page(self, order: int) -> PageLine:
        """One of them."""

    @abstractmethod
    def classes(self, most: int) -> list[ClassLine]:
        """The classes that most pages are of."""

    @abstractmethod
    def waiting(self) -> int:
        """How many links wait or are being fetched."""

    @abstractmethod
    def waiting_by_host(self) -> dict[str, int]:
        """How many of each host."""

    @abstractmethod
    def outcomes(self) -> dict[Outcome, int]:
        """How many links ended how."""

    @abstractmethod
    def details(self, outcome: Outcome, most: int) -> list[tuple[str, int]]:
        """What links with an outcome ended of, the most frequent first; nothing if that is not kept."""

    @abstractmethod
    def starts(self) -> list[StartLine]:
        """Its starts, the first one first; nothing if they are not told apart."""

    @abstractmethod
    def ended(self) -> str:
        """How it stands, or how it ended, in a sentence."""

    @abstractmethod
    def learned(self) -> tuple[Model, list[AtOffset]] | None:
        """Its prioritizer and the words it knows, by offset; None if that cannot be told."""
