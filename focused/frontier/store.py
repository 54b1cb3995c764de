"""What a frontier store promises, and the words it uses.

A link goes *waiting → leased → done*. Every dispatch has a lease token; a link is forgotten only when callback and
pipelines are through, and then its outcome, its item and its page go into the store in one transaction. A store that
was killed knows which links were leased and hands them out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from math import nan
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons, Prioritizer

SEED_RANK = 4.0
"""Seeds come before everything that has a score in [0, 1]."""
NAMED_RANK = 5.0
"""Pages that a user has marked before they were fetched come before seeds, and teach nothing as seeds do."""
SURE = 0.95
"""R of a page of which somebody said that it is wanted, at least, and 1 - R of one that is not.

With 1 and 0 the prioritizer would learn more from what sets answered pages apart from all others than from what sets
wanted pages apart: the R of the others is hardly ever so near 0 or 1.
"""


class State(IntEnum):
    """Where a link stands; UNKNOWN is what was never admitted."""

    UNKNOWN = 0
    WAITING = 1
    LEASED = 2
    DONE = 3


class Outcome(IntEnum):
    """How a link ended. DEAD has no page now or later, UNAVAILABLE none this time: a timeout, a server's error."""

    NONE = 0
    PAGE = 1
    DUPLICATE = 2
    DEAD = 3
    DENIED = 4
    NOT_HTML = 5
    FAILED = 6
    REDIRECT = 7
    OTHER = 8
    UNAVAILABLE = 9

    @property
    def is_gone(self) -> bool:
        """Whether there is no page behind the link, now or later."""
        return self in {Outcome.DEAD, Outcome.NOT_HTML}


class Says(StrEnum):
    """What somebody says of a page; NOTHING takes back what was said before."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    NOTHING = "nothing"


class StoreBroken(RuntimeError):
    """The store cannot be written (a full disk, a server that is gone); what was acknowledged before is safe."""


class JobGone(StoreBroken):
    """A job's file is not where it was when it was opened."""


class JobRefused(ValueError):
    """A job folder that this crawl must not use; the message says why and what to do."""


class JobDamaged(JobRefused, StoreBroken):
    """A job's file in which something cannot be: met when it is opened, or later, when it is read."""


class StoreAway(JobRefused):
    """Where the frontier is nobody answers now; later somebody may."""


class LinkHost(NamedTuple):
    """A host of links: its number, its name, and how many pages of it were fetched, duplicates included."""

    number: int
    name: str
    pages: int


class Closed(float):
    """When to ask again about a host that waits for something which it shares with others, as its domain's ceiling.

    ``line`` names what it is. All hosts that wait for it may be kept asleep as one: when the time has come it is enough
    to ask about the best of them, and about the next one when that one was fetched. A store may as well take it for the
    time that it is.
    """

    __slots__ = ("line",)

    def __new__(cls, when: float, line: str) -> Self:
        closed = super().__new__(cls, when)
        closed.line = line
        return closed

    line: str


Gate = Callable[[LinkHost], float]
"""Asked whether a host may be fetched now: 0 = yes, else the time to ask again (inf = when one of its leases ends).

A time that is `Closed` is that of many hosts."""


@dataclass(slots=True)
class NewLink:
    """A link to be admitted to the frontier, or one that is known and seen once more.

    ``link`` is its number where the frontier knows it, ``relevance`` that of its page where it was fetched, as `known`
    said. ``base`` is added to its score: the place of a request that has no evidence, and what a user's own component
    added. ``request`` is the whole request where the address alone does not tell it; ``key`` its identity then.
    """

    url: str
    host: str
    link: int = 0
    key: int = 0
    depth: int = 0
    base: float = 0.0
    request: bytes | None = None
    relevance: float = nan


