"""What a frontier store promises, and the words it uses.

A link goes *waiting → leased → done*. Every dispatch has a lease token; a link is forgotten only when callback and
pipelines are through, and then its outcome, its item and its page go into the store in one transaction. A store that
was killed knows which links were leased and hands them out again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from focused.frontier.order import Gate
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons, Prioritizer

SEED_RANK = 4.0
"""Seeds come before everything that has a score in [0, 1]."""


class State(IntEnum):
    """Where a link stands; UNKNOWN is what was never admitted."""

    UNKNOWN = 0
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


class StoreBroken(RuntimeError):
    """The store cannot be written (a full disk, a server that is gone); what was acknowledged before is safe."""


class JobRefused(ValueError):
    """A job folder that this crawl must not use; the message says why and what to do."""


class StoreAway(JobRefused):
    """Where the frontier is nobody answers now; later somebody may."""


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
    source: int = 0
    base: float = 0.0
    request: bytes | None = None
    relevance: float = nan


@dataclass(slots=True)
class PageRecord:
    """What is kept of a page that was fetched; ``order`` counts pages in the order in which they were judged.

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
    item: dict[str, Any] = field(default_factory=dict)


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
    host: int
    host_name: str = ""
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
    may be missing before it. ``leased_elsewhere``: so many links other processes have.
    """

    waiting: int
    leased: int
    hosts: int
    pages: int
    duplicates: int
    last_page: int
    found: int
    relevance: float
    leased_elsewhere: int = 0

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


class FrontierStore(ABC):
    """All links of a crawl with their evidence, in order. One behaviour suite tests every store.

    A store may be shared by several processes (`FrontierStore.is_shared`), its workers. Then counts are of all of
    them and may be a second old, links and leases are told by the same numbers everywhere, and a worker that gave no
    sign of life loses its leases: what it says under one of them later is refused, and `link_of` gives 0 for it.
    """

    is_shared: ClassVar[bool] = False
    """Do several processes work on it? Then lessons are pooled in it, and one of the processes trains."""
    folder: Path | None = None
    """The job folder; None where the records are elsewhere."""

    # --- how it stands -----------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def prioritizer(self) -> Prioritizer:
        """The snapshot that scores; assigning a new one makes the scores of what waits out of date."""

    @prioritizer.setter
    @abstractmethod
    def prioritizer(self, new: Prioritizer) -> None: ...

    def standing(self) -> Standing:
        """How the crawl stands."""
        raise NotImplementedError

    @property
    def leases(self) -> Mapping[int, Lease]:
        """The leases of this process, by token."""
        raise NotImplementedError

    @property
    @abstractmethod
    def waiting(self) -> int:
        """How many links wait."""

    @property
    @abstractmethod
    def leased(self) -> int:
        """How many links are handed out, by all who work on this store."""

    @property
    def leased_elsewhere(self) -> int:
        """How many links other processes have: the crawl has not ended while there are any."""
        return 0

    @property
    @abstractmethod
    def hosts(self) -> int:
        """How many hosts the links are of."""

    @property
    @abstractmethod
    def pages(self) -> int:
        """How many pages were judged so far, in all starts of the job."""

    @property
    @abstractmethod
    def last_page(self) -> int:
        """The number of the page judged last; where a crawl was killed, numbers may be missing before it."""

    @property
    @abstractmethod
    def found(self) -> int:
        """How many pages, duplicates left out, were judged relevant."""

    @property
    @abstractmethod
    def relevance_sum(self) -> float:
        """The relevance of all pages judged so far, in all starts of the job."""

    @abstractmethod
    def pages_of(self, host: int) -> int:
        """How many pages of a host were fetched, duplicates included."""

    # --- links and evidence ------------------------------------------------------------------------------------

    def known(self, urls: Sequence[str]) -> Known:
        """What is known of some addresses, asked once a page: a piece of evidence that is not wanted counts as seen."""
        raise NotImplementedError

    def admit(
        self,
        source: Lease | None,
        links: Sequence[NewLink],
        evidence: Evidence | None = None,
        scores: NDArray[np.float32] | None = None,
    ) -> Admitted:
        """Take in the links of one page: new ones wait from now on, known ones get what is new of them.

        Row *i* of the evidence is of ``links[i]``; there may be fewer rows than links. Of a known link that waits the
        better ``base`` counts. Links to pages fetched before may give lessons at once, if the page itself was recorded.
        """
        raise NotImplementedError

    def lease_link(self, link: int) -> Lease | None:
        """Hand out one link, whatever waits before it; None if it does not wait."""
        raise NotImplementedError

    @abstractmethod
    def reserve(self, urls: Sequence[str]) -> Known:
        """Number some addresses, those seen for the first time too, and tell what is known of them."""

    @abstractmethod
    def add(self, new: NewLink) -> bool:
        """Admit a link; False if it was admitted before. If that one still waits, it gets the better ``base``."""

    @abstractmethod
    def new_number(self) -> int:
        """A number that nothing has got so far: the identity of a request that is never the same as another."""

    @abstractmethod
    def link_with(self, key: int) -> int:
        """The link that has this identity; 0 if there is none."""

    @abstractmethod
    def add_evidence(self, source: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        """Keep the evidence of one page's links (``evidence.link`` says which); waiting ones are ordered anew."""

    @abstractmethod
    def evidence_of(self, link: Lease | int) -> Evidence | None:
        """All kept evidence of a link; a store may let go of it when the link is through."""

    # --- leases ------------------------------------------------------------------------------------------------

    @abstractmethod
    def lease(self, now: float, gate: Gate) -> Lease | None:
        """Hand out the best link whose host may be fetched now."""

    def sent(self, token: Lease | int, delay: float, concurrency: int, ago: float) -> None:
        """A leased link's request went out ``ago`` seconds ago; its host may be fetched at this pace.

        A shared store opens the host for others only then. In a store of one process the gate knows.
        """

    def sleep(self, host: str, seconds: float) -> None:
        """A host asks to be left alone for some time: a shared store tells everybody. Alone, the gate knows."""

    def beat(self) -> None:
        """Give a sign of life, and learn how things stand: about once a second, by whoever shares a store."""

    @abstractmethod
    def release(self, host: int) -> None:
        """Something changed for a host (a fetch ended, it need not sleep): ask its gate again."""

    @abstractmethod
    def next_wake(self) -> float | None:
        """When to look for a link again, if there was none; None if nothing but an end of a fetch can help."""

    @abstractmethod
    def link_of(self, token: int) -> int:
        """The link that a lease is for; 0 if there is no such lease."""

    @abstractmethod
    def host_of(self, token: int) -> int:
        """The host that a lease counts for."""

    @abstractmethod
    def host_name(self, host: int) -> str:
        """The name of a host of which a link was leased, by its number."""

    @abstractmethod
    def parent_url(self, token: int) -> str:
        """The address of the page on which a leased link was found first; '' for a seed."""

    @abstractmethod
    def begin_work(self, token: Lease | int) -> None:
        """A leased link's page has come. Of a suspect this is written down before its page can do harm."""

    @abstractmethod
    def redirect(self, token: Lease | int, url: str, host: str) -> bool:
        """A leased link leads to another address; True if that is to be fetched, under the same lease."""

    @abstractmethod
    def was_redirected(self, token: int) -> bool:
        """Did a lease begin at another address, or end at one that another fetch took?"""

    @abstractmethod
    def return_lease(self, token: Lease | int) -> None:
        """A leased link is to be fetched again under its lease (a retry, a redirect), as soon as its host may be."""

    @abstractmethod
    def postpone(self, token: Lease | int) -> None:
        """End a lease as if it had not been: the link waits again, with its score."""

    # --- pages and lessons -------------------------------------------------------------------------------------

    @abstractmethod
    def record(self, token: Lease | int, page: PageRecord) -> PageRecord:
        """Keep a judged page until its link is acknowledged. Numbers it, and marks it if it is a duplicate.

        Its outcome is OTHER if the lease was lost meanwhile: the page is somebody else's now.
        """

    @abstractmethod
    def outcome_of(self, token: int) -> Outcome:
        """The outcome of a lease so far."""

    @abstractmethod
    def lessons_of(self, token: Lease | int) -> Lessons | None:
        """The lessons that a leased link's page teaches: evidence of every known link to it."""

    @abstractmethod
    def late_lessons(self, evidence: Evidence, source_relevance: float) -> Lessons | None:
        """The lessons that a page's links to pages fetched before give at once."""

    def pool(self, token: Lease | int, lessons: Lessons | None) -> None:
        """Have lessons go with a lease's acknowledgement to the process that trains, if the store is shared."""

    @abstractmethod
    def lessons_since(self, order: int) -> list[Lessons | None]:
        """The lessons of each page after the given one, in that order: what a saved model has not seen."""

    @abstractmethod
    def acknowledge(self, token: Lease | int, outcome: Outcome, detail: str = "") -> Outcome:
        """A leased link is through: outcome, page, item in one transaction. A recorded page's own outcome counts."""

    # --- what was learned, and notes ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many pieces of evidence a re-scoring has to read."""

    @property
    @abstractmethod
    def rescoring_is_cheap(self) -> bool:
        """Is all evidence in memory, so that scoring everything again needs no reading?"""

    @abstractmethod
    def rescoring(self) -> Rescoring:
        """Begin to score all that waits anew, by the snapshot of now."""

    @abstractmethod
    def save_model(self, name: str, data: Mapping[str, NDArray[Any]], order: int) -> None:
        """Keep what a learner knows after the lessons up to a number (as in `lessons_since`)."""

    @abstractmethod
    def load_model(self, name: str) -> tuple[dict[str, NDArray[Any]], int] | None:
        """A learner's saved state, and the number of the last lessons it knows."""

    @abstractmethod
    def note(self, key: str, value: str) -> None:
        """Keep a word about the job."""

    @abstractmethod
    def noted(self, key: str) -> str | None:
        """What `note` kept."""

    def revise(self, key: str, change: Callable[[str | None], str | None]) -> None:
        """Replace a note by what follows from it, with nobody coming between; None leaves it as it is."""
        new = change(self.noted(key))
        if new is not None:
            self.note(key, new)

    @abstractmethod
    def commit(self) -> None:
        """Make everything so far outlast the process."""

    @abstractmethod
    def close(self) -> None:
        """Write what is pending and let go of files and connections."""
