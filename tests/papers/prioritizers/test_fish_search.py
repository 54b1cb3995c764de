"""Fish-search: potential score and depth as in the account of Hersovici et al. (1998), §2.1."""

from __future__ import annotations

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.papers.prioritizers.fish_search import FishSearch
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import page

GOOD, BAD = Verdict(0.9), Verdict(0.1)
SIX = page("".join(f"<a href=/{i}>{i}</a>" for i in range(6)))


def swim(prioritizer, *verdicts):
    """Evidence of the links of the last of some pages, each reached by the first link of the one before."""
    arrived_by = None
    for verdict in verdicts:
        evidence = prioritizer.evidence(SIX, verdict, SIX.links, arrived_by=arrived_by)
        arrived_by = evidence.select([0])
    return evidence


def test_of_a_relevant_page_more_links_are_worth_following():
    prioritizer = FishSearch(width=2, alpha=1.5)
    assert prioritizer.score(swim(prioritizer, GOOD)).tolist() == [1, 1, 1, 0, 0, 0]
    assert prioritizer.score(swim(prioritizer, BAD)).tolist() == [0.5, 0.5, 0, 0, 0, 0]


def test_depth_falls_page_by_page_and_food_restores_it():
    prioritizer = FishSearch(depth=3)
    depths = [swim(prioritizer, *[BAD] * n).dense[0, 1] for n in (1, 2, 3)]
    assert depths == [2, 1, 0]
    assert swim(prioritizer, BAD, BAD, GOOD).dense[0, 1] == 3


def test_where_the_depth_is_used_up_links_wait_at_the_end():
    prioritizer = FishSearch(depth=2)
    assert prioritizer.score(swim(prioritizer, BAD, BAD))[0] == 0.5
    evidence = swim(prioritizer, BAD, BAD, BAD)
    assert prioritizer.score(evidence).tolist() == [0] * 6
    assert (evidence.dense[:, 1] == 0).all()


def test_a_fish_that_finds_food_at_its_last_breath_founds_a_new_school():
    prioritizer = FishSearch(depth=1)
    assert prioritizer.score(swim(prioritizer, BAD, GOOD))[0] == 1


def test_of_several_ways_the_greatest_depth_counts():
    prioritizer = FishSearch(depth=3)
    ways = Evidence.concat([swim(prioritizer, BAD, BAD, BAD).select([0]), swim(prioritizer, BAD).select([0])])
    assert prioritizer.evidence(SIX, BAD, SIX.links, arrived_by=ways).dense[0, 1] == 1
    assert prioritizer.combine == "max"


def test_links_to_one_page_share_a_place():
    twice = page("<a href=/a>a</a><a href=/a>again</a><a href=/b>b</a><a href=/c>c</a>")
    prioritizer = FishSearch(width=2)
    scores = prioritizer.score(prioritizer.evidence(twice, BAD, twice.links))
    assert scores.tolist() == [0.5, 0.5, 0.5, 0]


def test_relevance_begins_where_the_option_says():
    prioritizer = FishSearch(relevant=0.1)
    assert prioritizer.score(swim(prioritizer, BAD))[0] == 1


def test_explains_by_the_potential_score():
    prioritizer = FishSearch()
    (part,) = prioritizer.explain(swim(prioritizer, GOOD).row(0))
    assert (part.feature, part.weight) == ("potential score", 1.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("depth", 0), ("depth", 1.5), ("width", 0), ("width", "10"), ("alpha", 0.5), ("relevant", 2), ("relevant", None)],
)
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        build(FishSearch, {name: value})


def test_scores_are_float32():
    prioritizer = FishSearch()
    assert prioritizer.score(swim(prioritizer, BAD)).dtype == np.float32
