"""Paths towards targets by maximum-entropy Markov models.

After H. Liu, E. Milios, L. Korba, *Exploiting Multiple Features with MEMMs for Focused Web Crawling* (NLDB 2008).
Hidden states T0 … T4 are the clicks from a page to the nearest target, T4 is four or more. What is believed of the
page at position t, having seen o_1 … o_t on the way there, moves by their equation 4::

    α(Tj, t) = Σ_i α(Ti, t-1) p(Tj | Ti, o_t)         or, for ``viterbi``, with the best i in place of the sum (6)

normalised at each step. (In the paper's spelled-out form of 4, the feature functions read f(T_j, T_j', o): by their own
definition f(s_t-1, s_t, o_t), and by the normalising factor below it, the state before comes first.) α of a page
is in the dense evidence of its links, where the next page finds it; a link is judged by one step more, with a
second model of what is known before its page is there. Seeds begin with all states equal.

The paper does not say how the states give the priority: here Σ γ^j P(Tj), or the most probable state. See
`memm_features` for what is seen, `maxent` for the models, `memm_lessons` for what they are fitted to.

What was tried: docs/memm.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.arrays import starts_of
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.papers.paths.stops import Stops
from focused.papers.prioritizers.memm_features import OF_LINK, Sight
from focused.papers.prioritizers.memm_teaching import MemmTeaching, Models
from focused.papers.prioritizers.similarity import targets_of
from focused.papers.prioritizers.states import (
    NAMES,
    STATES,
    Floats,
    Inference,
    Priority,
    belief_on_arrival,
    log_odds,
    path_told,
    priority,
    step,
    uniform,
    worth,
)
from focused.papers.prioritizers.taught import FiguresByName, TaughtPrioritizer, TeachingProgress
from focused.prioritizers.base import Combination, Contribution
from focused.schema import Share

_NOTHING = np.zeros(0, np.uint32)
_SMALLEST = 1e-9
_CHUNK = 4_096


class Memm(TaughtPrioritizer[Models]):
    """Follows links by how many clicks before a target they seem to be.

    ``features``: ``all``, ``words`` or ``sim-meta``, the sets of §4.2. ``inference``: ``marginal`` or ``viterbi``.
    ``priority``: ``discounted``, the worth γ^j of the states by their probability, or ``state``, the most probable
    state and then its probability. ``keywords``: how many at most. ``near``: words on each side of a link.
    ``strength``: variance of the prior of the weights; larger trusts the paths more. ``beside``: how much a link beside
    the paths teaches that leads to none of their pages, against one that does.
    """

    name = "memm"
    model_type = Models
    bound_to = ("features", "near")
    follows_paths = True
    dense = (*(f"path: {name}" for name in NAMES), *(f"link: {name}" for name in NAMES), *OF_LINK)

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "max",
        seed: Seed = 0,
        features: Literal["all", "words", "sim-meta"] = "all",
        inference: Inference = "marginal",
        priority: Priority = "discounted",
        gamma: Share = 0.3,
        keywords: Annotated[int, Meta(ge=0, le=10_000)] = 200,
        near: Annotated[int, Meta(ge=0, le=100)] = 4,
        strength: Annotated[float, Meta(ge=1e-6, le=1_000_000)] = 0.1,
        beside: Share = 0.3,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.features, self.near = features, near
        self.inference, self.priority, self.gamma = inference, priority, gamma
        self._teaching = MemmTeaching(keywords=keywords, strength=strength, beside=beside, inference=inference)

    def teach(self, paths: Sequence[Stops], progress: TeachingProgress = lambda *_: None) -> FiguresByName:
        """Choose keywords, fit both models; figures are those of pages held out."""
        models, figures = self._teaching.run(paths, self.critic, self.said, self._sight(_NOTHING, _NOTHING), progress)
        self.adopt(models)
        return figures

    def evidence(
        self, page: Page, verdict: Verdict, links: Links, *, arrived_by: Evidence | None = None, **known: Any
    ) -> Evidence:
        """What is believed of the page after it was seen, and what is seen of each link."""
        models, belief = self.model, belief_on_arrival(arrived_by, self.inference)
        sight = self.sight
        view = sight.view(page)
        seen = sight.on_arrival(sight.of_page(view), arrived_by.ids if arrived_by is not None else _NOTHING)
        belief = step(belief, models.page.transitions(models.page.says(seen))[0], self.inference)
        of_links = _pruned(sight.of_links(view, links), models.known)
        path = np.tile(belief, (len(links), 1))
        dense = np.hstack([path, models.link.says(of_links), of_links.dense]).astype(np.float32)
        return Evidence.of(of_links.starts, of_links.ids, dense, links.first)

    def adopt(self, model: Models) -> None:
        """Take what was learned, and see by it from now on."""
        super().adopt(model)
        self.__dict__.pop("sight", None)

    @cached_property
    def sight(self) -> Sight:
        """What is looked at in a crawl."""
        return self._sight(self.model.keywords, self.model.description)

    def _sight(self, keywords: Ids, description: Ids) -> Sight:
        alone = self.features == "words"
        targets = None if alone else targets_of(self.critic, self.name, "set features = 'words'")
        return Sight(self.features, keywords, targets, self.near, description)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """By what is believed of the page behind the link."""
        scores = np.empty(len(evidence), np.float32)
        for begin in range(0, len(evidence), _CHUNK):
            some = evidence.dense[begin : begin + _CHUNK]
            belief = step(_belief(some), self._transitions(some), self.inference)
            scores[begin : begin + _CHUNK] = priority(belief, self.gamma, self.priority)
        return scores

    def _transitions(self, dense: NDArray[np.float32]) -> Floats:
        # What is seen of a link never says another thing, so it is not added up again.
        return self.model.link.transitions(dense[:, STATES : 2 * STATES])

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """What each feature of a link adds to the log-odds of Σ γ^j P(Tj), to first order, and what the path adds."""
        belief = _belief(evidence.dense)[0]
        worths = worth(self.gamma)
        chances = self._transitions(evidence.dense)[0]
        said = chances @ worths
        total = float(belief @ said)
        pull = belief @ (chances * (worths - said[:, None])) / max(total * (1 - total), _SMALLEST)
        seen = Evidence.of(evidence.starts, evidence.ids, evidence.dense[:, 2 * STATES :])
        parts = self.model.link.contributions(seen, pull, OF_LINK)
        parts.append(path_told(belief, log_odds(total) - log_odds(float(uniform() @ said))))
        return sorted(parts, key=lambda part: -abs(part.weight))

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """How far each feature of a link moves the worth of the states, beside their mean."""
        worths = worth(self.gamma)
        return self.model.link.weights_of(ids, worths - worths.mean())


def _belief(dense: NDArray[np.float32]) -> Floats:
    return dense[:, :STATES].astype(np.float64)


def _pruned(seen: Evidence, known: Ids) -> Evidence:
    """Without the features of which nothing was learned."""
    kept = np.isin(seen.ids, known)
    starts = starts_of(kept)[seen.starts]
    return Evidence.of(starts, seen.ids[kept], seen.dense, seen.leaf)
