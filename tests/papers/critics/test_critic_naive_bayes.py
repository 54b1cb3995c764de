"""Equations 1 and 2 of the paper, worked by hand on three tiny pages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from focused.critics.background import BACKGROUND
from focused.options import make
from focused.pages.page import Page, Text, page_from_html
from focused.papers.critics.naive_bayes import NaiveBayesCritic
from focused.testing.toys import BIRDS, MEALS, page


def text(words: str) -> Page:
    return page_from_html(words, "http://a.example/")


# T = {owl, star, the}; class "in": owl 2, the 1 (two pages); class "out": star 2, the 1 (one page).
PAGES = [text("owl the"), text("owl"), text("star star the")]
CLASSES = ["in", "in", "out"]


@pytest.fixture
def critic() -> NaiveBayesCritic:
    return NaiveBayesCritic().fit(PAGES, CLASSES, ["in"])


def theta(critic: NaiveBayesCritic, word: str) -> dict[str, float]:
    column = critic.vocabulary_.words.index(word)
    return dict(zip(critic.classes_, np.exp(critic.log_theta_[column]), strict=True))


def test_equation_1(critic: NaiveBayesCritic) -> None:
    # (1 + n) / (|T| + words of the class) = (1 + n) / (3 + 3)
    assert theta(critic, "owl") == pytest.approx({"in": 3 / 6, "out": 1 / 6})
    assert theta(critic, "star") == pytest.approx({"in": 1 / 6, "out": 3 / 6})
    assert theta(critic, "the") == pytest.approx({"in": 2 / 6, "out": 2 / 6})


def test_equation_2_with_priors_from_the_examples(critic: NaiveBayesCritic) -> None:
    # owl owl star: in = 2/3 · (3/6)² · 1/6, out = 1/3 · (1/6)² · 3/6
    wanted, other = 2 / 3 * 0.25 / 6, 1 / 3 / 36 / 2
    verdict = critic.judge(text("owl owl star"))
    assert verdict.relevance == pytest.approx(wanted / (wanted + other))
    assert dict(verdict.classes) == pytest.approx({"in": 6 / 7, "out": 1 / 7})


def test_balanced_priors_leave_the_words_alone() -> None:
    critic = NaiveBayesCritic(priors="balanced").fit(PAGES, CLASSES, ["in"])
    assert critic.judge(text("the")).relevance == pytest.approx(0.5)
    assert critic.judge(text("owl")).relevance == pytest.approx(0.75)


def test_relevance_is_the_sum_over_the_classes_in_focus() -> None:
    pages = [text("owl the"), text("owl"), text("star star the")]
    critic = NaiveBayesCritic(priors="balanced").fit(pages, ["in.a", "in.b", "out"], ["in"])
    chances = dict(critic.judge(text("owl the")).classes)
    assert critic.judge(text("owl the")).relevance == pytest.approx(chances["in.a"] + chances["in.b"])


def test_words_of_no_example_say_nothing(critic: NaiveBayesCritic) -> None:
    assert critic.judge(text("zebra quagga")).relevance == pytest.approx(2 / 3)
    assert critic.judge(text("owl zebra")) == critic.judge(text("owl"))


def test_smoothing_is_the_one_of_equation_1() -> None:
    critic = NaiveBayesCritic(smoothing=0.5).fit(PAGES, CLASSES, ["in"])
    assert theta(critic, "owl") == pytest.approx({"in": 2.5 / 4.5, "out": 0.5 / 4.5})


def test_very_long_pages_do_not_break_the_arithmetic(critic: NaiveBayesCritic) -> None:
    assert critic.judge(text("owl " * 50_000)).relevance == pytest.approx(1)
    relevance = critic.judge(text("star " * 50_000)).relevance
    assert 0 <= relevance < 1e-9
    assert not math.isnan(relevance)


def test_reading_a_text_is_judging_it(critic: NaiveBayesCritic) -> None:
    pages = [text("owl owl star"), text("the"), text("zebra")]
    assert critic.score_texts([Text(one, 0, len(one.ids)) for one in pages]) == pytest.approx(
        [critic.judge(one).relevance for one in pages]
    )


def test_reasons_are_the_log_odds_of_the_words(critic: NaiveBayesCritic) -> None:
    reasons = {reason.word: reason.weight for reason in critic.explain(text("owl owl star the"))}
    assert reasons == pytest.approx({"owl": 2 * math.log(3), "star": -math.log(3)})


def test_without_negatives_general_language_is_the_other_class() -> None:
    critic = NaiveBayesCritic().fit([page(one) for one in BIRDS], ["birds"] * 4, ["birds"])
    assert critic.classes_[-1] == BACKGROUND
    assert critic.judge(page("The bird has feathers, and the owl lays an egg.")).relevance > 0.9
    for meal in MEALS:
        if "eggs" not in meal:  # birds lay them, too
            assert critic.judge(page(meal)).relevance < 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        {"priors": "equal"}, {"priors": 1}, {"smoothing": 0}, {"smoothing": "much"}, {"smoothing": float("nan")},
        {"min_pages": -1}, {"min_pages": "few"}, {"languages": ["tlh"]}, {"languages": "en"}, {"languages": [1]},
    ],
)  # fmt: skip
def test_wrong_options_are_named(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        make(NaiveBayesCritic, wrong, table="critic")