@dataclass(slots=True)
class PageRecord:
    """What is kept of a page that was fetched; ``order`` counts pages in the order in which they were judged.

    ``version`` is that of the critic whose verdict it has, ``gist`` what the critic needs to judge it anew.

    A short page, of hardly any words, is a repetition if the page that led to it has the same upper half of the digest.
    """

    link: int
    url: str
    relevance: float
    digest: int
    is_short: bool = False
    outcome: Outcome = Outcome.PAGE
    order: int = 0
    title: str = ""
    best_class: str = ""
    version: int = 0
    gist: bytes = b""
    item: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody (``who``) said of the page of a link, and when.

    ``relevance`` is that of the page when it was said, by the critic; NaN if the page was still to come.
    """

    link: int
    said: Says
    who: str
    time: str
    relevance: float

    @property
    def is_wanted(self) -> bool | None:
        """Is the page wanted? None if that was not said."""
        return {Says.YES: True, Says.NO: False}.get(self.said)


def as_said(relevance: float, is_wanted: bool | None) -> float:
    """The relevance of a page of which somebody said whether it is wanted: as good as certain."""
    if is_wanted is None:
        return relevance
    return max(relevance, SURE) if is_wanted else min(relevance, 1 - SURE)


@dataclass(slots=True, eq=False)
class Lease:
    """A link handed out, and what is known of it.

    ``parent`` is the address of the page on which it was found first ('' for a seed), ``chain`` are the links that
    redirected here under this lease, ``page`` is its page once that was recorded. A lease ``is_lost`` when another
    process was given the link: what is said under it is refused.
    """

    token: int
    link: int
    url: str
    host: LinkHost
    depth: int = 0
    source: int = 0
    parent: str = ""
    score: float = 0.0
    tries: int = 1
    seed: bool = False
    request: bytes | None = None
    chain: list[int] = field(default_factory=list)
    page: PageRecord | None = None
    is_lost: bool = False

    @property
    def was_redirected(self) -> bool:
        """Did it begin at another address, or end at one that another fetch took?"""
        return bool(self.chain) and self.page is None


@dataclass(frozen=True, slots=True)
class Known:
    """What the frontier knows of some addresses, column by column.

    ``links`` is 0 and ``states`` UNKNOWN where it knows nothing; ``relevance`` is NaN where nothing was fetched;
    ``wanted`` says whether another piece of evidence would be kept, of links to pages fetched before those that may
    give a late lesson.
    """

    links: NDArray[np.int64]
    states: NDArray[np.uint8]
    wanted: NDArray[np.bool_]
    relevance: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of links that were to be admitted: their numbers, which are new, and the late lessons they give."""

    links: NDArray[np.int64]
    fresh: NDArray[np.bool_]
    lessons: Lessons | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a crawl stands, over all of its starts and all who work on it.

    ``pages`` were judged, ``duplicates`` among them; ``found`` were judged relevant; ``relevance`` is the sum over all
    pages that are no duplicates. ``last_page`` is the number of the page judged last; where a crawl was killed, numbers
    may be missing before it. ``leased_elsewhere``: so many links other processes have. ``evidence``: so many pieces are
    kept.
    """

    waiting: int = 0
    leased: int = 0
    leased_elsewhere: int = 0
    hosts: int = 0
    pages: int = 0
    duplicates: int = 0
    last_page: int = 0
    found: int = 0
    relevance: float = 0.0
    evidence: int = 0

    @property
    def harvest(self) -> float:
        """The mean relevance of the pages judged, duplicates left out."""
        return self.relevance / max(self.pages - self.duplicates, 1)


class Rescoring(Protocol):
    """All that waits is scored anew, by one snapshot of the prioritizer."""

    def score(self) -> None:
        """The work, for a thread."""

    def adopt(self) -> None:
        """Take over the new order, on the event loop; also where the work failed: then nothing changes."""


class LinkStore(Protocol):
    """What is known of addresses, and how they come in."""

    def known(self, urls: Sequence[str]) -> Known:
        """What is known of some addresses, asked once a page: a piece of evidence that is not wanted counts as seen."""

    def admit(
        self,
        source: Lease | None,
        links: Sequence[NewLink],
        evidence: Evidence | None = None,
        scores: NDArray[np.float32] | None = None,
    ) -> Admitted:
        """Take in the links of one page: new ones wait from now on, known ones get what is new of them.

        Row *i* of the evidence is of ``links[i]``; there may be fewer rows than links, and only of links of which
        evidence is wanted. Of a known link that waits the better ``base`` counts. Links to pages fetched before give
        lessons at once, if the page itself was recorded.
        """


class LeaseStore(Protocol):
    """Links that are handed out, to be fetched."""

    @property
    def leases(self) -> Mapping[int, Lease]:
        """The leases of this process, by token."""

    def lease(self, now: float, gate: Gate) -> Lease | None:
        """Hand out the best link whose host may be fetched now."""

    def lease_link(self, link: int) -> Lease | None:
        """Hand out one link, whatever waits before it; None if it does not wait."""

    def next_wake(self) -> float | None:
        """When to look for a link again, if there was none; None if nothing but the end of a lease can help."""

    def begin_work(self, lease: Lease) -> None:
        """A leased link's page has come. That it is out is written down before its page can do harm."""

    def redirect(self, lease: Lease, url: str, host: str) -> bool:
        """A leased link leads to another address; True if that is to be fetched, under the same lease."""

    def return_lease(self, lease: Lease) -> None:
        """A leased link is to be fetched again under its lease (a retry, a redirect), as soon as its host may be."""

    def postpone(self, lease: Lease) -> None:
        """End a lease as if it had not been: the link waits again, with its score."""


