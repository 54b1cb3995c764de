"""Shark-search: fish-search with degrees of relevance, and with an eye for what stands around a link.

M. Hersovici, M. Jacovi, Y. Maarek, D. Pelleg, M. Shtalhaim, S. Ur, *The shark-search algorithm. An application:
tailored Web site mapping* (WWW 1998), §2.2. With sim(*q*, ·) the similarity to what is sought, in [0, 1]::

    inherited(v)    = δ·sim(q, u)         when u is relevant
                      δ·inherited(u)      when it is not
    anchor(v)       = sim(q, the link's text)
    context(v)      = 1                   when the link's text is relevant
                      sim(q, the words around it)    when it is not
    neighbourhood   = β·anchor + (1 - β)·context
    potential(v)    = γ·inherited + (1 - γ)·neighbourhood

The score is potential(*v*). Where several links lead to a page the greatest counts, as in the paper.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page, texts_of
from focused.papers.prioritizers.features import anchor_spans
from focused.papers.prioritizers.similarity import By, Similarity
from focused.prioritizers.base import Combination, Contribution, Prioritizer
from focused.schema import Share


class SharkSearch(Prioritizer):
    """Scores links by their page's relevance, handed down and fading, and by the words in and around them."""

    name = "shark-search"
    dense = ("inherited score", "anchor", "words around")
    follows_paths = True

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "max",
        seed: Seed = 0,
        by: By = "critic",
        delta: Share = 0.5,
        beta: Share = 0.8,
        gamma: Share = 0.5,
        relevant: Share = 0.5,
        words: Annotated[int, Meta(ge=0, le=1_000)] = 10,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        self._similarity = Similarity(critic, by, self.name)
        self.delta, self.beta, self.gamma = delta, beta, gamma
        self.relevant, self.words = relevant, words

    def evidence(
        self, page: Page, verdict: Verdict, links: Links, *, arrived_by: Evidence | None = None, **known: Any
    ) -> Evidence:
        """The inherited score, and the similarity of each link's text and of the words around it."""
        dense = np.empty((len(links), 3), np.float32)
        dense[:, 0] = self._inherited(self._similarity.of_page(page, verdict), arrived_by)
        dense[:, 1], dense[:, 2] = self._neighbourhood(page, links)
        return Evidence.of_numbers(dense, links.first)

    def _inherited(self, similarity: float, arrived_by: Evidence | None) -> float:
        """What the links of a page inherit."""
        if arrived_by is None or similarity > self.relevant:
            return self.delta * similarity
        return self.delta * float(arrived_by.dense[:, 0].max())

    def _neighbourhood(self, page: Page, links: Links) -> NDArray[np.float32]:
        """Similarity of anchors and of their contexts, a row each."""
        begin, end = anchor_spans(page, links)
        anchors = texts_of(page, begin, end)
        contexts = texts_of(page, np.maximum(begin - self.words, 0), end + self.words)
        anchor, context = self._similarity.of_texts([*anchors, *contexts]).reshape(2, -1)
        return np.stack([anchor, np.where(anchor > self.relevant, 1, context)])

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The potential score."""
        potential: NDArray[np.float32] = np.clip(evidence.dense @ self._weights(), 0, 1)
        return potential

    def _weights(self) -> NDArray[np.float32]:
        beta, gamma = self.beta, self.gamma
        return np.array([gamma, (1 - gamma) * beta, (1 - gamma) * (1 - beta)], np.float32)

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The three parts of the score."""
        parts = zip(self.dense, (evidence.dense[0] * self._weights()).tolist(), strict=True)
        return sorted((Contribution(name, part) for name, part in parts), key=lambda part: -abs(part.weight))
