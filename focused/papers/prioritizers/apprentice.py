"""The apprentice of Chakrabarti, Punera, Subramanyam (WWW 2002): the words around a link say what its target is.

The evidence of (*u*, *v*) is the ⟨t, d⟩ features of §2.2: every token t within ``d_max`` leaves of the link together
with its offset d. A word left of a link and the same word right of it are different features, so that the apprentice
learns by itself what nearness means on this web. There are a few numbers, too, as log-odds: R(*u*), and the critic's
opinion of the anchor and of the words within three leaves (against its opinion of no words at all).

How the defaults were chosen: docs/prioritizers.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from inspect import signature
from typing import Annotated, Any, Literal, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.critics.base import Critic, Verdict
from focused.options import Seed, written
from focused.pages.evidence import MAX_OFFSET, Evidence, window
from focused.pages.page import Links, Page
from focused.papers.prioritizers.context import append_to_each, class_features, neighbours
from focused.papers.prioritizers.logistic import LogisticLearner
from focused.papers.prioritizers.naive_bayes import Cut, NaiveBayesLearner
from focused.prioritizers.base import BIAS, CRITIC, Combination, Contribution, Lessons, Prioritizer, Shown, together
from focused.prioritizers.opinions import opinions
from focused.prioritizers.options import check_made_alike
from focused.prioritizers.rows import append_to_rows, logit

_PRIOR = {"source relevance": 0.5, "anchor": 0.5, "words around": 0.5, "bias": 0.0}
_FORMAT = 2
_BEFORE = {"cut": "half", "chances": False, "paper": False}
"""What it was made with when states did not say so yet."""
AS_PRINTED: dict[str, object] = {
    "combine": "first", "learner": "naive-bayes", "topics": False, "chances": False, "cocitation": False,
}  # fmt: skip
"""The apprentice of the paper's experiments: ⟨t, d⟩ alone, naive Bayes, and the first link to a page counts."""


