"""Context graphs: layers told by words, queues in the order of the layers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.evidence import ON_PAGE, Evidence, mix
from focused.pages.tokens import word_to_id
from focused.papers.paths.path import Path, Step
from focused.papers.paths.stops import resolve
from focused.papers.prioritizers.context_graph import LAYERS, OTHER, ContextGraph
from focused.papers.prioritizers.taught import NotTaught
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import built, page, toy_paths, toy_site


def look(prioritizer, one):
    return prioritizer.evidence(one, Verdict(0.5), one.links)


def scored(prioritizer, *queues_and_surely):
    dense = np.array(queues_and_surely, np.float32)
    return prioritizer.score(Evidence.of(np.zeros(len(dense) + 1, np.int64), np.zeros(0, np.uint32), dense)).tolist()


def test_nearer_layers_come_first_and_within_one_the_surer_page():
    scores = scored(ContextGraph(own_queue=0), (1, 0.9), (1, 0.4), (2, 1.0), (4, 0.9), (OTHER, 1.0))
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(1 - (1 + 1 - 0.9) / (LAYERS + 1))


def test_links_of_targets_wait_where_the_option_says():
    first, last = ContextGraph(own_queue=0), ContextGraph(own_queue=OTHER)
    assert scored(first, (0, 0.5))[0] > scored(first, (1, 0.9))[0]
    assert scored(last, (0, 0.5))[0] < scored(last, (4, 0.1))[0]
    assert scored(last, (1, 0.5)) == scored(first, (1, 0.5))


def ring_of_targets(apart):
    """Paths from a hub to targets that link to one another, or (``apart``) each to itself."""
    onward = "/c{own}" if apart else "/c{next}"
    pages = {"http://a.example/": page("list <a href=/c0>a</a><a href=/x>b</a><a href=/y>c</a>", "http://a.example/")}
    for i in range(4):
        link = onward.format(own=i, next=(i + 1) % 4)
        pages[f"http://a.example/c{i}"] = page(f"syllabus <a href={link}>next</a>", f"http://a.example/c{i}")
    urls = ["http://a.example/", *[f"http://a.example/c{i}" for i in range(4)]]
    paths = [Path([Step(urls[0]), Step(url, "goal")]) for url in urls[1:]]
    return resolve(paths, pages.get, str)


@pytest.mark.parametrize(("apart", "first"), [(False, True), (True, False)])
def test_the_paths_decide_whether_targets_lead_to_targets(apart, first):
    prioritizer = ContextGraph()
    prioritizer.teach(ring_of_targets(apart))
    assert (scored(prioritizer, (0, 0.5)) > scored(prioritizer, (1, 0.5))) == first
    back = ContextGraph()
    back.restore(prioritizer.state())
    assert scored(back, (0, 0.5)) == scored(prioritizer, (0, 0.5))


def test_tells_the_layers_of_a_site_it_has_not_seen():
    prioritizer = built("context-graph", {"other": 0})
    site = toy_site("other", "bob")
    way = ["", "cs", "cs/people", "~bob"]
    layers = [look(prioritizer, site[f"http://other.example/{path}"]).dense[0, 0] for path in way]
    assert layers == [4, 3, 2, 1]


def test_all_links_of_a_page_score_alike():
    prioritizer = built("context-graph")
    scores = prioritizer.score(look(prioritizer, toy_site("other", "bob")["http://other.example/cs"]))
    assert len(set(scores.tolist())) == 1


def test_a_page_like_none_of_the_layers_waits_in_the_last_queue():
    prioritizer = built("context-graph", {"other": 0.5})
    evidence = look(prioritizer, page("<p>quite another thing</p><a href=/x>x</a>"))
    assert evidence.dense[0, 0] == OTHER
    assert prioritizer.score(evidence)[0] <= 1 / (LAYERS + 1)


def test_a_page_counts_with_its_shortest_way():
    paths = toy_paths()
    farther = [[replace(stop, layer=4) for stop in stops] for stops in paths]
    twice, once = ContextGraph(), ContextGraph()
    twice.teach([*farther, *paths])
    once.teach(paths)
    one = toy_site("other", "bob")["http://other.example/~bob"]
    assert (look(twice, one).dense == look(once, one).dense).all()


def test_only_the_best_words_count():
    prioritizer = built("context-graph", {"words": 3})
    one = toy_site("other", "bob")["http://other.example/cs"]
    assert len(look(prioritizer, one).row(0).ids) == 3


def test_explains_by_the_layer_and_the_words_that_tell_it():
    prioritizer = built("context-graph")
    parts = prioritizer.explain(look(prioritizer, toy_site("other", "bob")["http://other.example/cs"]).row(0))
    weights = {part.feature: part.weight for part in parts}
    assert "its page looks 3 clicks from a target" in weights
    admission = int(mix(np.array([word_to_id("admission")], np.uint32), ON_PAGE)[0])
    assert weights[admission] > 0


def test_figures_are_those_of_pages_held_out():
    figures = ContextGraph().teach(toy_paths(12))
    assert figures["accuracy"] > 0.6
    assert figures["within one layer"] >= figures["accuracy"]
    assert 0 < figures["pages held out"] < 12 * 21


def test_progress_is_told_and_may_end_it():
    told = []
    ContextGraph().teach(toy_paths(), lambda done, total: told.append((done, total)))
    assert told[-1] == (2, 2)

    def stop(done, total):
        raise KeyboardInterrupt

    prioritizer = ContextGraph()
    with pytest.raises(KeyboardInterrupt):
        prioritizer.teach(toy_paths(), stop)
    assert set(prioritizer.state()) == {"made for"}


def test_paths_that_cannot_teach_are_refused():
    paths = toy_paths()
    lost = [[stop for stop in stops if stop.layer] for stops in paths]
    found = [[stop for stop in stops if not stop.layer] for stops in paths]
    with pytest.raises(NotTaught, match="pages on the paths is a target"):
        ContextGraph().teach([stops for stops in lost if stops])
    with pytest.raises(NotTaught, match="pages on the paths are targets"):
        ContextGraph().teach([stops for stops in found if stops])


def test_pages_without_words_cannot_teach():
    urls = [f"http://a.example/{name}" for name in "abc"]
    pages = {url: page("<a href=/b></a><a href=/c></a>", url) for url in urls}
    paths = resolve([Path([*map(Step, urls[:2]), Step(urls[2], "goal")])], pages.get, str)
    with pytest.raises(NotTaught, match="no words"):
        ContextGraph().teach(paths)


def test_untaught_it_says_so():
    one = page("<a href=/x>x</a>")
    with pytest.raises(NotTaught, match="scrapy teach --prioritizer context-graph"):
        look(ContextGraph(), one)


@pytest.mark.parametrize(
    ("name", "value"), [("words", 0), ("words", 1.5), ("other", 1), ("other", "no"), ("own_queue", 6)]
)
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        build(ContextGraph, {name: value})


def test_what_was_taught_with_other_options_is_refused():
    with pytest.raises(ValueError, match="taught with words=40, not 100"):
        ContextGraph(words=100).restore(built("context-graph").state())
