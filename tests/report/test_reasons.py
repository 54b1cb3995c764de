"""What speaks for and against a link is told in words, by kind, and nothing of it is lost."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.special import logit

from focused.critics.base import Verdict
from focused.critics.keywords import KeywordsCritic
from focused.pages.evidence import CHANNELS, Evidence
from focused.pages.page import page_from_html
from focused.pages.tokens import word_to_id
from focused.papers.prioritizers.apprentice import Apprentice
from focused.papers.prioritizers.shark_search import SharkSearch
from focused.prioritizers.base import Contribution, Lessons, Prioritizer
from focused.prioritizers.focused import Focused
from focused.report.reasons import reasons
from focused.report.words import WordTable, in_order

WORDS = ("wing", "bird", "stone", "feather", "granite", "here", "birds", "heavy", "stones")
PAGE = page_from_html(
    "<ul><li>wing <a href=/birds/feather>bird feather</a> here</ul>"
    "<p>heavy <a href=/stones/granite>stone granite</a> here</p><div><a href=/birds/><img src=x></a></div>",
    "http://a.example/",
)
BIRD, STONE, PICTURE = range(3)


class Mild(KeywordsCritic):
    """Never sure of anything."""

    def score_texts(self, texts: Any) -> Any:
        return np.array([0.6 if word_to_id("bird") in text.ids else 0.5 for text in texts], np.float32)


def seen_by(prioritizer: Prioritizer, rows: list[int] | None = None) -> Evidence:
    evidence = prioritizer.evidence(PAGE, Verdict(0.4), PAGE.links)
    return evidence if rows is None else evidence.select(rows)


def taught(make: Any, **options: Any) -> Prioritizer:
    """One that was told a few times that the first link led to a good page, and the second to a bad one."""
    prioritizer: Prioritizer = make(critic=Mild(keywords=["bird"]), **options)
    evidence = seen_by(prioritizer, [BIRD, STONE])
    ones = np.ones(2, np.float32)
    lessons = Lessons(evidence, np.array([0.8, 0.1], np.float32), 0.4 * ones, ones, ones > 0, ones > 0)
    for _ in range(5):
        prioritizer = prioritizer.learn(lessons) or prioritizer
    return prioritizer


def told(prioritizer: Prioritizer, link: int, words: tuple[str, ...] = WORDS) -> dict[str, str]:
    """The lines by what stands before their colon, without the sums."""
    row = seen_by(prioritizer, [link])
    table = WordTable(np.array([word_to_id(word) for word in words], np.uint32), words)
    lines = reasons(prioritizer, row, in_order(row.ids, table.trace(row.ids, [*range(-5, 6), *CHANNELS])))
    return {heading.partition(" (")[0]: parts for heading, _, parts in (line.partition(": ") for line in lines)}


def test_each_kind_of_thing_has_its_line() -> None:
    lines = told(taught(Focused), BIRD)
    assert [kind for kind in lines if kind != "words against it"] == [
        "first of all",
        "the critic says",
        "words for it",
        "its address",
        "its place",
    ]
    assert re.match(r"what a link is usually worth −\d\.\d\d(, |$)", lines["first of all"])
    assert {part.rpartition(" ")[0] for part in lines["the critic says"].split(", ")} == {
        "of the link's text",
        "of the words around it",
        "of the page it stands on",
    }
    assert "feather (0) +" in lines["words for it"]
    assert "wing (−1) +" in lines["words for it"]
    assert re.match(r"(birds|feather) \+\d", lines["its address"])
    assert "other links of the list +" in lines["its place"]


def test_what_spoke_against_it() -> None:
    lines = told(taught(Focused), STONE)
    assert "heavy (−1) −" in lines["words against it"]
    assert re.match(r"(stones|granite) −\d", lines["its address"])
    assert "other links of the list −" in lines["its place"]


def test_a_picture_is_told_to_have_no_text() -> None:
    prioritizer = taught(Focused)
    prioritizer.learner.means[prioritizer.learner.names.index("no text")] = -0.5  # type: ignore[attr-defined]
    assert "it has no text −0.50" in told(prioritizer, PICTURE)["first of all"]
    assert "no text" not in told(prioritizer, BIRD)["first of all"]


@pytest.mark.parametrize("make", [Focused, Apprentice])
@pytest.mark.parametrize("link", [BIRD, STONE, PICTURE])
def test_all_that_is_told_adds_up_to_the_score(make: Any, link: int) -> None:
    prioritizer = taught(make)
    row = seen_by(prioritizer, [link])
    lines = [line.replace("−", "-") for line in reasons(prioritizer, row, [None] * len(row.ids))]
    first = [float(number) for line in lines[:1] for number in re.findall(r"[+-]\d+\.\d+", line)]
    sums = [float(number) for line in lines[1:] for number in re.findall(r"\(([+-]\d+\.\d+)\): ", line)]
    assert sum([*first, *sums]) == pytest.approx(float(logit(prioritizer.score(row)[0])), abs=0.05)


def test_a_link_to_where_nobody_was_is_told_so() -> None:
    assert re.search(r"it leads where few pages were seen \+\d", told(Focused(novelty=0.5), BIRD)["first of all"])
    assert "where few" not in told(Focused(novelty=0.0), BIRD)["first of all"]


def test_without_a_critic_it_says_nothing() -> None:
    assert "the critic says" not in told(taught(Focused, reads=False, source=False), BIRD)


def test_the_apprentice_has_no_address_and_no_place() -> None:
    assert list(told(taught(Apprentice), STONE)) == ["first of all", "the critic says", "words against it"]


def test_numbers_of_the_same_name_are_not_the_critics() -> None:
    shark = SharkSearch(critic=KeywordsCritic(keywords=["bird"]))
    assert "the critic says" not in told(shark, BIRD)
    assert "anchor +0." in told(shark, BIRD)["first of all"]


def test_the_quietest_words_are_cut() -> None:
    class Many(Apprentice):
        def explain(self, evidence: Evidence) -> list[Contribution]:
            return [Contribution(number, 0.5 - number / 100) for number in range(20)]

    row = seen_by(Many(), [BIRD])
    (line,) = reasons(Many(), row, [None] * len(row.ids))
    assert line.startswith("words for it (+8.10): ")
    assert line.endswith(" +0.43, …")
    assert line.count("+") == 1 + 8


def test_what_weighs_next_to_nothing_is_not_told() -> None:
    class Faint(Apprentice):
        def explain(self, evidence: Evidence) -> list[Contribution]:
            return [Contribution(int(evidence.ids[0]), 0.5), Contribution(int(evidence.ids[1]), 0.004)]

    assert told(Faint(), BIRD) == {"words for it": "wing (−1) +0.50"}


def test_where_all_weighs_next_to_nothing_that_is_told() -> None:
    class Nothing(Apprentice):
        def explain(self, evidence: Evidence) -> list[Contribution]:
            return [Contribution("cosine", 0.0), Contribution("depth", 0.001)]

    assert told(Nothing(), BIRD) == {"first of all": "cosine +0.00, depth +0.00"}


def test_a_state_that_a_word_speaks_for_is_named() -> None:
    class OfStates(Apprentice):
        def explain(self, evidence: Evidence) -> list[Contribution]:
            return [Contribution(int(evidence.ids[0]), 0.5, "goal")]

    assert told(OfStates(), BIRD) == {"words for it": "wing (−1) → goal +0.50"}