class Apprentice(Prioritizer):
    """Learns on the job which words, at which offsets from a link, speak for the page behind it.

    ``d_max``: how many leaves to the left and right are looked at. ``offsets=False`` forgets where in that window a
    word stood: the plain text that the paper compares with. ``topics`` adds the names of *u*'s classes and their
    prefixes (§3.8), with ``chances`` by their probabilities (§2.2.3); ``cocitation`` adds ⟨high, d⟩ and ⟨low, d⟩ for
    neighbouring links whose pages are known (§3.8). ``learner`` is ``logistic`` or the paper's ``naive-bayes``.
    ``reads``, ``rate``, ``replays`` and ``memory`` are the former's: without ``reads`` the critic's opinion of anchor
    and window is left out, for the others see `LogisticLearner`. ``cut`` is the latter's (`NaiveBayesLearner`).
    ``bits``: the size of the table of features. ``combine``: how several links to one page are taken together.
    ``paper`` sets all of `AS_PRINTED`, and has every link (*u*, *v*) teach as a whole lesson.
    """

    name = "apprentice"
    studies = True
    dense = tuple(_PRIOR)[:-1]
    shown = BIAS | {
        "source relevance": Shown(CRITIC, "of the page it stands on"),
        "anchor": Shown(CRITIC, "of the link's text"),
        "words around": Shown(CRITIC, "of the words around it"),
    }
    learns = True

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "mean",
        seed: Seed = 0,
        d_max: Annotated[int, Meta(ge=0, le=MAX_OFFSET)] = 5,
        offsets: bool = True,
        reads: bool = True,
        topics: bool = True,
        chances: bool = False,
        cocitation: bool = False,
        learner: Literal["logistic", "naive-bayes"] = "logistic",
        cut: Cut = "median",
        paper: bool = False,
        bits: Annotated[int, Meta(ge=8, le=24)] = 18,
        rate: Annotated[float, Meta(ge=1e-6, le=100)] = 0.3,
        replays: Annotated[float, Meta(ge=0, le=100)] = 2.0,
        memory: Annotated[int, Meta(ge=1, le=1_000_000)] = 4_000,
    ) -> None:
        if paper:
            _check_as_printed(combine=combine, chances=chances, cocitation=cocitation)
            combine, learner, topics = "first", "naive-bayes", False
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.d_max, self.offsets = d_max, offsets
        self.topics, self.chances, self.sees_fetched = topics, chances, cocitation
        # Naive Bayes has no use for such numbers.
        self.reads = reads and learner == "logistic"
        self.paper = paper
        self.id_bits = bits
        self.learner: LogisticLearner | NaiveBayesLearner
        # What was learned means something only together with these.
        own = {"format": _FORMAT, "prioritizer": self.name, "learner": learner, "bits": bits, "d_max": d_max}
        self._made_for = {**own, "offsets": offsets, "topics": topics, "chances": chances, "cocitation": cocitation}
        if learner == "logistic":
            self.learner = LogisticLearner(_PRIOR, bits=bits, rate=rate, replays=replays, memory=memory, seed=seed)
            self._made_for["reads"] = reads
        else:
            self.learner = NaiveBayesLearner(bits=bits, cut=cut)
            self._made_for |= {"cut": cut, "paper": paper}

    def evidence(
        self, page: Page, verdict: Verdict, links: Links, *, fetched: NDArray[np.float32] | None = None, **known: Any
    ) -> Evidence:
        """The words within ``d_max`` leaves of each link, and what the critic says of page, anchor and words."""
        starts, ids = window(page, links, self.d_max, offsets=self.offsets)
        if self.topics:
            starts, ids = append_to_each(starts, ids, class_features(verdict, page.lexicon, chances=self.chances))
        if self.sees_fetched and fetched is not None:
            starts, ids = append_to_rows(starts, ids, *neighbours(links, fetched, self.d_max, page.lexicon))
        dense = np.zeros((len(links), len(self.dense)), np.float32)
        dense[:, 0] = logit(verdict.relevance)
        if self.reads:
            dense[:, 1:] = opinions(self.critic, page, links)
        return Evidence.of(starts, ids, dense, links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The learner's estimate of R(*v*)."""
        return self.learner.score(evidence)

    def learn(self, lessons: Lessons) -> Self | None:
        """A snapshot that knows these lessons, too. Dead links teach nothing."""
        usable = self._usable(lessons)
        return self._with(self.learner.learn(usable)) if len(usable) else None

    def study(self, lessons: Lessons) -> Self:
        """A snapshot trained offline, on all lessons of a crawl that somebody else led (§3.5)."""
        return self._with(self.learner.study(self._usable(lessons)))

    def studied(self, lessons: Lessons) -> Arrays:
        """The state of such a snapshot."""
        return self.study(lessons).state()

    def _usable(self, lessons: Lessons) -> Lessons:
        alive = lessons.select(np.flatnonzero(lessons.alive))
        return replace(alive, weight=np.ones_like(alive.weight)) if self.paper else alive

    def _with(self, learner: LogisticLearner | NaiveBayesLearner) -> Self:
        new = copy(self)
        new.learner = learner
        return new

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The features of one link; those that it has several times are added up."""
        parts = together(self.learner.explain(evidence))
        return sorted((part for part in parts if part.weight), key=lambda part: -abs(part.weight))

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What was learned of each feature."""
        return self.learner.weights_of(ids)

    def state(self) -> Arrays:
        """What was learned, and the options it is bound to."""
        return {"made_for": np.array(json.dumps(self._made_for)), **self.learner.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave, if it was made with the same options."""
        check_made_alike(state, self.name, self._made_for, before=_BEFORE)
        self.learner.restore(state)


def _check_as_printed(**given: object) -> None:
    """ValueError for options that say another thing than ``paper``; those that do so by default give way."""
    usual = {name: one.default for name, one in signature(Apprentice).parameters.items()}
    for name, value in given.items():
        if value not in (usual[name], AS_PRINTED[name]):
            raise ValueError(
                f"{name}={written(value)} does not go with paper=true, which sets {name}={written(AS_PRINTED[name])}: "
                "leave one of them out"
            )
