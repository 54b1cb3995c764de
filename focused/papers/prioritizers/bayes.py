"""Naive Bayes over words, for prioritizers that are taught by paths.

A class's rates are smoothed relative frequencies (scikit-learn's `MultinomialNB`); what is seen of a page or a link is
a row of counts over the words that are known. Products of many rates say 0 or 1 and nothing between, so that all links
would rank alike: the log-likelihood of a row of n words is divided by √n, which changes no order of the classes of one
row when they are equally frequent, only how sure it sounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import softmax
from sklearn.naive_bayes import MultinomialNB

from focused.papers.prioritizers.taught import NotTaught

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bayes:
    """Learned: the ``classes`` (numbers), a row of ``rates`` for each, log p(word | class), and their log ``prior``."""

    classes: NDArray[np.int64]
    rates: Floats
    prior: Floats

    @staticmethod
    def fit(
        counts: csr_matrix, classes: NDArray[np.int64], *, weight: Floats | None = None, prior: bool = True
    ) -> Bayes:
        """From rows of counts and their classes; without ``prior`` all classes are as probable."""
        if not counts.shape[1]:
            raise NotTaught("there are no words on the pages of the paths to learn from: were they read as HTML?")
        model = MultinomialNB(fit_prior=prior).fit(counts, classes, sample_weight=weight)
        return Bayes(model.classes_, model.feature_log_prob_, model.class_log_prior_)

    def posterior(self, counts: csr_matrix) -> Floats:
        """p(class | row), a row each."""
        length = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
        likelihood = (counts @ self.rates.T) / np.sqrt(length)[:, None]
        found: Floats = softmax(likelihood + self.prior, axis=1)
        return found

    def says_of(self, wanted: int) -> Floats:
        """For each word how much more often it stands in one class than in the others, as a log-ratio."""
        one = self.classes == wanted
        ratio: Floats = self.rates[one].sum(axis=0) - self.rates[~one].mean(axis=0)
        return ratio
