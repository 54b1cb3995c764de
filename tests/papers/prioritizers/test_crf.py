"""crf: what it learns from paths, what it carries along a path, what it tells."""

from __future__ import annotations

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.evidence import ADDRESS, ANCHOR, NAMED, NEAR, ON_PAGE, Evidence, mix
from focused.pages.tokens import word_to_id
from focused.papers.paths.stops import Stop
from focused.papers.prioritizers.crf import Crf
from focused.papers.prioritizers.crf_features import page_features
from focused.papers.prioritizers.features import link_features
from focused.papers.prioritizers.taught import NotTaught
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import WAY, OneWordCritic, built, page, toy_paths, toy_site

VERDICT = Verdict(0.5)


@pytest.fixture(scope="module")
def crf():
    return built("crf")


def along(crf, site="other", name="bob"):
    """The pages of a way on a new site: (evidence of the page's links, label of the page)."""
    pages, arrived_by = toy_site(site, name), None
    for path, *_ in WAY:
        one = pages[f"http://{site}.example/{path.format(name=name)}"]
        evidence = crf.evidence(one, VERDICT, one.links, arrived_by=arrived_by)
        yield evidence, crf.label_of(one, VERDICT, arrived_by=arrived_by)
        arrived_by = evidence.select([0])


# --- features --------------------------------------------------------------------------------------------------------


def ids(words, channel):
    return {int(mix(np.array([word_to_id(word)], np.uint32), channel)[0]) for word in words.split(",")}


def test_a_page_is_its_words_title_address_headings_and_lists():
    body = (
        "<title>Ann Lee</title><h2>Research interests</h2>nets<ul>" + "<li><a href=/p><b>x</b></a></li>" * 12 + "</ul>"
    )
    found = set(page_features(page(body, "http://u.example/~ann/index.html")).tolist())
    assert ids("nets,research,x,ann", ON_PAGE) <= found
    assert ids("~ann,~,index,html", ADDRESS) <= found
    assert ids("title:ann,heading:research interests,repeats:5,repeats:10,repeats:75%", NAMED) <= found
    assert not ids("repeats:20", NAMED) & found


def test_with_a_set_of_headings_one_feature_tells_of_all():
    body = "<h2>Teaching</h2><h2>Hobbies</h2>"
    found = set(page_features(page(body), ("teaching",)).tolist())
    assert ids("heading", NAMED) <= found
    assert not ids("heading:teaching,heading:hobbies", NAMED) & found
    assert not ids("heading", NAMED) & set(page_features(page(body), ("courses",)).tolist())


def test_a_link_is_its_anchor_what_stands_near_and_its_address():
    parsed = page("one two <a href=/~ann/cs1>course page</a> three four")
    starts, found = link_features(parsed, parsed.links, 1)
    expected = ids("course,page", ANCHOR) | ids("two,three", NEAR) | ids("~ann,~,cs1", ADDRESS)
    assert starts.tolist() == [0, len(found)]
    assert set(found.tolist()) == expected


# --- along a path ----------------------------------------------------------------------------------------------------


def test_pages_of_a_new_site_get_their_labels_and_those_between_get_none(crf):
    assert [label for _, label in along(crf)] == ["university", "department", "", "faculty", "goal"]


def test_alpha_is_a_distribution_and_the_best_delta_is_0(crf):
    n = len(crf.labels)
    for evidence, _ in along(crf):
        assert np.allclose(evidence.dense[:, 1 : 1 + n].sum(axis=1), 1)
        assert np.allclose(evidence.dense[:, 1 + n :].max(axis=1, initial=0), 0)


def test_columns_are_named_after_the_labels(crf):
    assert crf.dense[0] == "state of the page"
    assert {"alpha goal", "alpha to fail", "delta goal", "delta to fail"} <= set(crf.dense)
    assert Crf().dense == ()


def test_the_same_link_is_worth_less_behind_a_failure_than_behind_a_milestone(crf):
    """By what stands on the page alone where failures are sinks; the thesis's paths say nothing of what follows one."""
    sinks = built("crf", {"sinks": True})
    link, url = "<a href=/~bob>see</a>", "http://o.example/x"
    hub = page(f"<h1>people</h1><p>people list phone office</p>{link}", url)
    lost = page(f"<h2>sports</h2><p>sports weather tickets opening hours</p>{link}", url)

    def worth(of, one):
        way = [evidence for evidence, _ in along(of)]
        return of.score(of.evidence(one, VERDICT, one.links, arrived_by=way[1].select([0])))[0]

    assert worth(sinks, hub) > worth(sinks, lost)
    assert worth(sinks, lost) / worth(sinks, hub) < worth(crf, lost) / worth(crf, hub)


