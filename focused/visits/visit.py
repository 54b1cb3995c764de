"""What is known of one response, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Verdict
from focused.frontier.store import Known, Lease, Outcome, PageRecord, State

if TYPE_CHECKING:
    from focused.pages.evidence import Evidence
    from focused.pages.page import Page


@dataclass(frozen=True, slots=True)
class FoundLinks:
    """The links of a page that are in scope: their rows on the page, addresses, and what the frontier knows of them."""

    rows: list[int]
    urls: list[str]
    known: Known

    def unknown(self) -> list[str]:
        """The addresses that the frontier does not know, each once."""
        fresh = (self.known.states == State.UNKNOWN).tolist()
        return list(dict.fromkeys(url for url, is_fresh in zip(self.urls, fresh, strict=True) if is_fresh))


@dataclass(frozen=True, slots=True)
class Scored:
    """The evidence of some links of a page, and their scores."""

    evidence: Evidence
    scores: NDArray[np.float32]


@dataclass(slots=True, eq=False)
class Visit:
    """One response, from the moment at which its link is leased to the end of its callback and pipelines.

    ``is_followed`` says whether the links of its page may be, ``gives_item`` whether an item of ours is on its way
    through the pipelines. The other flags say which steps were taken: each is taken once, whoever asks first
    (`focused.visits.visits`).
    """

    lease: Lease
    page: Page | None = None
    record: PageRecord | None = None
    links: FoundLinks | None = None
    is_followed: bool = False
    label: str | None = None
    time: str = ""
    gives_item: bool = False
    is_counted: bool = False
    is_labelled: bool = False
    has_taught: bool = False

    @property
    def token(self) -> int:
        """What a request carries to find its visit."""
        return self.lease.token

    @property
    def is_recorded(self) -> bool:
        """Was there a page, which was judged and recorded under the lease?"""
        return self.record is not None and not self.lease.is_lost

    @property
    def is_duplicate(self) -> bool:
        """Has the page the content of one that was fetched before?"""
        return self.record is not None and self.record.outcome is Outcome.DUPLICATE

    @property
    def verdict(self) -> Verdict:
        """The critic's verdict on the page."""
        assert self.page is not None
        assert self.page.verdict is not None
        return self.page.verdict
