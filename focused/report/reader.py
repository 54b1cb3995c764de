"""What can be read of a crawl, wherever it is kept: `scrapy status`, `report`, `why` and `export` read through this.

A job folder has a reader here (`focused.report.job_reader`). Other places bring theirs by an entry point
(`focused.report.places`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from focused.frontier.inbox import Inbox
from focused.frontier.steering import Steering
from focused.frontier.store import Outcome
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer
from focused.report.now import Now
from focused.report.status import MOST_HOSTS, Status
from focused.report.words import WordTable


@dataclass(frozen=True, slots=True)
class PageTable:
    """The judged pages in the order of fetching, a column each.

    ``is_new`` is False for a page with the content of one fetched before.
    """

    link: NDArray[np.int64]
    relevance: NDArray[np.float64]
    is_new: NDArray[np.bool_]
    host: Sequence[str]
    best_class: Sequence[str]


@dataclass(frozen=True, slots=True)
class PageLine:
    """One judged page. ``same_as`` is the address of the page with the same content that was fetched first.

    ``score`` is that of its link when it was chosen; None for a seed. ``said`` is what ``who`` said of it, a `Says`; ''
    if nobody said anything.
    """

    link: int
    order: int
    url: str
    title: str
    relevance: float
    best_class: str
    is_duplicate: bool
    same_as: str
    score: float | None
    said: str = ""
    who: str = ""


@dataclass(frozen=True, slots=True)
class LinkLine:
    """One link of the frontier, whatever has become of it: its `State` and `Outcome`.

    ``target`` is the link to which it redirected, or 0.
    """

    number: int
    url: str
    host: str
    depth: int
    state: int
    outcome: int
    detail: str
    is_seed: bool
    target: int


@dataclass(frozen=True, slots=True)
class WaitingLinks:
    """All links that wait, a column each; ``rank`` is what they are ordered by: the score, and more for seeds."""

    link: NDArray[np.int64]
    host: NDArray[np.int64]
    score: NDArray[np.float32]
    rank: NDArray[np.float32]


class CrawlReader(Protocol):
    """A crawl as it is recorded. It may be under way, and takes no notice."""

    name: str
    """What distinguishes it from others at the same place."""
    place: str
    """Where it is kept, as it may be shown: an address without a password."""
    report_path: Path
    """Where its report goes, if the user does not say."""
    inbox: Inbox
    """What users tell it."""

    @property
    def where(self) -> str:
        """Its name and place, in words."""
        return self.place if self.name == self.place else f"{self.name}, at {self.place}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and connections."""

    def rest(self) -> None:
        """Let go of files until something is read again: JobRefused then if they are not there any more.

        For one who reads again and again. What was checked when the reader was made is not checked again.
        """

    # --- how it was made, and its status ----------------------------------------------------------------------

    def status(self, most_hosts: int = MOST_HOSTS) -> Status:
        """Its status now, with the hosts of which most links wait; 0: with all hosts."""

    def is_running(self) -> bool:
        """Is anybody at work on it? Cheaper than its status."""

    def now(self) -> Now:
        """What it says of itself while it runs, if it does."""
        return Now()

    def inbox_place(self) -> int:
        """How far the crawl has read its inbox."""

    def steering(self) -> Steering:
        """The orders that count."""
        return Steering()

    def about(self) -> dict[str, Any]:
        """How it was made when it was started last; JobRefused if that is not recorded."""

    def starts(self) -> list[dict[str, Any]]:
        """Its starts, the first one first, as `read_starts` has them; nothing if they are not recorded one by one."""
        return []

    # --- pages -------------------------------------------------------------------------------------------------

    def page_count(self) -> int:
        """How many pages were judged, duplicates included."""

    def page_table(self) -> PageTable:
        """All judged pages."""

    def pages(self, links: Sequence[int]) -> list[PageLine]:
        """The pages of some links, in this order; links without a page are left out."""

    def pages_after(self, order: int) -> list[PageLine]:
        """The pages with a greater number, in the order of fetching, without duplicates.

        One that took long may come in after others with greater numbers.
        """

    def gists(self, links: Sequence[int]) -> dict[int, bytes]:
        """What is kept of the pages of some links, to judge them anew; pages of which nothing is are left out."""

    def items(self) -> Iterator[dict[str, Any]]:
        """All items, in the order of fetching."""

    # --- links -------------------------------------------------------------------------------------------------

    def link_at(self, *urls: str) -> LinkLine | None:
        """The link with one of these addresses; None if none is known."""

    def link(self, number: int) -> LinkLine | None:
        """The link with this number."""

    def waiting_links(self, prioritizer: Prioritizer) -> WaitingLinks:
        """All links that wait, with the scores by which they are ordered."""

    def details(self, outcome: Outcome, most: int) -> list[tuple[str, int]]:
        """The most frequent details of an outcome (such as the status codes of dead links), with their counts."""

    # --- what was learned --------------------------------------------------------------------------------------

    def learned_state(self) -> tuple[bytes, str] | None:
        """What the prioritizer had learned when that was saved last, and when that was; None if it never was."""

    def words(self) -> WordTable:
        """The words of its pages."""

    def evidence_of(self, *links: int) -> Evidence | None:
        """All kept evidence of some links, redirects that lead to them included."""
