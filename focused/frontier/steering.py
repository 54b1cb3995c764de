"""What users have ordered a crawl to do: the orders that count, as a note of its job.

Orders come through the inbox (`focused.frontier.inbox`). What follows from them is written together with how far the
inbox was read, so that an order that was taken in is neither lost nor carried out twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, get_args, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from focused.addresses import to_url
from focused.arrays import Damaged
from focused.frontier.combining import AnyFloats
from focused.pages.urls import LONGEST, url_to_host
from focused.safety.patterns import Patterns, to_pattern
from focused.stops import LIMITS, to_limit

STEERING = "steering"
"""The note of a job in which its `Steering` is kept."""
MOST_PATTERNS = 200
"""So many patterns, of hosts and addresses, may count at a time: every link is compared with all that have a ``*``."""
_MOST_NOT_DONE = 100
_FEW, _SHOWN = 10, 200

Verb = Literal["pause", "go-on", "end", "limit", "seed", "leave-out", "prefer", "drop"]
VERBS: tuple[Verb, ...] = get_args(Verb)
_PATTERN_VERBS = {"leave-out", "prefer", "drop"}


def to_order_value(verb: Verb, text: str) -> str:
    """What goes with a verb, normalised; a ValueError says what is wrong with it."""
    if verb in _PATTERN_VERBS:
        return to_pattern(text)
    if verb == "seed":
        url = to_url(text)
        if len(url) > LONGEST:
            raise ValueError(f"the address has more than {LONGEST:,} characters")
        return url
    if verb == "limit":
        name, sign, value = text.partition("=")
        if not sign:
            raise ValueError(f"{text!r} is not NAME=VALUE, such as pages=5000 (names: {', '.join(LIMITS)})")
        return f"{name.strip()}={to_limit(name.strip(), value.strip())}"
    if text:
        raise ValueError(f"{verb!r} takes no value, so {text!r} is too much")
    return ""


class OrderRefused(ValueError):
    """An order that cannot be carried out; the message says why."""


class Steering(msgspec.Struct, frozen=True, kw_only=True):
    """The orders that count. ``ends`` is how often the crawl was told to end, ``not_done`` what could not be done."""

    is_paused: bool = False
    ends: int = 0
    limits: dict[str, str] = {}
    left_out: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()

    def after(self, verb: Verb, value: str) -> Steering:
        """What counts after one more order; OrderRefused if there is no room for it."""
        new = msgspec.structs.replace
        match verb:
            case "pause" | "go-on":
                return new(self, is_paused=verb == "pause")
            case "end":
                # Whoever starts it again wants it to go on.
                return new(self, ends=self.ends + 1, is_paused=False)
            case "limit":
                name, _, amount = value.partition("=")
                return new(self, limits={**self.limits, name: amount})
            case "leave-out" | "prefer" | "drop":
                return self._with_pattern(verb, value)
            case "seed":
                return self

    def _with_pattern(self, verb: Verb, pattern: str) -> Steering:
        """Of what was said of a pattern the last counts."""
        left_out, preferred = ([*filter(pattern.__ne__, kept)] for kept in (self.left_out, self.preferred))
        if verb != "drop":
            (left_out if verb == "leave-out" else preferred).append(pattern)
        if len(left_out) + len(preferred) > MOST_PATTERNS:
            raise OrderRefused(f"{MOST_PATTERNS} patterns count already: drop some")
        undone = tuple(one for one in self.not_done if one.partition(" ")[2] != pattern)
        return msgspec.structs.replace(self, left_out=(*left_out,), preferred=(*preferred,), not_done=undone)

    def without(self, verb: Verb, value: str) -> Steering:
        """An order could not be carried out."""
        order = f"{verb} {value}".strip()
        kept = [one for one in self.not_done if one != order]
        return msgspec.structs.replace(self, not_done=(*kept, order)[-_MOST_NOT_DONE:])

    def in_words(self) -> Iterator[str]:
        """Each order that counts, as the command takes it."""
        if self.is_paused:
            yield "pause"
        yield from (f"limit {name}={value}" for name, value in self.limits.items())
        yield from (f"leave-out {pattern}" for pattern in self.left_out)
        yield from (f"prefer {pattern}" for pattern in self.preferred)

    def to_text(self) -> str:
        """As a note."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def of(cls, text: str | bytes | None) -> Steering:
        """What a note says, nothing if there is none; Damaged if it is not what was written."""
        try:
            steering = msgspec.json.decode(text, type=cls) if text else cls()
            steering._check()
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Damaged(f"the note {STEERING!r} cannot be read: {error}") from error
        return steering

    def _check(self) -> None:
        """ValueError if this was not made of orders that were checked."""
        values: list[tuple[Verb, str]] = [("limit", f"{name}={value}") for name, value in self.limits.items()]
        values += [("prefer", pattern) for pattern in (*self.left_out, *self.preferred)]
        for verb, value in values:
            if to_order_value(verb, value) != value:
                raise ValueError(f"{value!r} is not as it was written")
        if len(values) > MOST_PATTERNS + len(LIMITS):
            raise ValueError("there are too many patterns")


def in_one_line(orders: Sequence[str]) -> str:
    """The first of some orders, for a log; what they consist of was checked, and shows as it is."""
    told = [order if len(order) <= _SHOWN else f"{order[:_SHOWN]}…" for order in orders[:_FEW]]
    return "; ".join([*told, *([f"and {len(orders) - _FEW:,} more"] if len(orders) > _FEW else [])])


@runtime_checkable
class PreferringStore(Protocol):
    """A store that hands out some links before others of similar worth; not every store does."""

    def prefer(self, patterns: Patterns) -> None:
        """Links that fit these patterns come first, also those that wait already; those preferred before no more."""


def lifted(scores: AnyFloats, is_preferred: NDArray[np.bool_]) -> AnyFloats:
    """The scores by which links are ordered: that of a preferred one is half way between its own and 1.

    So a preferred link comes before any that is not twice as far from certain: 0.6 counts as 0.8, and 0.1 as 0.55. (To
    double a score would do nothing for links of which nothing good is known.)
    """
    return np.where(is_preferred, (1 + scores) / 2, scores)


def fitting(patterns: Patterns, urls: Sequence[str]) -> NDArray[np.bool_]:
    """Which of some addresses fit."""
    if not patterns:
        return np.zeros(len(urls), np.bool_)
    return np.array([bool(patterns.match(url, url_to_host(url))) for url in urls], np.bool_)
