"""The status of a crawl, as far as it is the same wherever the crawl is kept: figures, lines for a terminal, JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import Any, Self

from focused.critics.base import RELEVANT
from focused.frontier.store import Outcome, Says
from focused.report.text import WIDE, counted, listed, outcomes_in_words, short

RUNNING, ENDED, CUT_SHORT = "running", "ended", "cut short"
MOST_HOSTS = 10
UNFOLLOWED = "unfollowed"
"""The note in which a crawl counts links of duplicates that were not followed."""
_SHORTEST = 5.0
_Z = 1.96
_FEW_ORDERS = 8
LATELY = 100
"""Harvest and pace of a job folder "lately" are those of so many pages."""


@dataclass(frozen=True, slots=True)
class HostWaiting:
    """A host, and how many of its links wait."""

    host: str
    links: int


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How often somebody has said of a page yes, no, and that they do not know.

    ``found`` of the pages with yes or no were relevant when it was said; ``found_wanted`` of these are wanted.
    """

    yes: int
    no: int
    unknown: int
    found: int
    found_wanted: int

    @classmethod
    def of(cls, answers: Iterable[tuple[str, float | None]]) -> Self | None:
        """The counts of what was said, each with the relevance of its page by then; None if nothing was.

        A page that was still to come had none.
        """
        said = [(what, relevance or 0.0) for what, relevance in answers if what != Says.NOTHING]
        yes, no, unknown = (sum(what == which for what, _ in said) for which in (Says.YES, Says.NO, Says.UNKNOWN))
        found = [what for what, relevance in said if relevance >= RELEVANT and what != Says.UNKNOWN]
        return cls(yes, no, unknown, len(found), found.count(Says.YES)) if said else None

    def in_words(self) -> str:
        """The counts, and what they say of the critic's verdicts."""
        parts = (f"{self.yes:,} yes", f"{self.no:,} no", f"{self.unknown:,} unknown" if self.unknown else "")
        words = ", ".join(filter(None, parts))
        return words + (f"; {self.precision_in_words()}" if self.found else "")

    def precision_in_words(self) -> str:
        """How many of the found pages are wanted, as far as that can be told from some that nobody has drawn."""
        low, high = wilson(self.found_wanted, self.found)
        return (
            f"{self.found_wanted:,} of {self.found:,} found ones are wanted "
            f"({low:.0%} to {high:.0%} of all found, if these were drawn at random)"
        )


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of which a sample has so many hits (Wilson, 1927)."""
    share, z2 = hits / count, _Z**2
    middle, room = share + z2 / (2 * count), _Z * sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    return max((middle - room) / (1 + z2 / count), 0.0), min((middle + room) / (1 + z2 / count), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(ABC):
    """The status of a crawl. ``None`` is what is not known (yet). Each kind of place adds its own figures and words.

    ``pages`` counts all judged pages; ``relevant`` and the harvest leave duplicates out. ``wanted`` is the sum of their
    relevance: about so many are wanted. ``relevant_now``, ``harvest_now`` and ``pace_now`` are over the last pages;
    paces are pages per minute. ``unfollowed`` counts links of duplicates that were not followed for this reason.
    ``answers`` are there if somebody said something, ``unread`` marks wait for the crawl to go on, and so do
    ``unread_orders``. ``orders`` are those that count, ``not_done`` those that could not be carried out. ``seconds`` is
    how long reading took.
    """

    state: str
    topic: str
    prioritizer: str
    critic: str
    pages: int
    relevant: int
    relevant_now: int | None
    wanted: float | None
    harvest: float | None
    harvest_now: float | None
    pace: float | None
    pace_now: float | None
    outcomes: dict[str, int]
    unfollowed: int
    waiting: int
    leased: int
    hosts_waiting: int
    waiting_by_host: list[HostWaiting]
    answers: AnswerCounts | None = None
    unread: int = 0
    paused: bool = False
    orders: list[str] = field(default_factory=list)
    not_done: list[str] = field(default_factory=list)
    unread_orders: int = 0
    read: str
    seconds: float = field(compare=False)

    @property
    def is_running(self) -> bool:
        """Is anybody at work on it?"""
        return self.state == RUNNING

    @property
    @abstractmethod
    def title(self) -> str:
        """What to call the crawl."""

    @abstractmethod
    def state_in_words(self) -> str:
        """Is it running, since when, or why not."""

    @abstractmethod
    def place_line(self) -> tuple[str, str]:
        """Where it is kept: a label and words."""

    @abstractmethod
    def learned_in_words(self) -> str:
        """What its prioritizer has learned."""

    def further_lines(self) -> Iterator[tuple[str, str]]:
        """More labels and words, below those that every crawl has."""
        return iter(())

    def further_lists(self) -> Iterator[str]:
        """Lists above that of the hosts, each after an empty line."""
        return iter(())

    @property
    @abstractmethod
    def again(self) -> str:
        """How to start the crawl again."""

    @property
    def has_more(self) -> bool:
        """Is there anything left to fetch?"""
        return bool(self.waiting or self.leased)

    def next_step(self) -> str:
        """How to continue a crawl that does not run."""
        if self.state == CUT_SHORT:
            return f"To continue, {self.again}: links that were in progress are fetched again; everything else is kept."
        if self.paused:
            return f"It is paused. To continue, give the order --go-on (`scrapy steer`), and {self.again}."
        if self.has_more:
            return f"To continue, {self.again}; raise the limit if it ended at one."
        return "No link is left to follow."


def made_as(about: Mapping[str, Any]) -> dict[str, str]:
    """For whom a crawl was made, and with what, from the note on how it was made."""
    return {"topic": about["topic"]["name"], "prioritizer": about["prioritizer"]["name"], "critic": about["critic"]}


def per_minute(pages: int, seconds: float) -> float | None:
    """A pace, if there is one after so little time."""
    # Times are kept in whole seconds: of two, one may be missing.
    return round(60 * pages / seconds, 1) if seconds >= _SHORTEST else None


def outcomes_by_name(outcomes: Mapping[int, int]) -> dict[str, int]:
    """How many links ended in each way."""
    return {outcome.name.lower(): outcomes.get(outcome, 0) for outcome in Outcome if outcome}


def rounded(value: float | None) -> float | None:
    """Figures with as many digits as say something."""
    return None if value is None else round(value, 4)


def status_json(status: Status) -> str:
    """One JSON object, in one line."""
    return json.dumps({**asdict(status), "running": status.is_running})


def status_line(status: Status) -> str:
    """One line, where there are several crawls."""
    links = f"{counted(status.pages, 'page')}, {counted(status.waiting, 'link')} waiting"
    return f"  {short(status.title, WIDE)}: {status.state_in_words()}; {links}"


def status_lines(status: Status) -> Iterator[str]:
    """Some lines of words, the hosts at the end."""
    paused = "; paused" if status.paused else ""
    yield f"{short(status.title, WIDE)}: {status.state_in_words()}{paused}"
    lines = (
        status.place_line(),
        ("found", _found(status)),
        ("pages", f"{status.pages:,}"),
        ("harvest", _now_and_overall(status.harvest_now, status.harvest, ".3f")),
        ("pace", _now_and_overall(status.pace_now, status.pace, ",.1f", " pages per minute")),
        ("links", _outcomes(status)),
        ("waiting", _waiting(status)),
        ("prioritizer", f"{short(status.prioritizer or 'not recorded', WIDE)}; {status.learned_in_words()}"),
        ("critic", short(status.critic or "not recorded", WIDE)),
        *((("answers", status.answers.in_words()),) if status.answers else ()),
        *((("marks", f"{counted(status.unread, 'mark')} not taken in yet"),) if status.unread else ()),
        *((("orders", _orders(status)),) if status.orders or status.not_done or status.unread_orders else ()),
        *status.further_lines(),
    )
    yield from (f"  {label:<12} {words}" for label, words in lines)
    yield from status.further_lists()
    hosts = [(line.links, short(line.host, WIDE)) for line in status.waiting_by_host]
    yield from listed("links waiting, by host", hosts, status.hosts_waiting, "host")
    if not status.is_running:
        yield ""
        yield status.next_step()


def _orders(status: Status) -> str:
    """Those that count, and what else there is to say of orders."""
    some, more = status.orders[:_FEW_ORDERS], len(status.orders) - _FEW_ORDERS
    parts = [", ".join(short(order, WIDE) for order in some) + (f" and {more:,} more" if more > 0 else "")]
    parts += [f"{counted(len(status.not_done), 'order')} not done"] if status.not_done else []
    parts += [f"{counted(status.unread_orders, 'order')} not taken in yet"] if status.unread_orders else []
    return "; ".join(filter(None, parts))


def _found(status: Status) -> str:
    now = status.relevant_now
    lately = "" if now is None else f", {now:,} of the last {min(LATELY, status.pages):,}"
    wanted = f" (about {status.wanted:,.0f} wanted)" if status.wanted is not None else ""
    return f"{status.relevant:,}{lately}{wanted}"


def _now_and_overall(now: float | None, overall: float | None, form: str, unit: str = "") -> str:
    """The figure lately and overall, with its unit once."""
    if overall is None:
        return "not known yet"
    lately = "" if now is None else f"{now:{form}}{unit} lately, "
    return f"{lately}{overall:{form}}{'' if lately else unit} overall"


def _outcomes(status: Status) -> str:
    parts = outcomes_in_words(status.outcomes)
    if status.unfollowed:
        parts.append(f"{counted(status.unfollowed, 'link')} of duplicates not followed")
    return ", ".join(parts) or "none has ended yet"


def _waiting(status: Status) -> str:
    links = counted(status.waiting, "link")
    hosts = f" on {counted(status.hosts_waiting, 'host')}" if status.waiting else ""
    if not status.is_running and not status.leased:
        return links + hosts
    tense = "" if status.is_running else "was " if status.leased == 1 else "were "
    return f"{links}{hosts}, {status.leased:,} {tense}in progress"
