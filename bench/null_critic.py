"""A critic that does not look: for measuring what everything else costs."""

import numpy as np

from focused.critics.base import Critic, Verdict


class NullCritic(Critic):
    name = "null"
    learns = False

    def fit(self, pages, classes, focus):
        return self

    def judge(self, page):
        return Verdict(0.5)

    def score_texts(self, texts):
        return np.full(len(texts), 0.5, np.float32)

    def explain(self, page, most=10):
        return []
