"""Features of links, each declared once: how it is made, how far it may move a score, how it is explained.

A prioritizer lists its features. A `Number` is one float a link, `Words` are any number of ids a link, a `Place` is one
id that links share which have something in common. From the list, `Layout` makes rows of evidence, and finds every
feature's values in them again: neither the learner nor `scrapy why` knows a feature by name.

A row holds the ids of each of the words, in the order of the list, and then one id for each place. Its dense numbers
are the `Number` features, and then how many words of each kind but the first it has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from focused.arrays import known_or, ranges, starts_of
from focused.critics.base import Critic, Verdict
from focused.pages.evidence import Evidence, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.prioritizers.base import Shown
from focused.prioritizers.opinions import SPANS, opinions, opinions_again, spans
from focused.prioritizers.rows import Starts, append_to_rows

_FIRST_PLACE = 1_001
"""The number that is mixed into the ids of the first place; the next place has the next number."""


@dataclass(frozen=True)
class Look:
    """Some links of a page, and all that their features may be made from (``d_max``, ``offsets``: see `window`)."""

    page: Page
    verdict: Verdict
    links: Links
    critic: Critic | None = None
    d_max: int = 5
    offsets: bool = True

    @cached_property
    def opinions(self) -> NDArray[np.float32]:
        """The critic's opinion of each link's text, and of the words around it."""
        return opinions(self.critic, self.page, self.links)

    @cached_property
    def spans(self) -> NDArray[np.int64]:
        """Where in its words around each link the words are that the critic reads."""
        return spans(self.page, self.links, self.d_max)


@dataclass(frozen=True)
class LookAgain:
    """Evidence of some links, and all that numbers may be made anew from: the critic and R(*u*) as they are now.

    ``source_relevance`` is NaN where it is not known.
    """

    evidence: Evidence
    spans: NDArray[np.int64]
    critic: Critic
    source_relevance: NDArray[np.float32]

    @cached_property
    def opinions(self) -> NDArray[np.float32]:
        """The critic's opinion of each link's text, and of the words around it."""
        return opinions_again(self.critic, self.evidence, self.spans)


@dataclass(frozen=True, kw_only=True)
class LinkFeature:
    """What all features have: the standard deviation of their weight's prior, and how they are explained.

    ``switch`` is the prioritizer's option that leaves the feature out. ``alive``: does it also say whether a link is
    alive (`aliveness`)? Numbers do not.
    """

    name: str
    spread: float
    alive: bool = False
    switch: str = ""
    heading: str = ""
    shown: str = ""


@dataclass(frozen=True, kw_only=True)
class Number(LinkFeature):
    """One number a link. ``mean`` is its weight's before anything was learned.

    ``again``, where the critic has a part in it, makes it anew from the evidence alone.
    """

    of: Callable[[Look], NDArray[np.floating] | NDArray[np.bool_]]
    mean: float
    again: Callable[[LookAgain], NDArray[np.floating]] | None = None


@dataclass(frozen=True, kw_only=True)
class Words(LinkFeature):
    """Any number of ids a link: where each link's ids start, and the ids. They are trusted or not by their name."""

    of: Callable[[Look], tuple[Starts, Ids]]


@dataclass(frozen=True, kw_only=True)
class Place(LinkFeature):
    """One id a link. ``trust`` names those features that are trusted, or not, together."""

    of: Callable[[Look], Ids]
    trust: str


