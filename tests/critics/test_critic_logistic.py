"""Logistic regression: the arithmetic against scikit-learn's own, grading, naming, background."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from focused.critics.background import BACKGROUND
from focused.critics.logistic import LogisticCritic
from focused.options import make
from focused.pages.page import Text
from focused.pages.tokens import words
from focused.testing.toys import BIRDS, MEALS, STARS, examples, page


def test_relevance_is_that_of_scikit_learn() -> None:
    texts = [*BIRDS, *STARS, *MEALS]
    labels = np.array([True] * 4 + [False] * 8)
    tfidf = TfidfVectorizer(tokenizer=words, token_pattern=None, lowercase=False, sublinear_tf=True)
    model = LogisticRegression(C=3.0, class_weight="balanced", tol=1e-3, max_iter=300)
    model.fit(tfidf.fit_transform(texts), labels)
    names = ["in"] * 4 + ["out"] * 8
    critic = LogisticCritic(strength=3.0).fit([page(text) for text in texts], names, ["in"])
    new = ["An owl in its nest", "A soup of stars", "The bird sees the planet, and the bread", "nothing at all"]
    expected = model.predict_proba(tfidf.transform(new))[:, 1]
    assert [critic.judge(page(text)).relevance for text in new] == pytest.approx(expected, abs=2e-3)


def test_relevance_is_graded() -> None:
    pages, classes = examples()
    critic = LogisticCritic().fit(pages, classes, ["nature.birds"])
    mixed = [page(" ".join([BIRDS[0]] * share + [MEALS[0]] * (4 - share))) for share in range(5)]
    relevance = [critic.judge(one).relevance for one in mixed]
    assert relevance == sorted(relevance)
    assert relevance[0] < relevance[1] < relevance[4]


def test_a_text_of_one_telling_word_is_less_certain_than_a_page_of_them() -> None:
    pages, classes = examples()
    critic = LogisticCritic().fit(pages, classes, ["nature.birds"])
    few, many = Text.of("bird"), Text.of("bird owl feathers nest beak")
    read = critic.score_texts([few, many])
    assert critic.score_texts([Text.of("")])[0] < read[0] < read[1]


def test_classes_are_named() -> None:
    pages, classes = examples()
    critic = LogisticCritic().fit(pages, classes, ["nature"])
    assert critic.judge(page("A telescope, a planet and a star in the galaxy")).best_class == "nature.stars"
    assert critic.judge(page("Flour, butter and salt: bake the bread in the oven")).best_class == "meals"


def test_without_negatives_general_language_is_the_other_class() -> None:
    critic = LogisticCritic().fit([page(text) for text in BIRDS * 2], ["birds"] * 8, [])
    assert critic.classes_ == ["birds", BACKGROUND]
    owl = critic.judge(page("The owl is a bird: feathers, a nest, eggs.")).relevance
    assert owl > 0.5 > max(critic.judge(page(text)).relevance for text in MEALS)


def test_the_same_examples_make_the_same_critic() -> None:
    pages, classes = examples(negatives=False)
    one, other = (LogisticCritic(seed=4).fit(pages, classes, []) for _ in range(2))
    assert (one.coef_ == other.coef_).all()


def test_a_class_of_one_page_does_not_break_naming() -> None:
    pages, classes = examples()
    critic = LogisticCritic().fit([*pages, page("A lonely topic about trains")], [*classes, "trains"], ["nature"])
    assert "trains" in critic.classes_


@pytest.mark.parametrize(
    "wrong",
    [
        {"strength": 0}, {"strength": "much"}, {"strength": float("nan")}, {"min_pages": 1.5}, {"min_pages": "few"},
        {"languages": "en"}, {"languages": ["tlh"]}, {"seed": -1}, {"seed": "a"},
    ],
)  # fmt: skip
def test_wrong_options_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        make(LogisticCritic, wrong, table="critic")