def test_several_ways_to_a_page_are_heard_together(crf):
    way = [evidence for evidence, _ in along(crf)]
    one = page("<a href=/y>y</a>", "http://o.example/y")
    both = crf.evidence(one, VERDICT, one.links, arrived_by=Evidence.concat([way[0].select([0]), way[2].select([0])]))
    alone = [crf.score(crf.evidence(one, VERDICT, one.links, arrived_by=way[i].select([0])))[0] for i in (0, 2)]
    assert min(alone) <= crf.score(both)[0] <= max(alone)


def test_why_tells_words_with_the_state_they_speak_for_and_the_states_of_the_link(crf):
    steps = [evidence for evidence, _ in along(crf)]
    parts = crf.explain(steps[3].select([0]))
    (word,) = ids("course", ANCHOR)
    assert next(part for part in parts if part.feature == word).towards == "goal"
    states = [part for part in parts if isinstance(part.feature, str)]
    assert any(part.feature.startswith("from 'faculty' to 'goal'") for part in states)
    assert sum(part.weight for part in states) <= crf.score(steps[3].select([0]))[0] + 1e-6


def test_what_words_are_worth(crf):
    good, bad = crf.weights_of(mix(np.array([word_to_id("course"), word_to_id("sports")], np.uint32), ANCHOR))
    assert good > 0 > bad


# --- teaching --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"reward": "paths"}, {"near": 3, "least": 2, "gamma": 0.9}, {"sinks": True}])
def test_options_of_teaching_still_find_the_way(options):
    crf = built("crf", options)
    for evidence, _ in list(along(crf))[1:-1]:
        scores = crf.score(evidence)
        assert scores[0] == scores.max()


def test_a_goal_is_worth_more_than_a_failure(crf):
    for reward in (crf.model.reward, built("crf", {"reward": "paths"}).model.reward):
        assert reward[crf.labels.index("goal")] > reward[crf.labels.index("fail")]


def test_the_card_has_precision_and_recall_of_sites_held_out():
    figures = Crf().teach(toy_paths())
    assert figures["goal precision"] > 0.9
    assert figures["goal recall"] > 0.9
    assert figures["all precision"] > 0.8
    assert figures["all recall"] > 0.8
    assert figures["right"] > 0.9
    assert figures["labels seen once"] == 0


def test_paths_of_one_site_are_held_out_by_their_ends():
    paths = [path for path in toy_paths() if "//u0." in path[0].page.url]
    assert 0 <= Crf(least=1).teach(paths)["goal recall"] <= 1


def test_too_few_paths_to_hold_any_back_teach_without_figures():
    paths = [path for path in toy_paths() if "//u0." in path[0].page.url][:2]
    figures = Crf(least=1).teach(paths)
    assert "goal recall" not in figures
    assert figures["labels seen once"] > 0


def test_links_that_are_not_on_their_page_teach_nothing_and_do_no_harm():
    paths = [[Stop(stop.page, stop.state, stop.layer, -1) for stop in path] for path in toy_paths()]
    blind = Crf()
    blind.teach(paths)
    assert len(blind.model.links.ids) == 0
    assert all(np.isfinite(blind.score(evidence)).all() for evidence, _ in along(blind))


def test_untaught_it_says_so():
    one = page("<a href=/x>x</a>")
    with pytest.raises(NotTaught, match="scrapy teach --prioritizer crf"):
        Crf().evidence(one, VERDICT, one.links)


def states(*only):
    return [path for path in toy_paths() if path[-1].state in only]


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ([], "there are no paths"),
        (states("fail"), "no path ends at a page labelled 'goal'"),
        (states("goal"), "every path ends at a 'goal'"),
        ([path[-1:] for path in toy_paths()], "no path has two pages"),
    ],
)
def test_paths_that_cannot_teach_are_refused_with_a_word(paths, said):
    with pytest.raises(NotTaught, match=said):
        Crf().teach(paths)


@pytest.mark.parametrize("headings", ["teaching", [""], ["far too many words for a heading"], [3], 3])
def test_headings_are_a_list_of_short_texts(headings):
    with pytest.raises(ValueError, match="headings="):
        build(Crf, {"headings": headings})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", 1.5),
        ("c2", 0),
        ("least", 0),
        ("near", -1),
        ("iterations", 0),
        ("reward", "q"),
        ("sinks", 1),
        ("gama", 1),
    ],
)
def test_bad_options_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        build(Crf, {name: value})


def test_what_was_taught_with_other_features_is_refused(crf):
    with pytest.raises(ValueError, match="near=10, not 3"):
        Crf(near=3).restore(crf.state())
    with pytest.raises(ValueError, match="headings"):
        Crf(headings=["Teaching"]).restore(crf.state())
    again = Crf(gamma=0.1, critic=OneWordCritic())
    again.restore(crf.state())
    assert again.labels == crf.labels
    assert again.dense == crf.dense
