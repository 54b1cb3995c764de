"""The MEMM crawler: what it sees, what it believes, how it is taught."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.critics.targets import Targets
from focused.pages.evidence import ADDRESS, ANCHOR, NEAR, ON_PAGE, mix
from focused.pages.tokens import LEXICON, word_to_id
from focused.papers.paths.path import Path, Step
from focused.papers.paths.stops import Stop, resolve
from focused.papers.prioritizers import memm_teaching
from focused.papers.prioritizers.ground import Ground
from focused.papers.prioritizers.maxent import MaxEnt
from focused.papers.prioritizers.memm import Memm
from focused.papers.prioritizers.memm_features import OF_LINK, OF_PAGE, Sight, described_by
from focused.papers.prioritizers.memm_lessons import choose_keywords, gather
from focused.papers.prioritizers.states import STATES, uniform
from focused.papers.prioritizers.taught import NotTaught, SaidOfTopic
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import WAY, OneWordCritic, built, page, toy_paths, toy_site

PAGE = (
    "<title>Homework</title><h1>Course <b>notes</b></h1><p>the penguin swims</p>"
    "<p>see <a href=/penguin/syllabus.html>course page</a> here</p><p><a href=/tax>tax</a></p>"
)


def ids_of(*words):
    return np.array(sorted(map(word_to_id, words)), np.uint32)


def sight(features="all", near=1):
    return Sight(features, ids_of("penguin", "homework"), OneWordCritic().targets, near)


def words_in(channel, *words):
    return set(mix(np.array([LEXICON[word] for word in words], np.uint32), channel).tolist())


def along(prioritizer, name="bob", upto=4):
    """Evidence of each page on the way to a course, each reached by the right link of the one before."""
    site, arrived_by = toy_site("other", name), None
    for path, *_ in WAY[:upto]:
        here = site["http://other.example/" + path.format(name=name)]
        evidence = prioritizer.evidence(here, Verdict(0.5), here.links, arrived_by=arrived_by)
        yield here, evidence
        arrived_by = evidence.row(0)


@pytest.fixture(scope="module")
def taught():
    return built("memm")


# --- what is seen ----------------------------------------------------------------------------------------------


def test_title_headings_and_meta_tags_describe_a_page():
    assert set(described_by(page(PAGE)).tolist()) == set(ids_of("homework", "course", "notes").tolist())
    meta = page("<meta name=keywords content='ice, snow'><meta name=author content=ann><h1>notes</h1>")
    assert set(described_by(meta).tolist()) == set(ids_of("ice", "snow", "notes").tolist())
    assert not len(described_by(page("plain text")))


def test_keywords_and_cosines_of_a_page():
    seen = sight().of_page(sight().view(page(PAGE, "http://site.example/penguin")))
    assert words_in(0, "penguin", "homework") <= set(seen.ids.tolist())
    assert dict(zip(OF_PAGE, seen.dense[0].tolist(), strict=True)) == pytest.approx(
        {
            "cosine of the page": 1.0,
            "cosine of its description": 0.0,
            "keyword in an address on it": 1.0,
            "keyword in its address": 1.0,
        }
    )


def test_a_link_is_seen_by_its_words_and_those_of_its_page():
    parsed = page(PAGE)
    seen = sight().of_links(sight().view(parsed), parsed.links)
    first, other = set(seen.row(0).ids.tolist()), set(seen.row(1).ids.tolist())
    assert words_in(ANCHOR, "course", "page") <= first
    assert words_in(NEAR, "see", "here") <= first
    assert words_in(ADDRESS, "penguin", "syllabus", "html") <= first
    assert words_in(ON_PAGE, "penguin", "homework") <= first & other
    assert words_in(ANCHOR, "course").isdisjoint(other)
    assert seen.dense[:, OF_LINK.index("keyword in the address")].tolist() == [1, 0]


def test_the_words_near_a_link_are_compared_with_the_targets():
    parsed = page("<p>a penguin <a href=/x>here</a></p><p>and then tax law <a href=/y>there</a></p>")
    near = sight(near=2).of_links(sight().view(parsed), parsed.links).dense[:, 3]
    assert near.tolist() == pytest.approx([1, 0])


def test_a_target_is_not_compared_with_itself():
    one, two = page("penguin ice fish"), page("penguin snow whale")
    targets = Targets.of_pages([one, two], [True, True])
    view = Sight("all", ids_of(), targets, 4).view(one)
    assert 0 < view.numbers[0] < 0.9


def test_a_description_is_compared_with_the_topic_s():
    targets = Targets.of_pages([page("penguin ice fish"), page("tax law fish")], [True, False])
    titled = page("<h1>tax</h1><p>penguin")
    for said, cosine in (("tax", 1.0), ("ice", 0.0), ("", 0.0), ("unheard", 0.0)):
        view = Sight("all", ids_of(), targets, 4, LEXICON.text_to_ids(said)).view(titled)
        assert view.numbers[1] == pytest.approx(cosine), said


def test_all_addresses_on_a_page_are_looked_at():
    parsed = page("".join(f"<a href=/{n}>x</a>" for n in range(500)) + "<a href=/penguin>x</a>")
    assert sight().view(parsed).numbers[OF_PAGE.index("keyword in an address on it")] == 1


@pytest.mark.parametrize("features", ["words", "sim-meta"])
def test_sets_of_features_leave_the_others_out(features):
    parsed = page(PAGE)
    chosen = sight(features)
    view = chosen.view(parsed)
    of_page, of_links = chosen.on_arrival(chosen.of_page(view), ids_of("led")), chosen.of_links(view, parsed.links)
    keywords = words_in(0, "penguin", "homework") | words_in(ON_PAGE, "penguin", "homework")
    others = words_in(ANCHOR, "course", "page", "tax") | words_in(ADDRESS, "tax") | words_in(NEAR, "see", "here")
    others |= set(ids_of("led").tolist())
    seen = {*of_page.ids.tolist(), *of_links.ids.tolist()}
    assert seen & keywords == (keywords if features == "words" else set())
    assert seen & others == (others if features == "sim-meta" else set())
    assert bool(of_links.dense.any()) == bool(of_page.dense.any()) == (features == "sim-meta")


# --- what is taught --------------------------------------------------------------------------------------------


def test_links_beside_the_paths_teach_what_leads_away():
    ground = Ground.of(toy_paths(2))
    arrivals, links = gather(ground, sight(), 0.3, lambda: None)
    assert len(links.steps) == sum(len(one.links) for one in ground.pages)
    unknown = np.array([v < 0 for _, _, v in links.steps])
    assert set(links.samples.weight[unknown]) == {0.3}
    assert set(links.samples.state[unknown]) == {4}
    assert set(links.samples.weight[~unknown]) == {1.0}
    assert len(arrivals.steps) >= len(ground.steps)


@pytest.mark.parametrize("features", ["all", "words", "sim-meta"])
def test_what_is_taught_is_what_is_seen(features, monkeypatch):
    """In a crawl each page and each link on the paths is seen by the features by which it was taught."""
    memm = Memm(critic=OneWordCritic(), features=features)
    lessons = []

    def gathered(*args):
        lessons.append(gather(*args))
        return lessons[-1]

    monkeypatch.setattr(memm_teaching, "gather", gathered)
    memm.teach(toy_paths(3))
    (arrivals, links), ground = lessons[0], Ground.of(toy_paths(3))
    known, seen = memm.model.known, []

    def says(self, one):
        seen.append(one)
        return np.zeros((len(one), STATES))

    monkeypatch.setattr(MaxEnt, "says", says)
    for row, (u, link, v) in enumerate(arrivals.steps):
        before, here = (ground.pages[number] for number in (u, v))
        arrived_by = memm.evidence(before, Verdict(0.5), before.links).row(link) if link >= 0 else None
        seen.clear()
        memm.evidence(here, Verdict(0.5), here.links, arrived_by=arrived_by)
        of_links = [at for at, step in enumerate(links.steps) if step[0] == v]
        for now, then in zip(seen, (arrivals.samples.seen.row(row), links.samples.seen.select(of_links)), strict=True):
            assert features_of(now, known) == features_of(then, known)
            assert np.allclose(now.dense, then.dense)


def features_of(seen, known):
    return [sorted(set(known.tolist()).intersection(seen.row(row).ids.tolist())) for row in range(len(seen))]


def test_words_of_a_single_site_are_not_learned():
    names = ("ann0", "ann1")
    _, links = gather(Ground.of(toy_paths(2)), sight(), 0.3, lambda: None)
    known = set(links.known().tolist())
    assert words_in(ANCHOR, "course") <= known
    assert words_in(ANCHOR, *names).isdisjoint(known)


def test_keywords_are_those_of_target_pages_that_are_not_on_most_pages():
    assert choose_keywords(Ground.of(toy_paths()), None, 5).tolist() == [word_to_id("course")]
    assert not len(choose_keywords(Ground.of(toy_paths()), None, 0))


def test_keywords_are_the_best_of_many():
    paths = stops(2, 1, 0)
    for number, path in enumerate(paths):
        title = f"<h1>syllabus {'exam' if number % 2 else 'quiz'}</h1>"
        path[2] = replace(path[2], page=page(title, path[2].page.url))
    ground = Ground.of(paths)
    assert choose_keywords(ground, None, 1).tolist() == [word_to_id("syllabus")]
    assert choose_keywords(ground, None, 9).tolist() == ids_of("syllabus", "exam", "quiz").tolist()


def test_keywords_hold_the_words_of_the_class_path():
    class Critic(OneWordCritic):
        def judge(self, page):
            return Verdict(0.9, (("Science.Birds", 0.9),))

    assert {word_to_id("science"), word_to_id("birds")} <= set(
        choose_keywords(Ground.of(toy_paths()), Critic(), 5).tolist()
    )


def test_keywords_hold_what_the_user_said_and_what_meta_tags_of_targets_say():
    ground = Ground.of(toy_paths())
    assert set(ids_of("office", "hours", "course").tolist()) == set(
        choose_keywords(ground, None, 3, ["office hours"]).tolist()
    )
    for one, layer in zip(ground.pages, ground.layers, strict=True):
        one.about = "syllabi" if layer == 0 else ""
    assert word_to_id("syllabi") in choose_keywords(ground, None, 5)


def test_what_was_said_of_the_topic_goes_into_the_model():
    memm = Memm(critic=OneWordCritic())
    memm.said = SaidOfTopic(["office hours"], "Penguin courses")
    memm.teach(toy_paths(3))
    assert set(ids_of("office", "hours").tolist()) <= set(memm.model.keywords.tolist())
    back = Memm(critic=OneWordCritic())
    back.restore(memm.state())
    assert (
        back.sight.description.tolist()
        == memm.sight.description.tolist()
        == LEXICON.text_to_ids("penguin courses").tolist()
    )


def test_the_card_tells_of_what_was_held_out():
    figures = Memm(critic=OneWordCritic()).teach(toy_paths())
    for what in ("pages", "links"):
        assert 0 <= figures[f"{what}: layers told right"] <= 1
        assert figures[f"{what}: log-loss"] < figures[f"{what}: log-loss of the prior"]


def test_progress_goes_up_to_the_total():
    told = []
    Memm(critic=OneWordCritic()).teach(toy_paths(), lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert len({total for _, total in told}) == 1


def stops(*layers, repeat=12):
    """Paths over pages of given layers."""
    paths = []
    for number in range(repeat):
        pages = [page(f"<a href=/p{number}/{i + 1}>on</a>", f"http://s{number}.example/p{number}/{i}") for i in
                 range(len(layers))]  # fmt: skip
        paths.append([Stop(one, "to goal", layer, 0) for one, layer in zip(pages, layers, strict=True)])
    return paths


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        ([], "there are no paths"),
        (stops(3, 2, 1), "none of the 36 pages on the paths is a target"),
        (stops(0, 0), "are targets: what is on the way"),
        (stops(1, 0, repeat=3), "3 different steps .* too few"),
    ],
)
def test_paths_that_cannot_teach(paths, told):
    with pytest.raises(NotTaught, match=told):
        Memm(critic=OneWordCritic()).teach(paths)


def test_a_web_of_three_layers_is_enough():
    prioritizer = Memm(critic=OneWordCritic())
    assert prioritizer.teach(stops(2, 1, 0))["arrivals"] == 36


def test_a_page_whose_link_is_not_known_still_teaches():
    pages = {url: one for n in range(6) for url, one in toy_site(f"u{n}", f"n{n}").items()}
    roots = [f"http://u{n}.example/" for n in range(6)]
    paths = [
        Path([Step(root), Step(f"{root}cs/people"), Step(f"{root}~n{n}/cs1", "goal")]) for n, root in enumerate(roots)
    ]
    found = resolve(paths, pages.get, str)
    assert found[0][0].link == -1
    assert Memm(critic=OneWordCritic()).teach(found)["arrivals"] > 0


# --- what is believed ------------------------------------------------------------------------------------------


def test_finds_the_way_to_a_target(taught):
    for here, evidence in along(taught, upto=4):
        scores = taught.score(evidence)
        assert scores[0] > scores[1:].max(), here.url


def test_belief_in_evidence_is_the_sum_over_all_paths(taught):
    """Three pages on: the same as going along all states of all pages by hand."""
    models = taught.model
    by_hand, led_by = uniform(), np.zeros(0, np.uint32)
    seeing = taught.sight
    for here, evidence in along(taught, upto=3):
        said = models.page.says(seeing.on_arrival(seeing.of_page(seeing.view(here)), led_by))
        by_hand = by_hand @ models.page.transitions(said)[0]
        assert np.allclose(evidence.dense[:, :STATES], by_hand, atol=1e-5)
        led_by = evidence.row(0).ids
        behind = by_hand @ models.link.transitions(evidence.dense[:, STATES : 2 * STATES])[0]
        assert taught.score(evidence)[0] == pytest.approx(behind @ taught.gamma ** np.arange(STATES), abs=1e-5)


def test_the_path_moves_the_score_of_the_same_link(taught):
    site = toy_site("other", "bob")
    here = site["http://other.example/cs/people"]
    scores = []
    for belief in np.eye(STATES):
        arrived = next(along(taught))[1].row(0)
        arrived.dense[0, :STATES] = belief
        evidence = taught.evidence(here, Verdict(0.5), here.links, arrived_by=arrived)
        scores.append(float(taught.score(evidence)[0]))
    assert len(set(np.round(scores, 3))) > 1


def test_viterbi_is_another_belief(taught):
    other = copy.copy(taught)
    other.inference = "viterbi"
    ours, theirs = (list(along(one))[2][1] for one in (taught, other))
    assert not np.allclose(ours.dense[:, :STATES], theirs.dense[:, :STATES], atol=1e-3)
    assert np.allclose(theirs.dense[:, :STATES].sum(axis=1), 1, atol=1e-5)


def test_by_state_links_are_ordered_by_the_most_probable_state(taught):
    other = copy.copy(taught)
    other.priority = "state"
    *_, (_, evidence) = along(other)
    assert other.score(evidence).argmax() == 0


def test_only_what_has_weights_is_kept(taught):
    known = set(taught.model.known.tolist())
    for _, evidence in along(taught):
        assert set(evidence.ids.tolist()) <= known


def test_explains_by_words_and_by_the_path(taught):
    *_, (_, evidence) = along(taught)
    parts = taught.explain(evidence.row(0))
    weights = {part.feature: part.weight for part in parts}
    assert any(str(feature).startswith("path so far: T") for feature in weights)
    course = mix(np.array([word_to_id("course")], np.uint32), ANCHOR)
    assert weights[int(course[0])] > 0
    assert taught.weights_of(course)[0] > 0


# --- options and bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"features": "most"}, {"inference": "best"}, {"priority": "highest"}, {"gamma": 1.5}, {"gamma": True},
        {"keywords": -1}, {"keywords": 2.5}, {"near": -1}, {"strength": 0}, {"beside": 2},
    ],
)  # fmt: skip
def test_options_that_are_wrong_are_named(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        build(Memm, options)


def test_a_critic_without_targets():
    critic = OneWordCritic()
    critic.targets = None
    with pytest.raises(ValueError, match="set features = 'words'"):
        Memm(critic=critic).teach(toy_paths())
    alone = Memm(critic=critic, features="words")
    alone.teach(toy_paths())
    assert len(list(along(alone))) == 4


@pytest.mark.parametrize("features", ["words", "sim-meta"])
def test_what_was_taught_is_bound_to_its_features(taught, features):
    with pytest.raises(ValueError, match=f"features='all', not '{features}'"):
        Memm(critic=OneWordCritic(), features=features).restore(taught.state())


def test_how_links_are_ordered_may_change_after_teaching(taught):
    other = Memm(critic=OneWordCritic(), inference="viterbi", priority="state", gamma=0.9)
    other.restore(taught.state())
    assert np.isfinite(other.score(next(along(other))[1])).all()


def test_a_small_second_site_does_not_silence_the_large_one():
    paths = stops(2, 1, 0, repeat=30)
    large = [[Stop(page(f"<h1>course {n}</h1><a href=/a/{n}/{i + 1}>course</a>", f"http://large.example/a/{n}/{i}"), "",
                   2 - i, 0) for i in range(3)] for n in range(30)]  # fmt: skip
    _, links = gather(Ground.of([*large, paths[0]]), sight(), 0.3, lambda: None)
    assert words_in(ANCHOR, "course") <= set(links.known().tolist())
