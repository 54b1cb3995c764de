"""A critic whose relevance is graded: logistic regression on TF-IDF.

Relevance comes from one balanced logistic regression, focus against rest. With more than two classes, a second
model only shares it out among the classes by name: one-vs-rest least squares, in closed form. (Tried for that and
left: multinomial logistic regression, which on 110 classes of wpcd took 9 s instead of 0.5 and named 49 % of held
out pages rightly instead of 57 %, on 9 classes of uci 86 % instead of 90 %.)

The strength of the regularisation was chosen over all topics of the three webs that `bench/critics.py` measures:
ranking hardly depends on it, but below 10 most of the relevance goes to pages off the topic, and above it the pages
of small topics fall below 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from scipy.special import expit, softmax

from focused.critics.background import BACKGROUND, language_of_pages, pseudo_pages, topic_vocabulary
from focused.critics.bag import Bag, Vocabulary, inverse_frequencies, min_pages_for, tfidf
from focused.critics.base import Critic, Reason, Verdict
from focused.critics.classes import ranked, strongest, wanted
from focused.critics.language import check_languages
from focused.options import Seed
from focused.pages.page import Page, Text
from focused.pages.tokens import Ids, end_to_end

_PSEUDO_PAGES = 200
_CLOSED_FORM_UP_TO = 4_000
_RIDGE = 0.1
_TINY = 1e-12
_SHARPNESS = 4.0
"""Least squares say about 1 for the right class and 0 for the others; times this and the log of the number of classes
they make a softmax whose log-loss on held out pages is about the least on wpcd, uci and webkb."""


class LogisticCritic(Critic):
    """R(u) by balanced logistic regression on TF-IDF (1 + log tf, smoothed idf, length 1).

    ``strength`` is scikit-learn's C: larger trusts the examples more. ``min_pages`` leaves out words that fewer
    example pages have (0: fitted to the number of examples). ``languages`` (wordfreq's codes) is for topics without
    negative examples; guessed when empty. ``seed`` draws the pages that then represent general language.

    Learned: ``vocabulary_``, ``idf_``, ``coef_`` and ``intercept_`` of the relevance, ``classes_``, ``wanted_``, and
    with more than two classes ``class_coef_`` (a row a word, a column a class; the last row is the intercept).
    """

    name = "logistic"
    learns = True

    def __init__(
        self,
        *,
        strength: Annotated[float, Meta(ge=1e-9, le=1_000_000)] = 10.0,
        min_pages: Annotated[int, Meta(ge=0, le=1_000_000)] = 0,
        languages: Sequence[str] = (),
        seed: Seed = 0,
    ) -> None:
        check_languages(languages)
        self.strength = strength
        self.min_pages = min_pages
        self.languages = tuple(languages)
        self.seed = seed

    def fit(self, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Self:
        names = sorted(set(classes))
        wanted_ = wanted(names, focus)
        min_pages = self.min_pages or min_pages_for(len(pages))
        bags = [page.bag for page in pages]
        labels = np.array([names.index(one) for one in classes])
        if wanted_.all():
            language = language_of_pages(pages, self.languages)
            self.vocabulary_ = topic_vocabulary(pages, language, min_pages)
            lengths = np.resize([len(page.ids) for page in pages], max(_PSEUDO_PAGES, len(pages)))
            general = pseudo_pages(self.vocabulary_, language, lengths.tolist(), self.seed)
            labels = np.append(labels, np.full(len(general), len(names)))
            bags, names, wanted_ = bags + general, [*names, BACKGROUND], np.append(wanted_, False)
        else:
            self.vocabulary_ = Vocabulary(pages, min_pages)
        self.classes_ = names
        self.wanted_ = wanted_
        self._fit_bags(bags, labels)
        return self

    def _fit_bags(self, bags: Sequence[Bag], labels: NDArray[np.int64]) -> None:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # half a second, for teaching only

        counts = self.vocabulary_.matrix(bags)
        self.idf_ = inverse_frequencies(counts).astype(np.float32)
        rows = tfidf(counts, self.idf_)
        model = LogisticRegression(C=self.strength, class_weight="balanced", max_iter=300, tol=1e-3)
        model.fit(rows, self.wanted_[labels])
        self.coef_ = model.coef_[0].astype(np.float32)
        self.intercept_ = float(model.intercept_[0])
        self.class_coef_ = self._name_classes(rows, labels) if len(self.classes_) > 2 else None

    def _name_classes(self, rows: csr_matrix, labels: NDArray[np.int64]) -> NDArray[np.float32]:
        from sklearn.linear_model import Ridge  # noqa: PLC0415  # as above
        from sklearn.utils.class_weight import compute_sample_weight  # noqa: PLC0415

        # 4,000 pages make a dense system of 128 MB; beyond, iterate.
        solver = "cholesky" if rows.shape[0] <= _CLOSED_FORM_UP_TO else "sparse_cg"
        model = Ridge(alpha=_RIDGE, fit_intercept=False, solver=solver)
        with_one = hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
        target = (labels[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        model.fit(with_one, target, sample_weight=compute_sample_weight("balanced", labels))
        return np.ascontiguousarray(model.coef_.T, dtype=np.float32)

    def rows(self, bags: Sequence[Bag]) -> csr_matrix:
        """TF-IDF of some pages."""
        return tfidf(self.vocabulary_.matrix(bags), self.idf_)

    def relevance_of(self, rows: csr_matrix) -> NDArray[np.float64]:
        """R of some pages."""
        return np.asarray(expit(rows @ self.coef_ + self.intercept_), np.float64)

    def verdicts(self, rows: csr_matrix, relevance: NDArray[np.float64]) -> list[Verdict]:
        """The verdicts on some pages, if this is their R."""
        chances = self._chances(rows, relevance[:, None])
        pairs = zip(relevance.tolist(), chances, strict=True)
        return [Verdict(one, ranked(self.classes_, row, self.wanted_)) for one, row in pairs]

    def _chances(self, rows: csr_matrix, relevance: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of every class; those of the focus sum to R."""
        if self.class_coef_ is None:
            return np.where(self.wanted_, relevance, 1 - relevance)
        said = rows @ self.class_coef_[:-1] + self.class_coef_[-1]
        named = softmax(_SHARPNESS * np.log(said.shape[1]) * said, axis=1)
        share = np.clip(named[:, self.wanted_].sum(axis=1, keepdims=True), _TINY, 1 - _TINY)
        return np.asarray(named * np.where(self.wanted_, relevance / share, (1 - relevance) / (1 - share)))

    def judge(self, page: Page) -> Verdict:
        rows = self.rows([page.bag])
        (verdict,) = self.verdicts(rows, self.relevance_of(rows))
        return verdict

    def score_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        return self.score_words(*end_to_end([text.ids for text in texts]), len(texts))

    def score_words(self, ids: Ids, text: NDArray[np.int64], texts: int) -> NDArray[np.float32]:
        """The relevance of short texts, by the ids of their words; ``text`` is the text of each word.

        An empty text, or one of unknown words, gets the relevance of a page without words: the intercept's.

        A text is read as if it held one rare word more that is unknown: a single word is no proof. (On anchors of
        wpcd and uci this ranks a little better than without.)
        """
        text, columns, counts = self.vocabulary_.count(ids, text)
        values = (1 + np.log(counts, dtype=np.float32)) * self.idf_[columns]
        unknown = float(self.idf_.max(initial=1.0))
        norms = np.sqrt(np.bincount(text, values * values, texts) + unknown**2)
        said = np.bincount(text, values * self.coef_[columns], texts) / norms
        relevance: NDArray[np.float32] = expit(said + self.intercept_).astype(np.float32)
        return relevance

    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        """Each word's part in the log odds of relevance."""
        row = self.rows([page.bag])
        return strongest(self.vocabulary_, row.indices, row.data * self.coef_[row.indices], most)
