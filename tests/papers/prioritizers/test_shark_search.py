"""Shark-search: the formulas of Hersovici et al. (1998), §2.2, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.papers.prioritizers.shark_search import SharkSearch
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import OneWordCritic, page

# What the critic tells of a text with the word, beyond that of no words: (0.9 - 0.1) / (1 - 0.1).
TOLD = 8 / 9
PLAIN = page("<p>one two three</p><a href=/x>four</a>")


def shark(**options):
    return SharkSearch(critic=OneWordCritic(), **options)


def evidence_on(prioritizer, parsed, relevance, arrived_by=None):
    return prioritizer.evidence(parsed, Verdict(relevance), parsed.links, arrived_by=arrived_by)


def test_a_link_inherits_half_of_what_a_relevant_page_has():
    prioritizer = shark()
    evidence = evidence_on(prioritizer, PLAIN, 0.8)
    assert evidence.dense[0].tolist() == pytest.approx([0.4, 0, 0])
    assert prioritizer.score(evidence)[0] == pytest.approx(0.5 * 0.4)


def test_over_irrelevant_pages_the_inheritance_fades():
    prioritizer = shark()
    evidence = evidence_on(prioritizer, PLAIN, 0.8)
    for expected in (0.2, 0.1, 0.05):
        evidence = evidence_on(prioritizer, PLAIN, 0.1, arrived_by=evidence)
        assert evidence.dense[0, 0] == pytest.approx(expected)
    assert evidence_on(prioritizer, PLAIN, 0.6, arrived_by=evidence).dense[0, 0] == pytest.approx(0.3)


def test_a_relevant_anchor_makes_its_context_relevant():
    prioritizer = shark()
    evidence = evidence_on(prioritizer, page("<p>one two</p><a href=/x>penguin</a>"), 0.8)
    assert evidence.dense[0].tolist() == pytest.approx([0.4, TOLD, 1])
    assert prioritizer.score(evidence)[0] == pytest.approx(0.5 * 0.4 + 0.5 * (0.8 * TOLD + 0.2 * 1))


def test_words_around_count_when_the_anchor_says_nothing():
    prioritizer = shark(beta=0.6, gamma=0.3)
    evidence = evidence_on(prioritizer, page("<p>penguin</p><a href=/x>here</a>"), 0.8)
    assert evidence.dense[0].tolist() == pytest.approx([0.4, 0, TOLD])
    assert prioritizer.score(evidence)[0] == pytest.approx(0.3 * 0.4 + 0.7 * 0.4 * TOLD)


@pytest.mark.parametrize(("words", "seen"), [(3, True), (2, False), (0, False)])
def test_the_context_ends_so_many_words_away(words, seen):
    prioritizer = shark(words=words)
    parsed = page("<p>penguin one</p><p>two</p><a href=/x>here</a>")
    assert (evidence_on(prioritizer, parsed, 0.8).dense[0, 2] > 0) == seen


def test_of_several_ways_the_greatest_inheritance_counts():
    prioritizer = shark()
    two = page("<a href=/x>a</a><a href=/x>b</a>")
    ways = evidence_on(prioritizer, two, 0.8)
    ways.dense[0, 0] = 0.1
    assert evidence_on(prioritizer, PLAIN, 0.1, arrived_by=ways).dense[0, 0] == pytest.approx(0.2)
    assert prioritizer.combine == "max"


def test_by_cosine_pages_and_texts_are_compared_with_the_targets():
    prioritizer = shark(by="cosine")
    parsed = page("<p>one</p><a href=/x>penguin</a>")
    # The page's only word that the target knows is the target's own: cosine 1, whatever the critic says.
    assert evidence_on(prioritizer, parsed, 0.0).dense[0].tolist() == pytest.approx([0.5, 1, 1])


def test_a_critic_that_says_little_of_everything_says_nothing_of_a_plain_text():
    prioritizer = shark()
    assert (evidence_on(prioritizer, PLAIN, 0.1).dense[:, 1:] == 0).all()


def test_explains_the_score_by_its_three_parts():
    prioritizer = shark()
    evidence = evidence_on(prioritizer, page("<p>one</p><a href=/x>penguin</a>"), 0.8)
    parts = prioritizer.explain(evidence)
    assert [part.feature for part in parts] == ["anchor", "inherited score", "words around"]
    assert sum(part.weight for part in parts) == pytest.approx(float(prioritizer.score(evidence)[0]))


def test_by_cosine_needs_targets():
    critic = OneWordCritic()
    critic.targets = None
    with pytest.raises(ValueError, match="keeps none"):
        SharkSearch(critic=critic, by="cosine")
    assert SharkSearch(critic=critic).score(evidence_on(shark(), PLAIN, 0.5)).dtype == np.float32


@pytest.mark.parametrize(
    ("name", "value"),
    [("delta", 1.5), ("beta", -0.1), ("gamma", "half"), ("relevant", True), ("words", 2.5), ("by", "keywords")],
)
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        build(SharkSearch, {name: value})
