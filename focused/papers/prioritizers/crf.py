"""Paths to goal pages by a conditional random field, after U. Sajjanhar, *Focused Web Crawling for E-Learning Content*
(IIT Kharagpur, 2008), chapters 3 to 5.

Sites of a kind are built alike: from a university's home page to departments, to people, to courses. A user shows
some ways to goal pages, some that fail, and names pages on the way (milestones). A linear chain of dual states is
fitted to these paths (`crf_training`, `crf_chain`); each state has a reward: how near it is to a goal (`crf_reward`).
In the crawl α and δ run along the way by which a page was reached (§5.2.5)::

    page fetched    α, δ of the page, from those of the link that led to it; label = argmax δ
    each outlink    α, δ of the link;  score = Σ_y R(y) α(y)

α and δ of a link are dense columns of its evidence, which is where the next page finds them. Where several links led
to a page, α is their mean and δ their best. The thesis planned this crawl and did not run it.

Its paths end where they fail, so what follows a failure is never seen, and links of a page that failed are as good as
any. With ``sinks`` failure leads to failure: every failing path goes on to a link and a page of which nothing is known.

What was tried: docs/crf.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page
from focused.papers.pages.headings import as_heading
from focused.papers.paths.path import PREFIX
from focused.papers.paths.stops import Stops
from focused.papers.prioritizers.crf_chain import CrfModel, Floats, alpha_step, delta_step, start
from focused.papers.prioritizers.crf_features import page_features
from focused.papers.prioritizers.crf_lessons import CrfTeaching
from focused.papers.prioritizers.features import link_features
from focused.papers.prioritizers.taught import FiguresByName, TaughtPrioritizer, TeachingProgress
from focused.prioritizers.base import Combination, Contribution
from focused.schema import Share

_SMALLEST = 1e-30
_TOLD = 0.05


class Crf(TaughtPrioritizer[CrfModel]):
    """Follows links by where on a labelled path they seem to stand."""

    name = "crf"
    model_type = CrfModel
    bound_to = ("near", "headings")
    follows_paths = True
    labels_pages = True
    kind_of_paths = "visits"

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "max",
        seed: Seed = 0,
        gamma: Share = 0.5,
        reward: Literal["thesis", "paths"] = "thesis",
        c2: Annotated[float, Meta(ge=1e-6, le=1_000_000)] = 0.2,
        least: Annotated[int, Meta(ge=1, le=1_000)] = 1,
        near: Annotated[int, Meta(ge=0, le=100)] = 10,
        headings: Sequence[str] = (),
        sinks: bool = False,
        iterations: Annotated[int, Meta(ge=1, le=10_000)] = 200,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        if not all(map(as_heading, headings)):
            raise ValueError(f"headings={headings!r}: give a list of headings of one to five words each")
        self.near, self.headings = near, sorted(set(map(as_heading, headings)))
        self._teaching = CrfTeaching(
            near=near, headings=tuple(self.headings), gamma=gamma, reward=reward, c2=c2, least=least, sinks=sinks,
            iterations=iterations,
        )  # fmt: skip

    def teach(self, paths: Sequence[Stops], progress: TeachingProgress = lambda *_: None) -> FiguresByName:
        """Fit the chain; figures are those of paths held out, of sites held out where there are several."""
        model, figures = self._teaching.run(paths, progress)
        self.adopt(model)
        return figures

    def adopt(self, model: CrfModel) -> None:
        """Take what was learned, just now or before."""
        super().adopt(model)
        self.labels: list[str] = model.labels.tolist()
        self.dense = (
            "state of the page",
            *(f"alpha {label}" for label in self.labels),
            *(f"delta {label}" for label in self.labels),
        )

    def evidence(
        self, page: Page, verdict: Verdict, links: Links, *, arrived_by: Evidence | None = None, **known: Any
    ) -> Evidence:
        """What is known of each link, and α and δ of its path up to it."""
        alpha, delta = self._states_of(page, arrived_by)
        rows = link_features(page, links, self.near)
        logits = self.model.links.logits(rows)
        alphas = np.maximum(alpha_step(alpha, self.model.to_link, logits), _SMALLEST)
        deltas = delta_step(delta, self.model.to_link, logits)
        label = np.full(len(links), np.argmax(delta))
        return Evidence.of(*rows, np.column_stack([label, alphas, deltas]).astype(np.float32), links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """Σ R(y) α(y) over the states of the link."""
        return np.clip(self._alphas(evidence) @ self.model.reward, 0, 1).astype(np.float32)

    def label_of(self, page: Page, verdict: Verdict, *, arrived_by: Evidence | None = None) -> str:
        """The most probable label of the page at the end of its path; '' for one on the way to the next milestone."""
        state = self.state_of(page, arrived_by)
        return "" if state.startswith(PREFIX) else state

    def state_of(self, page: Page, arrived_by: Evidence | None) -> str:
        """The last state of the most probable chain that ends at the page."""
        return self.labels[int(np.argmax(self._states_of(page, arrived_by)[1]))]

    def _alphas(self, evidence: Evidence) -> Floats:
        return evidence.dense[:, 1 : 1 + len(self.labels)].astype(np.float64)

    def _states_of(self, page: Page, arrived_by: Evidence | None) -> tuple[Floats, Floats]:
        """α and δ of a page."""
        chain, ids = self.model, page_features(page, tuple(self.headings))
        said = chain.pages.logits((np.array([0, len(ids)]), ids))[0]
        if arrived_by is None or not len(arrived_by):
            alpha, delta = start(len(self.labels))
            nothing = np.zeros((len(alpha), len(alpha)))
            return alpha_step(alpha, nothing, said), delta_step(delta, nothing, said)
        alpha = self._alphas(arrived_by).mean(axis=0)
        delta = arrived_by.dense[:, 1 + len(self.labels) :].max(axis=0).astype(np.float64)
        return alpha_step(alpha, chain.to_page, said), delta_step(delta, chain.to_page, said)

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """What the words of one link add to its score, each with the state it speaks for, and the states it is in.

        The score is not linear in the words: what is shown is its slope, Σ_y α(y) (R(y) - score) w(y), in units of the
        deviation of R among the link's states: rewards may differ by little, and the order of links is all that counts.
        """
        alpha = self._alphas(evidence)[0]
        reward = self.model.reward
        beyond = reward - alpha @ reward
        deviation = max(float(np.sqrt(alpha @ beyond**2)), _SMALLEST)
        ids = np.unique(evidence.ids)
        weights = self.model.links.of(ids)
        slopes = weights @ (alpha * beyond / deviation)
        towards = [self.labels[i] for i in weights.argmax(axis=1).tolist()]
        parts = [
            Contribution(feature, slope, label)
            for feature, slope, label in zip(ids.tolist(), slopes.tolist(), towards, strict=True)
            if slope
        ]
        page = self.labels[int(evidence.dense[0, 0])]
        for state in np.flatnonzero(alpha >= _TOLD).tolist():
            name = f"from {page!r} to {self.labels[state]!r} (probability {alpha[state]:.2f})"
            parts.append(Contribution(name, float(alpha[state] * reward[state])))
        return sorted(parts, key=lambda part: -abs(part.weight))

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What each feature adds to the score of a link that may be in any state."""
        reward = self.model.reward
        slopes = self.model.links.of(ids) @ (reward - reward.mean()) / len(reward)
        return np.asarray(slopes, np.float32)
