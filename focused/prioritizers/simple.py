"""For prioritizers that look at one link at a time: plain data in, a guess or names of features out.

The guess is the score of a link before anything was learned. Names of features are learned from: whatever they are
called, those that go along with good pages raise the score of other links, by the learner of the default prioritizer
(`kalman`). Ours work on all links of a page at once instead, which is some ten times as fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence, names_to_ids
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.prioritizers.base import BIAS, Combination, Contribution, Lessons, Prioritizer, Shown, together
from focused.prioritizers.features import Layout, LinkFeature, Look, Number, Words
from focused.prioritizers.kalman import KalmanLearner
from focused.prioritizers.rows import logit

_BITS = 16
_NEAR = 3


@dataclass(frozen=True, slots=True)
class Link:
    """A link that was found on a page: its address, the page with its verdict, and on demand the words of the link."""

    url: str
    page: Page
    verdict: Verdict
    _first: int = field(repr=False)
    _last: int = field(repr=False)

    @property
    def anchor(self) -> str:
        """The text of the link."""
        return self.page.text_of(self._first, self._last + 1)

    @property
    def around(self) -> str:
        """The text of the link, and that of the three leaves of the page before it and after it."""
        return self.page.text_of(max(self._first - _NEAR, 0), self._last + 1 + _NEAR)


@dataclass(frozen=True)
class _Answers(Look):
    """What was said of each link."""

    guesses: NDArray[np.float32] = field(kw_only=True)
    names: list[Ids] = field(kw_only=True)


def _guesses(look: Look) -> NDArray[np.float32]:
    assert isinstance(look, _Answers)
    return logit(look.guesses)


def _names(look: Look) -> tuple[NDArray[np.int64], Ids]:
    assert isinstance(look, _Answers)
    starts = np.cumsum([0, *map(len, look.names)], dtype=np.int64)
    return starts, np.concatenate([np.zeros(0, np.uint32), *look.names])


_FEATURES: tuple[LinkFeature, ...] = (
    Number(name="guess", of=_guesses, mean=1.0, spread=0.5, shown="the guess"),
    Words(name="features", of=_names, spread=1.5),
)


class SimplePrioritizer(Prioritizer):
    """Define `guess`, `features`, or both. Without `features` nothing is learned, and the guess is the score.

    Both must depend on nothing but the link: scores are compared over the whole crawl.
    """

    shown: Mapping[str, Shown] = {"guess": Shown("", "the guess"), **BIAS}
    learns_every = 1
    layout: ClassVar[Layout] = Layout(_FEATURES)
    dense = layout.dense

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.learns = cls.features is not SimplePrioritizer.features

    def __init__(self, *, critic: Critic | None = None, combine: Combination = "mean", seed: Seed = 0) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.learner = KalmanLearner(self.layout, bias=(0.0, 1.0), bits=_BITS, seed=seed)

    def guess(self, link: Link) -> float:
        """The relevance that the page behind a link may have, from 0 to 1. By default that of the page it is on."""
        return link.verdict.relevance

    def features(self, link: Link) -> Iterable[str]:
        """Names of what is true of a link, such as ``"in a menu"`` or ``"depth 3"``."""
        return ()

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """The guess, and the features by their names."""
        each = zip(links.urls, links.first.tolist(), links.last.tolist(), strict=True)
        found = [Link(url, page, verdict, first, last) for url, first, last in each]
        guesses = np.array([self._checked(self.guess(link), link) for link in found], np.float32)
        names = [names_to_ids(dict.fromkeys(self.features(link)), page.lexicon) for link in found]
        return self.layout.evidence(_Answers(page, verdict, links, guesses=guesses, names=names))

    def _checked(self, guess: float, link: Link) -> float:
        if not 0 <= guess <= 1:
            raise ValueError(f"prioritizer {self.name!r} guesses {guess!r} for {link.url}: give a number from 0 to 1")
        return guess

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The guess, moved by what was learned of the features."""
        return self.learner.score(evidence)

    def learn(self, lessons: Lessons) -> Self | None:
        """A snapshot that knows these lessons, too. Dead links teach nothing."""
        alive = lessons.select(np.flatnonzero(lessons.alive))
        if not self.learns or not len(alive):
            return None
        new = copy(self)
        new.learner = self.learner.learn(alive)
        return new

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The guess and the features, as log-odds."""
        parts = together(self.learner.explain(evidence))
        return sorted((part for part in parts if part.weight), key=lambda part: -abs(part.weight)) or parts

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What was learned of each feature."""
        return self.learner.weights_of(ids)

    def state(self) -> Arrays:
        """What was learned, and by which prioritizer."""
        return {"prioritizer": np.array(self.name), **self.learner.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state` returned."""
        if str(state.get("prioritizer")) != self.name:
            raise ValueError(f"it was not saved by {self.name!r}: name the prioritizer that saved it")
        self.learner.restore(state)
