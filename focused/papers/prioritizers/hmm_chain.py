"""The hidden Markov model of `hmm`: clusters of pages, and counts along paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from focused.arrays import look_up
from focused.critics.bag import Vocabulary, inverse_frequencies, min_pages_for, tfidf
from focused.pages.page import Page
from focused.pages.tokens import Ids
from focused.papers.prioritizers.ground import NO_PAGE, Ground
from focused.papers.prioritizers.states import STATES, Floats, normalised
from focused.papers.prioritizers.taught import NotTaught

Mask = NDArray[np.bool_]
_LEAST_WORDS = 3


@dataclass(frozen=True)
class Clusters:
    """Clusters of pages in a latent space: a page's words, weighted by ``idf``, times ``latent``, to the nearest of
    ``centres`` by cosine. ``words`` are the ids that are known, sorted."""

    words: Ids
    idf: NDArray[np.float32]
    latent: NDArray[np.float32]
    centres: NDArray[np.float32]

    @classmethod
    def of(cls, pages: Sequence[Page], *, clusters: int, dimensions: int, seed: int) -> Self:
        """Of some pages; fewer clusters and dimensions where there are few pages."""
        vocabulary = Vocabulary(pages, min_pages_for(len(pages)))
        if len(vocabulary) < _LEAST_WORDS:
            raise NotTaught(f"{len(pages)} pages on the paths hold {len(vocabulary)} words: too few to cluster them")
        counts = vocabulary.matrix([page.bag for page in pages])
        idf = inverse_frequencies(counts).astype(np.float32)
        weighted = tfidf(counts, idf)
        fewer = max(1, min(dimensions, min(weighted.shape) - 1))
        svd = TruncatedSVD(fewer, random_state=seed).fit(weighted)
        vectors = normalize(weighted @ svd.components_.T)
        means = KMeans(min(clusters, len(np.unique(vectors, axis=0))), n_init=4, random_state=seed).fit(vectors)
        latent = np.ascontiguousarray(svd.components_.T, np.float32)
        return cls(vocabulary.ids, idf, latent, means.cluster_centers_.astype(np.float32))

    def __len__(self) -> int:
        return len(self.centres)

    def of_page(self, page: Page) -> int:
        """The number of a page's cluster."""
        ids, counts = page.bag
        at, known = look_up(self.words, ids)
        columns = at[known]
        vector = (1 + np.log(counts[known])) * self.idf[columns] @ self.latent[columns]
        vector /= max(float(np.linalg.norm(vector)), 1e-12)
        return int(((self.centres - vector) ** 2).sum(axis=1).argmin())


@dataclass(frozen=True)
class HmmModel(Clusters):
    """Beside the clusters ``transitions[i, j]`` = p(Tj after Ti), ``emissions[j, c]`` = p(a page of cluster c | Tj)."""

    transitions: Floats
    emissions: Floats

    @classmethod
    def counted(cls, ground: Ground, clusters: Clusters, *, trusted: Mask, smoothing: float) -> Self:
        """From the steps of some paths, as often as they were taken; pages not ``trusted`` count nowhere."""
        observed = [clusters.of_page(page) for page in ground.pages]
        transitions = np.full((STATES, STATES), smoothing)
        emissions = np.full((STATES, len(clusters)), smoothing)
        for (u, _, v), count in ground.steps.items():
            if trusted[v]:
                emissions[ground.layers[v], observed[v]] += count
                if u != NO_PAGE and trusted[u]:
                    transitions[ground.layers[u], ground.layers[v]] += count
        return cls(**vars(clusters), transitions=normalised(transitions), emissions=normalised(emissions))

    def seen(self, page: Page) -> Floats:
        """How well each state fits to a page."""
        return self.emissions[:, self.of_page(page)]
