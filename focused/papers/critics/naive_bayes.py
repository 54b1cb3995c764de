"""The critic of the paper: multinomial naive Bayes over the leaf classes of a taxonomy.

After Chakrabarti, Punera, Subramanyam (WWW 2002), sections 2.1 and 2.3. A page *u* is a bag of words in which τ
occurs n(u, τ) times. With V_c the example pages of class c and T the vocabulary (equations 1 and 2; the text at
hand is damaged there, the sum in the denominator goes over u in V_c and τ in T):

    θ(c, τ) = (1 + Σ_{u ∈ V_c} n(u, τ)) / (|T| + Σ_{u ∈ V_c, τ'} n(u, τ'))
    Pr(c | u) ∝ Pr(c) · Π_{τ ∈ u} θ(c, τ) ^ n(u, τ)

Relevance is the sum of Pr(c | u) over the focus classes. Where no class is unwanted, general language is one more,
and the ones of equation 1 become a few hundred words spread as its frequencies are. (A class of few pages, smoothed
evenly over so large a vocabulary, finds every rare word likelier than language does, and so holds anything for
relevant: F1 0.14 on the topics of wpcd taught without negatives, instead of 0.48.)

The independence that the model assumes pushes the
probabilities of long pages to 0 and 1: `LogisticCritic` is finer where degrees of relevance are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

from focused.critics.background import BACKGROUND, language_of_pages, topic_vocabulary
from focused.critics.bag import Bag, Vocabulary, min_pages_for
from focused.critics.base import Critic, Reason, Verdict
from focused.critics.classes import ranked, strongest, wanted
from focused.critics.language import check_languages
from focused.pages.page import Page, Text
from focused.pages.tokens import end_to_end

_KNOWN_BEFORE = 300


class NaiveBayesCritic(Critic):
    """Pr(c | u) by equations 1 and 2.

    ``priors="balanced"`` makes all classes equally probable beforehand, for examples that do not mirror the web to
    be crawled. ``smoothing`` is the 1 of equation 1; classes of few pages in a large vocabulary want less.
    ``min_pages`` leaves out words that fewer example pages have (0: fitted to the number of examples).
    ``languages`` (wordfreq's codes) is for topics without negative examples; guessed when empty.

    Learned: ``vocabulary_``, ``classes_``, ``wanted_`` (is a class in focus), ``log_prior_``, ``log_theta_`` (a row
    a word, a column a class).
    """

    name = "naive-bayes"
    learns = True

    def __init__(
        self,
        *,
        priors: Literal["examples", "balanced"] = "examples",
        smoothing: Annotated[float, Meta(ge=1e-9, le=1_000_000)] = 1.0,
        min_pages: Annotated[int, Meta(ge=0, le=1_000_000)] = 0,
        languages: Sequence[str] = (),
    ) -> None:
        check_languages(languages)
        self.priors = priors
        self.smoothing = smoothing
        self.min_pages = min_pages
        self.languages = tuple(languages)

    def fit(self, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Self:
        names = sorted(set(classes))
        wanted_ = wanted(names, focus)
        member = np.array([[one == name for one in classes] for name in names], np.float64)
        min_pages = self.min_pages or min_pages_for(len(pages))
        bags = [page.bag for page in pages]
        documents = member.sum(axis=1)
        if wanted_.all():
            language = language_of_pages(pages, self.languages)
            self.vocabulary_ = topic_vocabulary(pages, language, min_pages)
            general = language.frequencies(self.vocabulary_.words)
            before = self.smoothing * _KNOWN_BEFORE * general / general.sum()
            # As many pages as the examples; its words are known beforehand, so it needs no counts.
            names, wanted_ = [*names, BACKGROUND], np.append(wanted_, False)
            documents = np.append(documents, documents.sum())
            counts = np.vstack([member @ self.vocabulary_.matrix(bags), np.zeros(len(general))])
        else:
            self.vocabulary_ = Vocabulary(pages, min_pages)
            before = np.full(len(self.vocabulary_), self.smoothing)
            counts = member @ self.vocabulary_.matrix(bags)
        self.classes_ = names
        self.wanted_ = wanted_
        shares = np.ones(len(documents)) if self.priors == "balanced" else documents
        self.log_prior_ = np.log(shares / shares.sum())
        theta = (before + counts) / (before.sum() + counts.sum(axis=1, keepdims=True))
        self.log_theta_ = np.ascontiguousarray(np.log(theta).T)
        return self

    def probabilities(self, bag: Bag) -> NDArray[np.float64]:
        """Pr(c | u) of every class; the priors where no word is known."""
        columns, counts = self.vocabulary_.columns(bag)
        joint = self.log_prior_ + counts @ self.log_theta_[columns]
        chances: NDArray[np.float64] = np.exp(joint - logsumexp(joint))
        return chances

    def judge(self, page: Page) -> Verdict:
        chances = self.probabilities(page.bag)
        return Verdict(self._relevance(chances), ranked(self.classes_, chances, self.wanted_))

    def _relevance(self, chances: NDArray[np.float64]) -> float:
        return min(float(chances[self.wanted_].sum()), 1.0)

    def score_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """An empty text, or one of unknown words, gets the focus classes' share of the priors."""
        text, columns, counts = self.vocabulary_.count(*end_to_end([text.ids for text in texts]))
        rows = csr_matrix((counts, (text, columns)), shape=(len(texts), len(self.vocabulary_)))
        joint = self.log_prior_ + rows @ self.log_theta_
        wanted_ = logsumexp(joint[:, self.wanted_], axis=1) - logsumexp(joint, axis=1)
        relevance: NDArray[np.float32] = np.minimum(np.exp(wanted_), 1).astype(np.float32)
        return relevance

    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        """Each word's part in the log odds of the best wanted against the best other class."""
        columns, counts = self.vocabulary_.columns(page.bag)
        theta = self.log_theta_[columns]
        joint = self.log_prior_ + counts @ theta
        best = int(np.argmax(np.where(self.wanted_, joint, -np.inf)))
        rival = int(np.argmax(np.where(self.wanted_, -np.inf, joint)))
        return strongest(self.vocabulary_, columns, counts * (theta[:, best] - theta[:, rival]), most)