class Layout:
    """Where features are in rows of evidence. Those whose switch is ``off`` are there, too, but count for nothing.

    ``spread`` multiplies the spreads of words and places.
    """

    def __init__(self, features: Sequence[LinkFeature], *, off: Collection[str] = (), spread: float = 1.0) -> None:
        self.numbers = [each for each in features if isinstance(each, Number)]
        self.words = [each for each in features if isinstance(each, Words)]
        self.places = [each for each in features if isinstance(each, Place)]
        self._counts = len(self.numbers) + len(self.words[1:])
        names = (*(each.name for each in self.numbers), *(f"words of the {each.name}" for each in self.words[1:]))
        # Kept for `renewed` alone.
        self.dense = names + SPANS if any(each.again for each in self.numbers) else names
        self.trusts = tuple(dict.fromkeys([each.name for each in self.words] + [each.trust for each in self.places]))
        self.shown = {each.name: Shown(each.heading, each.shown or each.name) for each in features}
        self._off = frozenset(off)
        self._spreads = {each.name: spread * (each.switch not in self._off) * each.spread for each in features}
        self._trust_of_place = np.array([self.trusts.index(each.trust) for each in self.places], np.int64)

    def evidence(self, look: Look) -> Evidence:
        """The features of the links that are looked at."""
        n = len(look.links)
        found = [each.of(look) for each in self.words]
        starts, ids = found[0] if found else (np.zeros(n + 1, np.int64), np.zeros(0, np.uint32))
        for more in found[1:]:
            starts, ids = append_to_rows(starts, ids, *more)
        starts, ids = append_to_rows(starts, ids, np.arange(n + 1) * len(self.places), self.places_of(look).ravel())
        dense = np.zeros((n, len(self.dense)), np.float32)
        for column, number in enumerate(self.numbers):
            if number.switch not in self._off:
                dense[:, column] = number.of(look)
        for column, (of_each, _) in enumerate(found[1:], len(self.numbers)):
            dense[:, column] = np.diff(of_each)
        if len(self.dense) > self._counts:
            dense[:, self._counts :] = look.spans
        return Evidence.of(starts, ids, dense, look.links.first)

    def places_of(self, look: Look) -> Ids:
        """The places of each link: a row for each, a column for each place."""
        columns = [mix(place.of(look), number) for number, place in enumerate(self.places, _FIRST_PLACE)]
        return np.stack(columns, axis=1) if columns else np.zeros((len(look.links), 0), np.uint32)

    def renewed(self, evidence: Evidence, critic: Critic, source_relevance: NDArray[np.float32]) -> Evidence:
        """The evidence with its numbers as the critic of now would have them."""
        look = LookAgain(evidence, evidence.dense[:, self._counts :].astype(np.int64), critic, source_relevance)
        dense = evidence.dense.copy()
        for column, number in enumerate(self.numbers):
            if number.again is not None and number.switch not in self._off:
                dense[:, column] = known_or(np.asarray(number.again(look), np.float32), dense[:, column])
        return replace(evidence, dense=dense)

    def numbers_in(self, evidence: Evidence) -> NDArray[np.float32]:
        """The `Number` features of each row."""
        return evidence.dense[:, : len(self.numbers)]

    def places_in(self, evidence: Evidence) -> NDArray[np.int64]:
        """Which of the ids are places: a row for each row of evidence."""
        return evidence.starts[1:, None] - np.arange(len(self.places), 0, -1)

    def place_in(self, evidence: Evidence, name: str) -> Ids:
        """One of the places of each row."""
        column = [each.name for each in self.places].index(name)
        return evidence.ids[evidence.starts[1:] - (len(self.places) - column)]

    def of_aliveness(self, evidence: Evidence) -> tuple[Starts, Ids]:
        """The features that say whether a link is alive: where each row's ids start, and the ids."""
        runs = self.segments(evidence)
        begin, end = (each.reshape(-1, len(self.words) + 1) for each in (runs[:-1], runs[1:]))
        words, places = self._living(self.words), self._living(self.places)
        at = self.places_in(evidence)[:, places]
        lengths = np.hstack([end[:, words] - begin[:, words], np.ones_like(at)])
        ids = evidence.ids[ranges(np.hstack([begin[:, words], at]).ravel(), lengths.ravel())]
        return starts_of(lengths.sum(axis=1)), ids

    def _living(self, features: Sequence[LinkFeature]) -> list[int]:
        return [i for i, each in enumerate(features) if each.alive and each.switch not in self._off]

    def segments(self, evidence: Evidence) -> NDArray[np.int64]:
        """Where each of the words and the places of each row start, and the end of all."""
        borders = [evidence.starts[1:] - len(self.places)]
        for counts in evidence.dense[:, len(self.numbers) : self._counts].astype(np.int64).T[::-1]:
            borders.insert(0, borders[0] - counts)
        if self.words:
            borders.insert(0, evidence.starts[:-1])
        return np.append(np.stack(borders, axis=1).ravel(), evidence.starts[-1])

    def scales(self, segments: NDArray[np.int64]) -> NDArray[np.float32]:
        """What a word counts for: a row for each row of evidence, a column for each of the words.

        A link's *n* words count for 1 / √n each, so that a long window does not shout down a short one.
        """
        lengths = np.maximum(np.diff(segments).reshape(-1, len(self.words) + 1)[:, : len(self.words)], 1)
        spreads = np.array([self._spreads[each.name] for each in self.words])
        scales: NDArray[np.float32] = (spreads / np.sqrt(lengths)).astype(np.float32)
        return scales

    def spreads_of_places(self) -> NDArray[np.float32]:
        """The spreads of the places (rows) by what they are trusted with, words left out (columns)."""
        table = np.zeros((len(self.places), len(self.trusts) - len(self.words)), np.float32)
        spreads = [self._spreads[each.name] for each in self.places]
        table[np.arange(len(self.places)), self._trust_of_place - len(self.words)] = spreads
        return table

    def trusted_as(self, evidence: Evidence) -> NDArray[np.int64]:
        """Which of ``trusts`` each id of the evidence belongs to."""
        of_row = [*range(len(self.words)), 0]
        numbers = np.repeat(np.tile(of_row, len(evidence)), np.diff(self.segments(evidence)))
        numbers[self.places_in(evidence)] = self._trust_of_place
        return numbers

    def values(self, evidence: Evidence) -> NDArray[np.float32]:
        """What each id of the evidence counts for."""
        segments = self.segments(evidence)
        each = np.hstack([self.scales(segments), np.zeros((len(evidence), 1), np.float32)])
        values = np.repeat(each.ravel(), np.diff(segments))
        values[self.places_in(evidence)] = np.array([self._spreads[each.name] for each in self.places], np.float32)
        return values
