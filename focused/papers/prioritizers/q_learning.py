"""Spidering by reinforcement learning: what is a click worth, counted in targets soon to come?

J. Rennie, A. McCallum, *Using reinforcement learning to spider the web efficiently* (ICML 1999). Reward is a target;
an action is a click on a link (*u*, *v*), and its value Q is the reward that follows, each further click discounting it
by γ. A naive Bayes text classifier maps the words at a link to a value: Q is cut into bins, each bin is a class, and
the estimate is the sum of the bins' values (the mean Q of what was taught in them) weighed by their probabilities::

    Q(u, v) = γ^(clicks from u by v to a target - 1)        score(u, v) = Σ_b Pr(b | words) · Q_b

Words are those of the anchor, within ten words of it, of the address, and of *u*'s title and headings, each kind apart.

Simplified: the paper sums up the rewards of all targets in the order in which a perfect spider fetches them; here the
nearest target alone counts, since paths show no more (a page is worth its shortest way along all paths). Bins are
layers: the nearest have one each, what is beyond shares the last, with the links that no path takes; ``untaken`` is
how much of these counts beside a link that a path knows of.

What was tried: docs/classics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from focused.arrays import look_up
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import ON_PAGE, Evidence, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.papers.pages.headings import headings
from focused.papers.paths.stops import Stops
from focused.papers.prioritizers.bayes import Bayes, Floats
from focused.papers.prioritizers.clicks import NOWHERE, Clicks
from focused.papers.prioritizers.context import append_to_each
from focused.papers.prioritizers.features import link_features, rows_to_matrix
from focused.papers.prioritizers.ground import is_held_out
from focused.papers.prioritizers.taught import FiguresByName, NotTaught, TaughtPrioritizer, TeachingProgress
from focused.prioritizers.base import Combination, Contribution
from focused.schema import Share

_MOST_WORDS_OF_PAGE = 20
_LEAST_LINKS = 2


@dataclass(frozen=True)
class QModel(Bayes):
    """Classes are bins. ``words`` are the ids that are known, sorted; ``worth`` is that of each bin."""

    words: Ids
    worth: Floats

    def estimate(self, seen: Evidence) -> Floats:
        """Q of each link."""
        return np.asarray(self.posterior(rows_to_matrix((seen.starts, seen.ids), self.words)) @ self.worth)


class QLearning(TaughtPrioritizer[QModel]):
    """Scores links by the discounted reward that links with such words led to.

    ``gamma``: what a click more takes off a reward. ``bins``: so many classes of reward. ``untaken``: the weight of a
    link that no path takes, beside one that a path takes; 0 leaves them out.
    """

    name = "q-learning"
    model_type = QModel
    bound_to = ("gamma", "bins", "untaken")

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "max",
        seed: Seed = 0,
        gamma: Share = 0.5,
        bins: Annotated[int, Meta(ge=2, le=NOWHERE + 1)] = 3,
        untaken: Share = 1.0,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.gamma, self.bins, self.untaken = gamma, bins, untaken

    def teach(self, paths: Sequence[Stops], progress: TeachingProgress = lambda *_: None) -> FiguresByName:
        """Learn what links on the paths led to; figures are those of the links of one page in five, held out."""
        progress(0, 3)
        clicks = Clicks.of(paths)
        _check(clicks)
        seen = Evidence.concat([self._seen(page, page.links) for page in clicks.pages])
        weight = np.where(clicks.known, 1, self.untaken)
        progress(1, 3)
        figures = self._measure(seen, clicks, weight)
        progress(2, 3)
        self.adopt(self._fit(seen, clicks.layer, weight))
        progress(3, 3)
        return figures

    def _measure(self, seen: Evidence, clicks: Clicks, weight: Floats) -> FiguresByName:
        """Figures of the links of pages held out."""
        out = np.array([is_held_out(page.url) for page in clicks.pages])[clicks.page]
        near = clicks.layer[~out & (weight > 0)] == 0
        if not (out & clicks.known).any() or not near.any() or near.all():
            return {}
        estimate = self._fit(seen, clicks.layer, np.where(out, 0, weight)).estimate(seen)
        return self._figures(estimate, clicks, out)

    def _fit(self, seen: Evidence, layer: NDArray[np.int64], weight: Floats) -> QModel:
        """Learn from the links that have a weight."""
        rows = np.flatnonzero(weight)
        seen, layer, weight = seen.select(rows), layer[rows], weight[rows]
        ids, links = np.unique(seen.ids, return_counts=True)
        words = ids[links >= _LEAST_LINKS] if (links >= _LEAST_LINKS).any() else ids
        bins, reward = np.minimum(layer, self.bins - 1), self._reward(layer)
        bayes = Bayes.fit(rows_to_matrix((seen.starts, seen.ids), words), bins, weight=weight)
        worth = np.array([np.average(reward[bins == b], weights=weight[bins == b]) for b in bayes.classes])
        return QModel(**vars(bayes), words=words, worth=worth)

    def _reward(self, layer: NDArray[np.int64]) -> Floats:
        """Q of links that lead to pages of some layers."""
        return np.where(layer < NOWHERE, self.gamma ** layer.astype(np.float64), 0)

    def _figures(self, estimate: Floats, clicks: Clicks, held_out: NDArray[np.bool_]) -> FiguresByName:
        """How the estimates of links that paths know of rank beside the truth, and beside those of all other links."""
        reward = self._reward(clicks.layer)
        known, best = held_out & clicks.known, held_out & (clicks.layer == 0)
        figures: FiguresByName = {"links held out": int(known.sum())}
        if len(np.unique(reward[known])) > 1 and len(np.unique(estimate[known])) > 1:
            figures["rank correlation"] = float(spearmanr(estimate[known], reward[known])[0])
        if best.any() and not best[held_out].all():
            figures["links to targets above others"] = float(roc_auc_score(best[held_out], estimate[held_out]))
        return figures

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """The words at each link, and those of the page's title and headings."""
        return self._seen(page, links)

    def _seen(self, page: Page, links: Links) -> Evidence:
        rows = append_to_each(*link_features(page, links), _words_of_page(page))
        return Evidence.of(*rows, np.zeros((len(links), 0), np.float32), links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The estimate of Q."""
        return np.clip(self.model.estimate(evidence), 0, 1).astype(np.float32)

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """What each word adds to the log-odds of the best bin against the others."""
        parts = dict(zip(evidence.ids.tolist(), self.weights_of(evidence.ids).tolist(), strict=True))
        told = [Contribution(number, weight) for number, weight in parts.items() if weight]
        usual = float(np.exp(self.model.prior) @ self.model.worth)
        told.append(Contribution("what a link is usually worth", usual))
        return sorted(told, key=lambda part: -abs(part.weight))

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What was learned of each feature: its log-ratio between the best bin and the others."""
        weights = np.zeros(len(ids), np.float32)
        at, known = look_up(self.model.words, ids)
        weights[known] = self.model.says_of(0)[at[known]]
        return weights


def _words_of_page(page: Page) -> Ids:
    """The first words of a page's title and headings, each once."""
    words = page.lexicon.text_to_ids(" ".join([page.title, *headings(page)])).tolist()
    return mix(np.array(list(dict.fromkeys(words))[:_MOST_WORDS_OF_PAGE], np.uint32), ON_PAGE)


def _check(clicks: Clicks) -> None:
    layers = clicks.layer[clicks.known]
    if not (layers == 0).any():
        raise NotTaught(
            "no path shows a link to a target: give some that end with the label 'goal', at a page that the one before "
            "links to"
        )
    if not (clicks.layer > 0).any():
        raise NotTaught("all links on the paths lead to targets: paths must begin some clicks away from one")
