"""A job that was opened: where its links are kept, what becomes of lessons, and who else works on it.

What differs between a crawl alone and one that several processes share is made here once, when the job is opened; a
name in the entry points ``focused.frontiers`` stands for a module with the two functions of `JobPlace`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from focused.critics.base import Critic
from focused.defaults import read
from focused.extras import need
from focused.frontier.inbox import Inbox
from focused.frontier.store import FrontierStore, JobRefused, Lease
from focused.prioritizers.base import Prioritizer
from focused.registry import UnknownName, find
from focused.safety.neighbourhoods import Neighbours
from focused.topics.topic import Topic
from focused.visits.questions import Candidates
from focused.visits.training import Training

if TYPE_CHECKING:
    from focused.parts import Parts
    from focused.scheduling.dispatcher import Dispatcher


class Company:
    """Those with whom a scheduler shares its crawl: by itself nobody, and the scheduler knows all there is to know."""

    hands_links_on: ClassVar[bool] = False
    """May others be given a link that was admitted here? Then it must be one that can be written."""

    def begin(self, dispatcher: Dispatcher) -> None:
        """The crawl begins."""

    def watch(self, lease: Lease, request: Request) -> None:
        """A request was handed out."""

    def look(self) -> bool:
        """Tell of requests that went out; True if there are others left."""
        return False

    def came_back(self, token: int) -> None:
        """The request of a lease is out or over, one way or another."""

    def sleep(self, host: str, seconds: float) -> None:
        """A host asks to be left alone for some time."""

    def close(self) -> None:
        """The crawl ends; the store is still open."""


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job that is open. ``folder`` holds its records, if they are in one; ``lasts``: it can be gone on with.

    ``name`` is what commands call it. ``candidates`` are the pages about which a teacher may be asked, ``inbox`` is
    what users tell the crawl. ``neighbours`` are kept where the job is, if several processes keep them together.
    """

    store: FrontierStore
    training: Training
    company: Company
    folder: Path | None = None
    lasts: bool = True
    candidates: Candidates = field(default_factory=Candidates)
    neighbours: Neighbours | None = None
    inbox: Inbox | None = None
    name: str = ""


class JobPlace(Protocol):
    """Where jobs are kept."""

    def check_job(self, topic: Topic, settings: BaseSettings, prioritizer: Prioritizer, critic: Critic) -> None:
        """JobRefused if a crawl cannot begin or go on there; nothing is changed."""

    def open_job(self, crawler: Crawler, parts: Parts) -> OpenJob:
        """Open the job of a crawl; JobRefused if it is another's, StoreBroken if it cannot be."""


def place_of(settings: BaseSettings) -> JobPlace:
    """Where the settings say that jobs are kept."""
    name = read(settings, "FOCUSED_FRONTIER")
    if name == "redis":
        need("scrapy_redis", "FOCUSED_FRONTIER=redis")
    try:
        return cast("JobPlace", find("frontier", name))
    except UnknownName as error:
        raise JobRefused(str(error)) from error
