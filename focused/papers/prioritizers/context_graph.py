"""Context-focused crawling: how many clicks a page is away from a target, by its words.

M. Diligenti, F. Coetzee, S. Lawrence, C. L. Giles, M. Gori, *Focused crawling using context graphs* (VLDB 2000). A
target's context graph has the target in layer 0, the pages that link to it in layer 1, those that link to them in layer
2, and so on; the graphs of all targets are merged. A page is represented by its ``words`` words of highest TF-IDF, and
a naive Bayes classifier with equal priors names its layer. Links wait in a queue for each layer: from the first
queue that is not empty, the link is taken whose page is most surely of that layer. A page whose layer is less certain
than a threshold goes to a last queue, "other". With layers 0 … N, and N + 1 for "other"::

    score(u, v) = 1 - (queue(u) + 1 - Pr(layer(u) | u)) / (N + 2)        queue(u) = layer(u), or N + 1 for "other"

Simplified: layers come from taught paths (where each page counts once, with its shortest way to a target), not from a
search engine's backlinks. Document frequencies are those of these pages. A word of a page counts once. One classifier
of all layers takes the place of one for each. The threshold is where ``other`` of the pages held out would fall below
it.

Changed: in the paper the links of pages that look like targets come first. Where targets hardly link to one another
(course pages behind a hub) such a crawl drowns in what lies behind them. So the paths decide: first, if a link of a
target leads to a target as often as a link of a page in layer 1 does, else last; ``own_queue`` overrules it.

What was tried: docs/classics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from focused.arrays import look_up, starts_of
from focused.critics.bag import Vocabulary, inverse_frequencies, min_pages_for
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import ON_PAGE, Evidence, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.papers.paths.stops import FURTHEST, Stops
from focused.papers.prioritizers.bayes import Bayes, Floats
from focused.papers.prioritizers.clicks import Clicks
from focused.papers.prioritizers.ground import is_held_out
from focused.papers.prioritizers.taught import FiguresByName, TaughtPrioritizer, TeachingProgress
from focused.prioritizers.base import Combination, Contribution

LAYERS = FURTHEST + 1
OTHER = LAYERS
_WORDS_TOLD = 8


@dataclass(frozen=True)
class BestWords:
    """The ``most`` words of highest TF-IDF represent a page; ``words`` are the ids that are known, sorted."""

    words: Ids
    idf: Floats
    most: int

    @classmethod
    def of(cls, pages: Sequence[Page], most: int) -> Self:
        """As frequent as they are on some pages."""
        vocabulary = Vocabulary(pages, min_pages_for(len(pages)))
        return cls(vocabulary.ids, inverse_frequencies(vocabulary.matrix([page.bag for page in pages])), most)

    def columns(self, page: Page) -> NDArray[np.int64]:
        """Which of the words represent a page."""
        ids, counts = page.bag
        at, known = look_up(self.words, ids)
        columns = at[known]
        if len(columns) <= self.most:
            return columns
        weights = (1 + np.log(counts[known])) * self.idf[columns]
        return np.sort(columns[np.argsort(-weights, kind="stable")[: self.most]])

    def rows(self, pages: Sequence[Page]) -> csr_matrix:
        """The words that represent each page, as a row of ones."""
        rows = [self.columns(page) for page in pages]
        starts = starts_of([len(row) for row in rows])
        columns = np.concatenate([np.zeros(0, np.int64), *rows])
        return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(rows), len(self.words)))


@dataclass(frozen=True)
class ContextModel:
    """A classifier whose classes are layers. A page whose layer is less certain than ``least_sure`` is in none.

    ``own_queue`` is where links of pages wait that look like targets.
    """

    best: BestWords
    bayes: Bayes
    least_sure: float = 0.0
    own_queue: int = 0

    def chances(self, pages: Sequence[Page]) -> Floats:
        """How probable each layer is, a row a page."""
        told = np.zeros((len(pages), LAYERS))
        told[:, self.bayes.classes] = self.bayes.posterior(self.best.rows(pages))
        return told


class ContextGraph(TaughtPrioritizer[ContextModel]):
    """Scores links by how near to a target their page looks.

    ``words``: how many words stand for a page. ``other``: which share of pages is too doubtful for any layer.
    ``own_queue``: where the links of pages wait that look like targets themselves; None lets the paths decide.
    """

    name = "context-graph"
    model_type = ContextModel
    bound_to = ("words", "other")
    dense = ("layer of the page", "how surely")

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "max",
        seed: Seed = 0,
        words: Annotated[int, Meta(ge=1, le=10_000)] = 40,
        other: Annotated[float, Meta(ge=0, le=0.9)] = 0.05,
        own_queue: Annotated[int, Meta(ge=0, le=OTHER)] | None = None,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.words, self.other, self.own_queue = words, other, own_queue

    def teach(self, paths: Sequence[Stops], progress: TeachingProgress = lambda *_: None) -> FiguresByName:
        """Learn the layers of the pages on the paths; figures are those of one page in five, held out."""
        progress(0, 2)
        clicks = Clicks.of(paths)
        pages, layers = clicks.pages, np.minimum(clicks.layers, FURTHEST)
        figures, least_sure = self._measure(pages, layers)
        progress(1, 2)
        own_queue = 0 if _to_targets(clicks, 0) >= _to_targets(clicks, 1) else OTHER
        self.adopt(replace(self._fit(pages, layers), least_sure=least_sure, own_queue=own_queue))
        progress(2, 2)
        return figures

    def _measure(self, pages: Sequence[Page], layers: NDArray[np.int64]) -> tuple[FiguresByName, float]:
        """Figures of pages held out, and the threshold that they give."""
        out = np.array([is_held_out(page.url) for page in pages])
        if not out.any() or set(layers[~out]) != set(layers):
            return {}, 0.0
        model = self._fit([pages[i] for i in np.flatnonzero(~out).tolist()], layers[~out])
        told = model.chances([pages[i] for i in np.flatnonzero(out).tolist()])
        least_sure = float(np.quantile(told.max(axis=1), self.other)) if self.other else 0.0
        return _figures(told, layers[out]), least_sure

    def _fit(self, pages: Sequence[Page], layers: NDArray[np.int64]) -> ContextModel:
        best = BestWords.of(pages, self.words)
        return ContextModel(best, Bayes.fit(best.rows(pages), layers, prior=False))

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """The layer of the page, how certain it is, and the words that say most about it."""
        (told,) = self.model.chances([page])
        layer = int(told.argmax())
        n, ids = len(links), mix(self._telling(page, layer), ON_PAGE)
        found = OTHER if told[layer] < self.model.least_sure else layer
        dense = np.tile(np.array([found, told[layer]], np.float32), (n, 1))
        return Evidence.of(np.arange(n + 1, dtype=np.int64) * len(ids), np.tile(ids, n), dense, links.first)

    def _telling(self, page: Page, layer: int) -> Ids:
        best, bayes = self.model.best, self.model.bayes
        columns = best.columns(page)
        strongest = np.argsort(-bayes.says_of(layer)[columns], kind="stable")[:_WORDS_TOLD]
        return best.words[columns[strongest]]

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The place of the queue, and inside it how surely."""
        layer, surely = evidence.dense[:, 0], evidence.dense[:, 1]
        queue = np.where(layer == 0, self.model.own_queue if self.own_queue is None else self.own_queue, layer)
        score: NDArray[np.float32] = np.clip(1 - (queue + 1 - surely) / (LAYERS + 1), 0, 1).astype(np.float32)
        return score

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The page's layer and its certainty, as parts of the score; and the words that show it, as log-ratios."""
        layer, surely = int(evidence.dense[0, 0]), float(evidence.dense[0, 1]) / (LAYERS + 1)
        where = (
            "its page looks like no layer"
            if layer == OTHER
            else f"its page looks {layer} click{'' if layer == 1 else 's'} from a target"
        )
        parts = [
            Contribution(where, float(self.score(evidence)[0]) - surely),
            Contribution(self.dense[1], surely),
            *self._told_by(evidence.ids, layer),
        ]
        return sorted(parts, key=lambda part: -abs(part.weight))

    def _told_by(self, ids: Ids, layer: int) -> list[Contribution]:
        if layer == OTHER:
            return []
        mixed = mix(self.model.best.words, ON_PAGE)
        order = np.argsort(mixed)
        columns = order[np.searchsorted(mixed, ids, sorter=order)]
        weights = self.model.bayes.says_of(layer)[columns].tolist()
        return [Contribution(number, weight) for number, weight in zip(ids.tolist(), weights, strict=True)]


def _to_targets(clicks: Clicks, layer: int) -> float:
    """Which share of the links of a layer's pages lead to a target that a path knows of."""
    behind = clicks.layer[clicks.away & (clicks.layers[clicks.page] == layer)]
    return float(np.mean(behind == 0)) if len(behind) else 0.0


def _figures(told: Floats, layers: NDArray[np.int64]) -> FiguresByName:
    """How often the layer of pages is right, and how often it is wrong by one at most."""
    missed = np.abs(told.argmax(axis=1) - layers)
    by_layer = [float(np.mean(missed[layers == layer] == 0)) for layer in np.unique(layers)]
    return {
        "pages held out": len(layers),
        "accuracy": float(np.mean(missed == 0)),
        "balanced accuracy": float(np.mean(by_layer)),
        "within one layer": float(np.mean(missed <= 1)),
    }
