"""Q-learning from paths: what clicks with such words led to."""

from __future__ import annotations

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.evidence import ANCHOR, mix
from focused.pages.tokens import word_to_id
from focused.papers.paths.path import Path, Step
from focused.papers.paths.stops import resolve
from focused.papers.prioritizers.clicks import NOWHERE, Clicks
from focused.papers.prioritizers.q_learning import QLearning
from focused.papers.prioritizers.taught import NotTaught
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import built, page, toy_paths, toy_site

HUB = "http://a.example/hub"


def scores_on(prioritizer, one):
    return prioritizer.score(prioritizer.evidence(one, Verdict(0.5), one.links))


def small_paths():
    """From a start over a hub to two targets, and from the start astray."""
    pages = {
        "http://a.example/": page(
            "<a href=/hub>courses</a><a href=/news>news</a><a href=/x>other</a>", "http://a.example/"
        ),
        HUB: page("<a href=/c1>first course</a><a href=/c2>second course</a><a href=/>home</a>", HUB),
        "http://a.example/c1": page("syllabus", "http://a.example/c1"),
        "http://a.example/c2": page("syllabus", "http://a.example/c2"),
        "http://a.example/news": page("weather", "http://a.example/news"),
    }
    ways = [
        [("", ""), ("hub", ""), ("c1", "goal")],
        [("", ""), ("hub", ""), ("c2", "goal")],
        [("", ""), ("news", "fail")],
    ]
    paths = [Path([Step(f"http://a.example/{path}", label) for path, label in way]) for way in ways]
    return resolve(paths, pages.get, str)


def test_each_link_has_the_layer_of_the_page_behind_it():
    clicks = Clicks.of(small_paths())
    assert [one.url for one in clicks.pages[:2]] == ["http://a.example/", HUB]
    assert clicks.page.tolist() == [0, 0, 0, 1, 1, 1]
    assert clicks.layer.tolist() == [1, NOWHERE, NOWHERE, 0, 0, 2]
    assert clicks.known.tolist() == [True, True, False, True, True, True]


def test_reward_is_discounted_click_by_click():
    """Q = γ^(clicks - 1): 1 for the click on a target, γ for the one before; nothing for what fails."""
    prioritizer = QLearning(gamma=0.5, bins=6)
    prioritizer.teach(small_paths())
    assert prioritizer.model.worth.tolist() == [1, 0.5, 0.25, 0]


def test_a_bin_is_worth_the_mean_of_what_is_in_it():
    prioritizer = QLearning(gamma=0.5, bins=2)
    prioritizer.teach(small_paths())
    assert prioritizer.model.worth.tolist() == pytest.approx([1, (0.5 + 0 + 0 + 0.25) / 4])
    lighter = QLearning(gamma=0.5, bins=2, untaken=0.5)
    lighter.teach(small_paths())
    assert lighter.model.worth.tolist() == pytest.approx([1, (0.5 + 0 + 0.25) / 3.5])


def test_links_that_no_path_takes_can_be_left_out():
    prioritizer = QLearning(bins=6, untaken=0)
    prioritizer.teach(small_paths())
    other = int(mix(np.array([word_to_id("other")], np.uint32), ANCHOR)[0])
    assert other not in prioritizer.model.words


def test_prefers_on_a_new_site_what_led_to_targets_elsewhere():
    prioritizer = built("q-learning")
    site = toy_site("other", "bob")
    last, first = site["http://other.example/~bob"], site["http://other.example/"]
    assert scores_on(prioritizer, last).argmax() == 0
    assert scores_on(prioritizer, last)[0] > scores_on(prioritizer, first)[0]


def test_the_score_is_the_expected_reward():
    prioritizer = built("q-learning")
    scores = scores_on(prioritizer, page("<a href=/>nothing known 漢字</a>"))
    worth = prioritizer.model.worth
    assert worth.min() < scores[0] < worth.max()


def test_explains_by_words():
    prioritizer = built("q-learning")
    one = toy_site("other", "bob")["http://other.example/~bob"]
    row = prioritizer.evidence(one, Verdict(0.5), one.links).row(0)
    weights = {part.feature: part.weight for part in prioritizer.explain(row)}
    assert weights[int(mix(np.array([word_to_id("course")], np.uint32), ANCHOR)[0])] > 0
    assert 0 < weights["what a link is usually worth"] < 1


def test_figures_are_those_of_links_held_out():
    figures = QLearning().teach(toy_paths(12))
    assert figures["links to targets above others"] > 0.9
    assert figures["rank correlation"] > 0.3
    assert figures["links held out"] > 0


def test_progress_is_told_and_may_end_it():
    told = []
    QLearning().teach(toy_paths(), lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)

    def stop(done, total):
        raise KeyboardInterrupt

    prioritizer = QLearning()
    with pytest.raises(KeyboardInterrupt):
        prioritizer.teach(toy_paths(), stop)
    assert set(prioritizer.state()) == {"made for"}


def test_paths_that_cannot_teach_are_refused():
    failures = [stops for stops in toy_paths() if stops[-1].state == "fail"]
    with pytest.raises(NotTaught, match="pages on the paths is a target"):
        QLearning().teach([[stop for stop in stops if stop.layer] for stops in failures])
    for links, told in (("/b", "no path shows a link to a target"), ("/c", "all links on the paths lead to targets")):
        first, last = page(f"<a href={links}>course</a>"), page("", "http://site.example/c")
        path = Path([Step(first.url), Step(last.url, "goal")])
        with pytest.raises(NotTaught, match=told):
            QLearning().teach(resolve([path], {one.url: one for one in (first, last)}.get, str))


def test_untaught_it_says_so():
    with pytest.raises(NotTaught, match="scrapy teach --prioritizer q-learning"):
        scores_on(QLearning(), page("<a href=/x>x</a>"))


@pytest.mark.parametrize(
    ("name", "value"), [("gamma", 1.5), ("gamma", "half"), ("bins", 1), ("bins", 7), ("untaken", -1), ("untaken", True)]
)
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        build(QLearning, {name: value})


def test_what_was_taught_with_other_options_is_refused():
    with pytest.raises(ValueError, match=r"taught with gamma=0\.5, not 0\.8"):
        QLearning(gamma=0.8).restore(built("q-learning").state())
