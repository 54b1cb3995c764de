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
from typing import Annotated, Any, Literal, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import MAX_OFFSET, Evidence, window
from focused.pages.page import Links, Page
from focused.papers.prioritizers.context import append_to_each, class_features, neighbours
from focused.papers.prioritizers.logistic import LogisticLearner
from focused.papers.prioritizers.naive_bayes import NaiveBayesLearner
from focused.prioritizers.base import BIAS, CRITIC, Combination, Contribution, Lessons, Prioritizer, Shown, together
from focused.prioritizers.opinions import opinions
from focused.prioritizers.options import check_made_alike
from focused.prioritizers.rows import append_to_rows, logit

_PRIOR = {"source relevance": 0.5, "anchor": 0.5, "words around": 0.5, "bias": 0.0}
_FORMAT = 2


class Apprentice(Prioritizer):
    """Learns on the job which words, at which offsets from a link, speak for the page behind it.

    ``d_max``: how many leaves to the left and right are looked at. ``offsets=False`` forgets where in that window a
    word stood: the plain text that the paper compares with. ``reads=False`` leaves the critic's opinion of anchor and
    window out. ``topics`` adds the names of *u*'s classes and their prefixes (§3.8), ``cocitation`` adds ⟨high, d⟩ and
    ⟨low, d⟩ for neighbouring links whose pages are known (§3.8). ``learner`` is ``logistic`` or the paper's
    ``naive-bayes``; ``rate``, ``replays`` and ``memory`` are the former's (see `LogisticLearner`). ``bits``: the size
    of the table of features. ``combine``: how several links to one page are taken together.
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
        cocitation: bool = False,
        learner: Literal["logistic", "naive-bayes"] = "logistic",
        bits: Annotated[int, Meta(ge=8, le=24)] = 18,
        rate: Annotated[float, Meta(ge=1e-6, le=100)] = 0.3,
        replays: Annotated[float, Meta(ge=0, le=100)] = 2.0,
        memory: Annotated[int, Meta(ge=1, le=1_000_000)] = 4_000,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        switches = {"offsets": offsets, "reads": reads, "topics": topics, "cocitation": cocitation}
        self.d_max, self.offsets, self.reads = d_max, offsets, reads
        self.topics, self.sees_fetched = topics, cocitation
        self.id_bits = bits
        self.learner: LogisticLearner | NaiveBayesLearner
        if learner == "logistic":
            self.learner = LogisticLearner(_PRIOR, bits=bits, rate=rate, replays=replays, memory=memory, seed=seed)
        else:
            self.learner = NaiveBayesLearner(bits=bits)
        # What was learned means something only together with these.
        own = {"format": _FORMAT, "prioritizer": self.name, "learner": learner}
        self._made_for = {**own, "bits": bits, "d_max": d_max, **switches}

    def evidence(
        self, page: Page, verdict: Verdict, links: Links, *, fetched: NDArray[np.float32] | None = None, **known: Any
    ) -> Evidence:
        """The words within ``d_max`` leaves of each link, and what the critic says of page, anchor and words."""
        starts, ids = window(page, links, self.d_max, offsets=self.offsets)
        if self.topics:
            starts, ids = append_to_each(starts, ids, class_features(verdict, page.lexicon))
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
        alive = lessons.select(np.flatnonzero(lessons.alive))
        return self._with(self.learner.learn(alive)) if len(alive) else None

    def study(self, lessons: Lessons) -> Self:
        """A snapshot trained offline, on all lessons of a crawl that somebody else led (§3.5)."""
        return self._with(self.learner.study(lessons.select(np.flatnonzero(lessons.alive))))

    def studied(self, lessons: Lessons) -> Arrays:
        """The state of such a snapshot."""
        return self.study(lessons).state()

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
        check_made_alike(state, self.name, self._made_for)
        self.learner.restore(state)
