"""Paths towards targets by a hidden Markov model.

After H. Liu, J. Janssen, E. Milios, *Using HMM to learn user browsing patterns for focused web crawling* (Data &
Knowledge Engineering 59(2), 2006): the crawler before `memm`.

Hidden states T0 … T4 are the clicks from a page to the nearest target, T4 is four or more. What is observed of a page
is its cluster: pages are vectors of latent semantic indexing (a truncated SVD of TF-IDF) clustered by k-means. With
transitions a[i, j] and emissions b[j, c], counted along taught paths, what is believed moves with each page::

    α(Tj, t) ∝ b[j, cluster of page t] · Σ_i α(Ti, t-1) a[i, j]        (the best i in place of the sum for ``viterbi``)

and the child's state is foretold by one step more without an observation, Σ_j α(Tj, t) a[j, ·]. All links of a page
share it: the words of a link count for nothing, which is what `memm` has changed.

Simplified: k-means with a given number of clusters where the paper has X-means, which finds one; paths drawn from a web
or given by a user, where the paper also has the visits of a person; seeds begin with all states equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.papers.paths.stops import Stops
from focused.papers.prioritizers.ground import LEAST_STEPS, NO_PAGE, Ground, figures_of, prior_of
from focused.papers.prioritizers.hmm_chain import Clusters, HmmModel
from focused.papers.prioritizers.states import (
    NAMES,
    Inference,
    Priority,
    belief_on_arrival,
    log_odds,
    normalised,
    path_told,
    priority,
    step,
    uniform,
)
from focused.papers.prioritizers.taught import FiguresByName, TaughtPrioritizer, TeachingProgress
from focused.prioritizers.base import Combination, Contribution
from focused.schema import Share


class Hmm(TaughtPrioritizer[HmmModel]):
    """Follows links of pages that seem to be on the way to a target, by the clusters of the pages on the way.

    ``clusters`` and ``dimensions`` of the latent space: fewer see less, more remember the pages they were taught by.
    ``smoothing``: how often each transition and emission counts as seen beside what was seen. ``inference``,
    ``priority`` and ``gamma`` as for `memm`.
    """

    name = "hmm"
    model_type = HmmModel
    bound_to = ("clusters", "dimensions")
    follows_paths = True
    dense = tuple(f"path: {name}" for name in NAMES)

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "mean",
        seed: Seed = 0,
        inference: Inference = "marginal",
        priority: Priority = "discounted",
        gamma: Share = 0.3,
        clusters: Annotated[int, Meta(ge=2, le=1_000)] = 50,
        dimensions: Annotated[int, Meta(ge=1, le=1_000)] = 50,
        smoothing: Annotated[float, Meta(ge=1e-6, le=1_000)] = 1.0,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self.inference, self.priority, self.gamma = inference, priority, gamma
        self.clusters, self.dimensions, self.smoothing = clusters, dimensions, smoothing

    def teach(self, paths: Sequence[Stops], progress: TeachingProgress = lambda *_: None) -> FiguresByName:
        """Cluster and count, once without the pages held out for the figures, and once with all."""
        ground = Ground.of(paths)
        ground.check(LEAST_STEPS)
        seen = ~ground.held_out()
        progress(0, 2)
        figures = self._figures(ground, self._fit(ground, seen), seen) if seen.any() and not seen.all() else {}
        progress(1, 2)
        self.adopt(self._fit(ground, np.ones(len(seen), np.bool_)))
        progress(2, 2)
        return {"pages": float(len(seen)), "clusters": float(len(self.model)), **figures}

    def _fit(self, ground: Ground, trusted: NDArray[np.bool_]) -> HmmModel:
        pages = [page for page, trust in zip(ground.pages, trusted.tolist(), strict=True) if trust]
        clusters = Clusters.of(pages, clusters=self.clusters, dimensions=self.dimensions, seed=self.seed)
        return HmmModel.counted(ground, clusters, trusted=trusted, smoothing=self.smoothing)

    def _figures(self, ground: Ground, model: HmmModel, seen: NDArray[np.bool_]) -> FiguresByName:
        """Follows each path; what is said of pages held out counts."""
        fits = [model.seen(page) for page in ground.pages]
        pages, links, rows = [], [], []
        for path in ground.paths:
            coming = uniform()
            for _, _, v in path:
                rows.append(v)
                links.append(coming)
                pages.append(normalised(coming * fits[v]))
                coming = step(pages[-1], model.transitions, self.inference)
        layers, out = np.array(ground.layers)[rows], ~seen[rows]
        begins = np.array([u == NO_PAGE for path in ground.paths for u, _, _ in path])
        prior = prior_of(layers[~out], np.ones((~out).sum()))
        figures: FiguresByName = {}
        for what, told, of in (("pages", pages, out), ("links", links, out & ~begins)):
            figures |= figures_of(what, np.array(told)[of], layers[of], np.ones(of.sum()), prior)
        return figures

    def evidence(
        self, page: Page, verdict: Verdict, links: Links, *, arrived_by: Evidence | None = None, **known: Any
    ) -> Evidence:
        """What is foretold of the page's children: the same for all its links."""
        belief = normalised(belief_on_arrival(arrived_by, self.inference) * self.model.seen(page))
        foretold = step(belief, self.model.transitions, self.inference)
        dense = np.tile(foretold.astype(np.float32), (len(links), 1))
        return Evidence.of_numbers(dense, links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """By the states foretold."""
        return priority(evidence.dense.astype(np.float64), self.gamma, self.priority)

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The path is all there is."""
        belief = evidence.dense[0].astype(np.float64)
        plain = priority(uniform(), self.gamma, "discounted")
        said = priority(belief, self.gamma, "discounted")
        return [path_told(belief, log_odds(float(said)) - log_odds(float(plain)))]