class PageStore(Protocol):
    """Pages that were fetched, and what they teach."""

    def record(self, lease: Lease, page: PageRecord) -> PageRecord:
        """Keep a judged page until its link is acknowledged. Numbers it, and marks it if it is a duplicate.

        Its outcome is OTHER if the lease was lost meanwhile: the page is somebody else's now.
        """

    def evidence_of(self, lease: Lease) -> Evidence | None:
        """All kept evidence of a leased link."""

    def lessons_of(self, lease: Lease) -> Lessons | None:
        """The lessons that a leased link's page teaches: evidence of every known link to it."""

    def acknowledge(self, lease: Lease, outcome: Outcome, detail: str = "") -> Outcome:
        """A leased link is through: outcome, page, item in one transaction.

        A recorded page's own outcome counts, unless its callback FAILED: then the page is dropped.
        """


class ModelStore(Protocol):
    """What the prioritizer has learned, and the order that follows from it."""

    prioritizer: Prioritizer
    """The snapshot that scores; assigning a new one makes the scores of what waits out of date."""

    @property
    def rescoring_cost(self) -> int:
        """How many pieces of evidence must be read to score everything again; 0 if all are in memory."""

    def rescoring(self) -> Rescoring:
        """Begin to score all that waits anew, by the snapshot of now."""

    def save_model(self, name: str, data: Mapping[str, NDArray[Any]], order: int) -> None:
        """Keep what a learner knows after the lessons up to a number."""

    def load_model(self, name: str) -> tuple[dict[str, NDArray[Any]], int] | None:
        """A learner's saved state, and the number of the last lessons it knows."""


@dataclass(frozen=True, slots=True)
class KeptPages:
    """What was kept of the pages that can be judged anew: the numbers of their links, and their gists."""

    links: list[int]
    gists: list[bytes]


@runtime_checkable
class VerdictStore(Protocol):
    """A store whose pages can be judged anew; not every store is one."""

    def kept_pages(self, before: int | None = None) -> Callable[[], Iterator[KeptPages]]:
        """Reads what is kept of all pages that are through, in their order, some at a time; for a thread.

        ``before``: only of those that were judged before this version.
        """

    def revise_verdicts(self, version: int, links: Sequence[int], verdicts: Sequence[Verdict]) -> None:
        """New verdicts take the place of those that pages had; those of leased pages are in their records already."""

    def lessons_anew(self, most: int) -> Callable[[], Iterator[Lessons | None]]:
        """The lessons of the newest pages, up to so many of them, by the verdicts that they have now; for a thread."""


@runtime_checkable
class AnswerStore(Protocol):
    """A store that keeps what somebody says of its pages; not every store is one."""

    @property
    def news(self) -> int:
        """Grows with every answer that says something, and with every page that comes after what was said of it."""

    def keep_answers(
        self, answers: Iterable[Answer], *, read: tuple[int, int] | None = None, steering: str | None = None
    ) -> bool:
        """Keep answers, so that they outlast the process; the last one about a page counts.

        What is said of a link that redirects is said of the page behind it. The verdict on a page that is through
        follows at once, that on another when its page comes. ``read`` are the places between which they were read from
        the inbox: noted in the same transaction, or False, and nothing is kept, if that was noted before. ``steering``
        is what follows from orders that were read with them, if there were any: another note, `STEERING`.
        """

    def answers(self) -> dict[int, Answer]:
        """The answer that counts, by number of link; also those that are taken back."""


class NoteStore(Protocol):
    """Words about the job."""

    def note(self, key: str, value: str) -> None:
        """Keep a word about the job."""

    def noted(self, key: str) -> str | None:
        """What `note` kept."""

    def revise(self, key: str, change: Callable[[str | None], str | None]) -> None:
        """Replace a note by what follows from it, with nobody coming between; None leaves it as it is."""


class FrontierStore(LinkStore, LeaseStore, PageStore, ModelStore, NoteStore, Protocol):
    """All links of a crawl with their evidence, in order; `focused.testing.store_checks.check_store` tests every store.

    A store may be shared by several processes, its workers. Then counts are of all of them and may be a second old,
    links and leases are told by the same numbers everywhere, and a worker that gave no sign of life loses its leases:
    what it says under one of them later is refused.
    """

    def standing(self) -> Standing:
        """How the crawl stands."""

    def commit(self) -> None:
        """Make everything so far outlast the process."""

    def close(self) -> None:
        """Write what is pending and let go of files and connections."""
