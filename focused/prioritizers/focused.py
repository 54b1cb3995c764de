"""The default: looks at everything there is around a link, and learns from the first page on.

It sees the words within a few leaves of a link, each with its offset (the apprentice's evidence), the words of its
address, where the link is (`places`), R(*u*), and what the critic says of its text and of the words around it. All of
them are `FEATURES` of one logistic model, which begins with an opinion, as best-first and shark-search have one, and
moves on from there by a Kalman filter (`kalman`): far by the first lessons, less and less by later ones. A link in
several places gets the mean of their scores: the greatest would be that of the page that happened to word it best.

Pages cost requests, and so do dead links. So a score is what a link brings for its cost: R(*v*) times the chance *p*
that there is a page (`aliveness`), divided by p + ``price``, since a page costs 1, and a request ``price``. It is
multiplied by 1 + ``price``, so that a link that is surely alive keeps its R(*v*).

What was tried, what made a difference and what did not: docs/prioritizers.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import MAX_OFFSET, Evidence, window
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.pages.url_words import url_features
from focused.prioritizers.aliveness import BITS as ALIVENESS_BITS
from focused.prioritizers.aliveness import Aliveness
from focused.prioritizers.base import (
    BIAS,
    CRITIC,
    PLACE,
    Combination,
    Contribution,
    Lessons,
    Prioritizer,
    Shown,
    together,
)
from focused.prioritizers.features import Layout, LinkFeature, Look, LookAgain, Number, Place, Words
from focused.prioritizers.kalman import KalmanLearner
from focused.prioritizers.novelty import BITS as NOVELTY_BITS
from focused.prioritizers.novelty import DirectoryVisits
from focused.prioritizers.opinions import DECODED_BITS
from focused.prioritizers.options import check_made_alike
from focused.prioritizers.places import directory, elements, has_no_text, innermost, own_list, own_page, part_of_host

_DIRECTORY = "the directory it leads into"


def _source_relevance(look: Look) -> NDArray[np.float64]:
    return np.full(len(look.links), look.verdict.relevance)


def _opinion_of_text(look: Look) -> NDArray[np.float32]:
    return look.opinions[:, 0]


def _opinion_of_words_around(look: Look) -> NDArray[np.float32]:
    return look.opinions[:, 1]


def _source_relevance_again(look: LookAgain) -> NDArray[np.float32]:
    return look.source_relevance


def _opinion_of_text_again(look: LookAgain) -> NDArray[np.float32]:
    return look.opinions[:, 0]


def _opinion_of_words_around_again(look: LookAgain) -> NDArray[np.float32]:
    return look.opinions[:, 1]


def _words_around(look: Look) -> tuple[NDArray[np.int64], Ids]:
    return window(look.page, look.links, look.d_max, offsets=look.offsets)


def _words_of_address(look: Look) -> tuple[NDArray[np.int64], Ids]:
    return url_features(look.links.urls, look.page.lexicon)


FEATURES: tuple[LinkFeature, ...] = (
    *(
        Number(name=name, of=of, again=again, mean=mean, spread=spread, switch=switch, heading=CRITIC, shown=shown)
        for name, of, again, mean, spread, switch, shown in (
            (
                *("source relevance", _source_relevance, _source_relevance_again),
                *(2.0, 0.45, "source", "of the page it stands on"),
            ),
            ("anchor", _opinion_of_text, _opinion_of_text_again, 1.0, 0.35, "reads", "of the link's text"),
            (
                *("words around", _opinion_of_words_around, _opinion_of_words_around_again),
                *(1.0, 0.35, "reads", "of the words around it"),
            ),
        )
    ),
    Number(name="no text", of=has_no_text, mean=0.0, spread=0.45, shown="it has no text"),
    Words(name="words", of=_words_around, spread=2.0, switch="words"),
    Words(name="address", of=_words_of_address, spread=1.4, switch="address", alive=True),
    *(
        Place(name=name, of=of, spread=spread, trust=trust, switch=switch, heading=PLACE, alive=alive)
        for name, of, spread, trust, switch, alive in (
            ("the elements around it", elements, 1.1, "elements", "elements", False),
            ("the innermost elements", innermost, 1.1, "elements", "elements", False),
            ("this part of the host's pages", part_of_host, 1.1, "elements", "elements", True),
            ("other links of the page", own_page, 1.4, "page", "siblings", True),
            ("other links of the list", own_list, 2.0, "list", "siblings", True),
            # For novelty and aliveness alone: of R it says less than the address does.
            (_DIRECTORY, directory, 0.0, "elements", "", True),
        )
    ),
)
_BIAS = (-2.0, 1.0)
_SHOWN = {
    "novelty": Shown("", "it leads where few pages were seen"),
    "aliveness": Shown("", "it may be dead"),
}
# With 1, everything new would be as good as certain, whatever else is known of it.
_MOST_NOVELTY = 0.9
_HIT = 0.5
_FORMAT = 7


class Focused(Prioritizer):
    """Learns on the job which words, addresses and places speak for the page behind a link.

    ``d_max``: how many leaves to the left and right are looked at; ``offsets=False`` forgets where in that window a
    word was. Each part of the evidence can be left out: ``words`` around the link, ``address``, ``elements`` (the names
    of those around it), ``siblings`` (the fate of other links of its page and list), ``reads`` (the critic's opinion of
    the link's text and the words around it), ``source`` (R(*u*)). ``graded=False`` learns from R(*v*) > 0.5 alone. With
    ``rarity=False``, features that occur with almost every link are not down-weighted. ``novelty``: how much more a
    link is worth that leads to where no page was seen yet. ``spread`` multiplies how far lessons may move what is
    believed of words and places. ``price``: what a request costs where a page costs 1; with 0 it does not matter
    whether a link is alive. ``bits``: the size of the table of features.
    """

    name = "focused"
    features: ClassVar[tuple[LinkFeature, ...]] = FEATURES
    learns = True
    learns_every = 1
    late_lessons = 5

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "mean",
        seed: Seed = 0,
        d_max: Annotated[int, Meta(ge=0, le=MAX_OFFSET)] = 5,
        offsets: bool = True,
        words: bool = True,
        address: bool = True,
        elements: bool = True,
        siblings: bool = True,
        reads: bool = True,
        source: bool = True,
        graded: bool = True,
        rarity: bool = True,
        novelty: Annotated[float, Meta(ge=0, le=_MOST_NOVELTY)] = 0.005,
        spread: Annotated[float, Meta(ge=0, le=100)] = 1.0,
        price: Annotated[float, Meta(ge=0, le=100)] = 0.01,
        bits: Annotated[int, Meta(ge=8, le=24)] = 18,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        parts = {"words": words, "address": address, "elements": elements, "siblings": siblings}
        switches = {**parts, "offsets": offsets, "reads": reads, "source": source, "graded": graded, "rarity": rarity}
        self.d_max, self.offsets, self.graded = d_max, offsets, graded
        self.novelty, self.price = novelty, price
        self.learns_of_the_dead = price > 0
        reads_again = reads and critic is not None and critic.is_learning
        self.id_bits = max(bits, NOVELTY_BITS, ALIVENESS_BITS, DECODED_BITS if reads_again else 0)
        off = [name for name, is_on in switches.items() if not is_on]
        self.layout = Layout(self.features, off=off, spread=spread)
        self.dense = self.layout.dense
        self.shown = {**self.layout.shown, **BIAS, **_SHOWN}
        self.visits = DirectoryVisits()
        self.aliveness = Aliveness()
        self.learner = KalmanLearner(self.layout, bias=_BIAS, rarity=rarity, bits=bits, seed=seed)
        # What was learned means something only together with these.
        own = {"format": _FORMAT, "prioritizer": self.name}
        self._made_for = {**own, "bits": bits, "d_max": d_max, "spread": spread, **switches}

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """Words within ``d_max`` leaves, words of the address, places; what the critic says of page, anchor, words."""
        return self.layout.evidence(Look(page, verdict, links, self.critic, self.d_max, self.offsets))

    def renewed(self, evidence: Evidence, source_relevance: NDArray[np.float32]) -> Evidence:
        """What the critic says of page, anchor and words, as it would say it now."""
        return evidence if self.critic is None else self.layout.renewed(evidence, self.critic, source_relevance)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The learner's estimate of R(*v*), a little more where nobody was yet, and less where a link may be dead."""
        scores = self.learner.score(evidence)
        if self.novelty:
            scores += np.float32(self.novelty) * (1 - scores) * self.visits.novelty(self._directories(evidence))
        return scores * self._for_its_cost(evidence) if self.price else scores

    def _for_its_cost(self, evidence: Evidence) -> NDArray[np.float32]:
        """What a link brings, as a share of what it would bring if it were surely alive."""
        chance, price = self.aliveness.chance(*self.layout.of_aliveness(evidence)), np.float32(self.price)
        share: NDArray[np.float32] = chance * (1 + price) / (chance + price)
        return share

    def _directories(self, evidence: Evidence) -> Ids:
        return self.layout.place_in(evidence, _DIRECTORY)

    def learn(self, lessons: Lessons) -> Self | None:
        """A snapshot that knows these lessons, too. Dead links teach that they are dead, and nothing else."""
        # One outcome a page: the other links to it are mostly of the same kind.
        outcomes = lessons.select(np.flatnonzero(lessons.first & self.learns_of_the_dead))
        alive = lessons.select(np.flatnonzero(lessons.alive))
        if not len(outcomes) and not len(alive):
            return None
        new = copy(self)
        if len(outcomes):
            new.aliveness = self.aliveness.learn(*self.layout.of_aliveness(outcomes.evidence), outcomes.alive)
        if not len(alive):
            return new
        if not self.graded:
            alive.relevance = (alive.relevance > _HIT).astype(np.float32)
        elif self.critic is not None:
            alive.relevance = self.critic.worth(alive.relevance)
        new.learner = self.learner.learn(alive)
        new.visits = self.visits.with_more(self._directories(alive.evidence), alive.weight)
        return new

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The features of one link; those that it has several times are added up."""
        parts = together(self.learner.explain(evidence))
        parts.append(Contribution("novelty", self._from_novelty(evidence, sum(part.weight for part in parts))))
        parts.append(Contribution("aliveness", self._from_aliveness(evidence, sum(part.weight for part in parts))))
        return sorted((part for part in parts if part.weight), key=lambda part: -abs(part.weight))

    def _from_novelty(self, evidence: Evidence, odds: float) -> float:
        """What it adds to the log-odds of one link. Told from these: a score near 1 has no digits left for it."""
        share = self.novelty * float(self.visits.novelty(self._directories(evidence))[0])
        return float(np.logaddexp(0, np.log(share) - odds) - np.log1p(-share)) if share else 0.0

    def _from_aliveness(self, evidence: Evidence, odds: float) -> float:
        """What is taken from the log-odds of one link for its cost."""
        share = float(self._for_its_cost(evidence)[0]) if self.price else 1.0
        # The odds of σ(odds) · share are share / (exp(-odds) + 1 - share).
        return float(np.log(share) - np.logaddexp(0, odds + np.log1p(-share))) if share < 1 else 0.0

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What was learned of each word."""
        return self.learner.weights_of(ids)

    def state(self) -> Arrays:
        """What was learned, and the options it is bound to."""
        learned = self.visits.state() | self.aliveness.state() | self.learner.state()
        return {"made_for": np.array(json.dumps(self._made_for)), **learned}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave, if it was made with the same options."""
        check_made_alike(state, self.name, self._made_for)
        visits, aliveness = DirectoryVisits.of(state), Aliveness.of(state)
        self.learner.restore(state)
        self.visits, self.aliveness = visits, aliveness
