"""What the default prioritizer looks at, learns and refuses."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.evidence import ADDRESS, Evidence, mix
from focused.pages.tokens import word_to_id
from focused.papers.prioritizers.apprentice import Apprentice
from focused.prioritizers.base import Lessons
from focused.prioritizers.features import Look
from focused.prioritizers.focused import Focused
from focused.prioritizers.options import build
from focused.report.reasons import reasons
from tests.prioritizers.prioritizer_cases import URL, OneWordCritic, lessons_of, page

PARTS = ("words", "address", "elements", "siblings")
FILLER = ("alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega")


def feature(word, offset):
    return int(mix(np.array([word_to_id(word)], np.uint32), offset)[0])


def see(prioritizer, body, relevance=0.3, url=URL) -> Evidence:
    parsed = page(body, url)
    return prioritizer.evidence(parsed, Verdict(relevance), parsed.links)


def scores(prioritizer, body, relevance=0.3, url=URL):
    return prioritizer.score(see(prioritizer, body, relevance, url))


def taught(prioritizer, *cases, rounds=5):
    """Taught by pages with one link each: (body, R(v)) or (body, R(v), address)."""
    for _ in range(rounds):
        batch = [lessons_of(see(prioritizer, body, 0.3, *url), [relevance]) for body, relevance, *url in cases]
        prioritizer = prioritizer.learn(Lessons.concat(batch))
    return prioritizer


# --- what it sees ------------------------------------------------------------------------------------------------


def test_evidence_holds_words_with_offsets_then_words_of_the_address_then_places():
    body = "<p>left</p><a href=/papers/old>Item one</a>"
    seen, parsed = see(Focused(), body), page(body)
    words = [("left", -1), ("item", 0), ("one", 0), ("papers", ADDRESS), ("old", ADDRESS)]
    expected = [
        *(feature(*one) for one in words),
        *Focused().layout.places_of(Look(parsed, Verdict(0.5), parsed.links))[0].tolist(),
    ]
    assert seen.ids.tolist() == expected


def test_numbers_tell_of_the_page_the_critic_s_opinion_a_picture_and_the_length_of_the_address():
    body = "<p>x</p><a href=/a>penguin</a>" + "<p>filler</p>" * 4 + "<a href=/b/c><img src=i></a>"
    first, second = see(Focused(critic=OneWordCritic()), body, relevance=0.7).dense
    assert first[0] == second[0] == np.float32(0.7)
    assert first[1] > 1
    assert first[2] > 1
    assert second[1] == second[2] == 0
    assert (first[3], second[3]) == (0, 1)
    assert (first[4], second[4]) == (1, 2)


def test_it_works_without_a_critic_to_ask():
    prioritizer = taught(Focused(critic=None), ("<p>penguin</p><a href=/x>Item</a>", 0.9))
    assert not see(prioritizer, "<a href=/x>penguin</a>").dense[:, 1:3].any()
    assert scores(prioritizer, "<p>penguin</p><a href=/y>Item</a>") > scores(prioritizer, "<p>tax</p><a href=/y>It</a>")


def test_stored_evidence_is_scored_without_the_critic_that_helped_to_make_it():
    body = "<p>penguin</p><a href=/x>penguin</a><a href=/y>tax</a>"
    asked = taught(Focused(critic=OneWordCritic()), ("<a href=/x>penguin</a>", 0.9), ("<a href=/y>tax</a>", 0.1))
    alone = Focused(critic=None)
    alone.restore(asked.state())
    stored = see(asked, body).to_bytes()
    assert (alone.score(Evidence.from_bytes(stored)) == scores(asked, body)).all()


# --- how it begins -----------------------------------------------------------------------------------------------


def test_begins_as_best_first():
    body = "<p>some words</p><a href=/x>x</a>"
    order = [scores(Focused(), body, relevance)[0] for relevance in (0.01, 0.2, 0.5, 0.9)]
    assert order == sorted(order)
    assert len(set(order)) == 4


def test_begins_with_what_the_critic_says_of_the_links_of_a_page():
    far = "<p>filler</p>" * 8
    body = f"{far}<a href=/1>tax</a>{far}<p>penguin</p><a href=/2>tax</a>{far}<a href=/3>penguin</a>{far}"
    tax, beside, penguin = scores(Focused(critic=OneWordCritic()), body)
    assert tax < beside < penguin


def test_bad_news_alone_does_not_turn_the_order_round():
    prioritizer = Focused(critic=OneWordCritic())
    rng = np.random.default_rng(0)
    for _ in range(20):
        cases = [(f"<p>{rng.choice(FILLER)}</p><a href=/{rng.integers(1_000_000)}>tax</a>", 0.01) for _ in range(3)]
        batch = [lessons_of(see(prioritizer, body, rng.uniform(0, 0.1)), [label]) for body, label in cases]
        prioritizer = prioritizer.learn(Lessons.concat(batch))
    new = "<p>unheard</p><a href=/new>of</a>"
    order = [scores(prioritizer, new, relevance, "http://other.example/")[0] for relevance in (0.02, 0.3, 0.9)]
    assert order == sorted(order)
    assert scores(prioritizer, "<a href=/new>penguin</a>") > scores(prioritizer, "<a href=/new>unheard</a>")


# --- what it learns ----------------------------------------------------------------------------------------------


def two_lists(count=6):
    def items(name):
        return "".join(f"<li><a href=/{name}{n}>{FILLER[n % 7]}</a>" for n in range(count))

    return f"<ul class=one>{items('a')}</ul><ul class=two>{items('b')}</ul>"


def test_the_rest_of_a_list_sinks_below_another_when_some_of_it_turned_out_bad():
    prioritizer = Focused()
    seen = see(prioritizer, two_lists())
    before = prioritizer.score(seen)
    assert before.max() - before.min() < 0.01
    after = prioritizer.learn(lessons_of(seen.select([0, 1, 2]), [0.01, 0.02, 0.01])).score(seen)
    assert after[3:6].max() < after[6:].min()


def test_the_rest_of_a_list_rises_above_another_when_some_of_it_turned_out_good():
    prioritizer = Focused()
    seen = see(prioritizer, two_lists())
    after = prioritizer.learn(lessons_of(seen.select([6, 7]), [0.9, 0.8])).score(seen)
    assert after[8:].min() > after[:6].max()


def test_a_page_whose_links_lead_nowhere_sinks_below_a_page_that_looks_the_same():
    prioritizer = Focused()
    seen = see(prioritizer, two_lists())
    prioritizer = prioritizer.learn(lessons_of(seen.select([0, 1, 6, 7]), [0.01] * 4))
    here, there = scores(prioritizer, two_lists()), scores(prioritizer, two_lists(), url=f"{URL}there")
    assert here[2:6].max() < there[2:6].min()


def test_the_same_list_on_the_next_page_of_a_site_profits():
    prioritizer = Focused()
    seen = see(prioritizer, two_lists())
    prioritizer = prioritizer.learn(lessons_of(seen.select([0, 1, 6, 7]), [0.01, 0.01, 0.9, 0.9]))
    bad, good = np.split(scores(prioritizer, two_lists(), url=f"{URL}next"), 2)
    assert bad.max() < good.min()


def some_body(rng, left, right=""):
    filler = [" ".join(rng.choice(FILLER, 6)) for _ in range(2)]
    number = rng.integers(1e9)
    return f"<p>{filler[0]} {left}</p><a href=/{number}>Item</a><p>{right} {filler[1]}</p>"


def word_tells(rng, good):
    return some_body(rng, "penguin" if good else "tax")


def side_tells(rng, good):
    return some_body(rng, *(("good", "bad") if good else ("bad", "good")))


def train(prioritizer, make_body, lessons=400, *, good=(0.7, 1.0), bad=(0.0, 0.1)):
    """Taught in batches of ten, by links that each stand on a page of their own."""
    rng = np.random.default_rng(0)
    for number in range(lessons // 10):
        batch = []
        for i in range(10):
            is_good = rng.random() < 0.2
            seen = see(prioritizer, make_body(rng, is_good), url=f"{URL}{number}/{i}")
            batch.append(lessons_of(seen, [rng.uniform(*(good if is_good else bad))]))
        prioritizer = prioritizer.learn(Lessons.concat(batch))
    return prioritizer


def how_often_right(prioritizer, make_body, pairs=100):
    """How often a good link scores above a bad one, on pages not seen before."""
    rng = np.random.default_rng(99)
    good, bad = (
        [scores(prioritizer, make_body(rng, kind), url=f"{URL}new")[0] for _ in range(pairs)] for kind in (1, 0)
    )
    return np.mean(np.array(good)[:, None] > np.array(bad)[None, :])


@pytest.mark.parametrize("make_body", [word_tells, side_tells])
def test_learns_words_and_on_which_side_of_a_link_they_speak_for_it(make_body):
    assert how_often_right(train(Focused(), make_body), make_body) > 0.95


def test_learns_a_word_within_the_first_pages():
    assert how_often_right(train(Focused(), word_tells, lessons=50), word_tells) > 0.8


def test_weights_tell_words_and_sides():
    learned = train(Focused(), side_tells)
    ids = np.array([feature("good", -1), feature("good", 1), feature("unheard", 0)], np.uint32)
    left, right, unheard = learned.weights_of(ids)
    assert left > 0 > right
    assert abs(unheard) < min(left, -right)


def test_differences_among_the_bad_are_learned_before_the_first_hit():
    learned = train(Focused(), word_tells, good=(0.1, 0.2), bad=(0.0, 0.01))
    assert how_often_right(learned, word_tells) > 0.9


def test_with_hard_labels_pages_below_a_half_are_all_alike():
    near, far = "<p>near</p><a href=/1>x</a>", "<p>far</p><a href=/1>x</a>"
    graded, hard = (taught(Focused(graded=graded), (near, 0.45), (far, 0.01)) for graded in (True, False))
    assert scores(graded, near) - scores(graded, far) > 0.1
    assert abs(scores(hard, near) - scores(hard, far)) < 0.02
    told = taught(Focused(graded=False), (near, 0.55), (far, 0.45))
    assert scores(told, near) - scores(told, far) > 0.1


def looked_around(**options):
    """Has seen pages of one directory, as relevant as it takes all links to be, and goes by nothing but novelty."""
    prioritizer = Focused(words=False, address=False, elements=False, siblings=False, **options)
    seen = see(prioritizer, "".join(f"<p><a href=/old/{n}>x</a>" for n in range(6)))
    return prioritizer.learn(lessons_of(seen, prioritizer.learner.score(seen)))


def test_where_nobody_was_yet_a_link_is_worth_more():
    body = "<a href=/old/new>x</a><a href=/new/new>y</a>"
    old, new = scores(looked_around(novelty=0.5), body)
    assert old < new
    old, new = scores(looked_around(novelty=0, price=0), body)
    assert old == new


def test_a_directory_of_dead_links_stays_new():
    prioritizer = Focused(novelty=0.5)
    seen = see(prioritizer, "<a href=/gone/1>x</a><a href=/there/1>y</a>")
    lessons = lessons_of(seen, [0.0, 0.1])
    lessons.alive[0] = False
    gone, there = prioritizer.learn(lessons).visits.novelty(
        prioritizer.layout.place_in(seen, "the directory it leads into")
    )
    assert gone == 1 > there


def test_dead_links_teach_nothing_of_what_links_are_worth():
    prioritizer = Focused(price=0)
    seen = see(prioritizer, two_lists())
    every = lessons_of(seen.select([0, 1, 2]), [0.9, 0.0, 0.1])
    every.alive[1] = False
    some = prioritizer.learn(lessons_of(seen.select([0, 2]), [0.9, 0.1]))
    assert (prioritizer.learn(every).score(seen) == some.score(seen)).all()
    every.alive[:] = False
    assert prioritizer.learn(every) is None


def dead_and_alive(prioritizer, dead, alive, times=5):
    """One that has met links of two kinds (body, address of the page), those of the first kind all dead."""
    for body, url in (dead, alive) * times:
        lessons = lessons_of(see(prioritizer, body, url=url), [0.5])
        lessons.alive[:] = (body, url) == alive
        prioritizer = prioritizer.learn(lessons) or prioritizer
    return prioritizer


@pytest.mark.parametrize(
    ("dead", "alive"),
    [
        (("<a href=http://gone.example/x>Item</a>", URL), ("<a href=http://there.example/x>Item</a>", URL)),
        (("<a href=/gone/x>Item</a>", URL), ("<a href=/there/x>Item</a>", URL)),
        (("<a href=/x.cgi>Item</a>", URL), ("<a href=/x.html>Item</a>", URL)),
        (("<a href=/x>Item</a>", f"{URL}old"), ("<a href=/x>Item</a>", f"{URL}new")),
    ],
    ids=["host", "directory", "form of address", "page"],
)
def test_links_like_those_that_were_dead_come_later(dead, alive):
    learned = dead_and_alive(Focused(price=1.0, siblings=dead[1] != alive[1]), dead, alive)
    gone, there = (float(scores(learned, body, url=url)[0]) for body, url in (dead, alive))
    assert gone < 0.7 * there
    learned.price = 0
    gone, there = (float(scores(learned, body, url=url)[0]) for body, url in (dead, alive))
    assert gone == pytest.approx(there, rel=0.5)


def test_of_a_new_host_the_usual_share_is_alive():
    gone, there = ("<a href=http://gone.example/x>Item</a>", URL), ("<a href=http://there.example/x>Item</a>", URL)
    learned = dead_and_alive(Focused(price=1.0, siblings=False), gone, there)
    new = see(learned, "<a href=http://new.example/y>Item</a>")
    chance = [learned.aliveness.chance(*learned.layout.of_aliveness(see(learned, body))) for body, _ in (gone, there)]
    assert chance[0] < 0.3 < learned.aliveness.chance(*learned.layout.of_aliveness(new)) < chance[1]


def test_what_a_link_costs_is_explained():
    gone, there = ("<a href=/gone/x>Item</a>", URL), ("<a href=/there/x>Item</a>", URL)
    learned = dead_and_alive(Focused(price=1.0), gone, there)
    seen = see(learned, gone[0])
    parts = {part.feature: part.weight for part in learned.explain(seen)}
    score = float(learned.score(seen)[0])
    assert parts["aliveness"] < -0.5
    assert sum(parts.values()) == pytest.approx(np.log(score / (1 - score)), abs=1e-4)
    assert any("it may be dead \u2212" in line for line in reasons(learned, seen, [None] * len(seen.ids)))


@pytest.mark.parametrize("graded", [True, False])
def test_learning_leaves_the_lessons_as_they_were(graded):
    prioritizer = Focused(graded=graded)
    lessons = lessons_of(see(prioritizer, "<p>twice twice twice</p><a href=/x>x</a>"), [0.4])
    before = lessons.evidence.to_bytes()
    prioritizer.learn(lessons)
    assert lessons.evidence.to_bytes() == before
    assert lessons.relevance.tolist() == [np.float32(0.4)]


# --- its options -------------------------------------------------------------------------------------------------


@dataclass
class Pair:
    """A good link and a bad one that differ in one part of the evidence, and where they are met again."""

    good: str
    bad: str
    good_url: str = URL
    bad_url: str = URL
    again: str = ""
    """What is added to the address of both pages when they are met again."""


def paper(name):
    return f"<p>see</p><a href=/{name}/list>Item</a>"


def box(name):
    return f"<div class={name}><p>see</p><a href=/x>Item</a></div>"


TOLD_BY = {
    "words": Pair("<p>penguin</p><a href=/x>Item</a>", "<p>tax</p><a href=/x>Item</a>"),
    "address": Pair(paper("papers"), paper("private")),
    "elements": Pair(box("main"), box("footer"), again="again"),
    "siblings": Pair(box("main"), box("main"), good_url=f"{URL}good", bad_url=f"{URL}bad"),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_tells_links_apart_by_itself_and_has_no_influence_when_it_is_left_out(part):
    pair = TOLD_BY[part]

    def gap(options):
        learned = taught(Focused(**options), (pair.good, 0.9, pair.good_url), (pair.bad, 0.05, pair.bad_url))
        good = scores(learned, pair.good, url=pair.good_url + pair.again)
        return float((good - scores(learned, pair.bad, url=pair.bad_url + pair.again))[0])

    others = {other: other == part for other in PARTS}
    assert gap(others) > 0.1
    assert gap({}) > 0.1
    assert gap({part: False, "price": 0}) == 0


def test_without_reads_the_critic_is_not_asked():
    body = "<a href=/a>penguin</a>" + "<p>filler</p>" * 8 + "<a href=/b>tax</a>"
    prioritizer = Focused(critic=OneWordCritic(), reads=False)
    assert not see(prioritizer, body).dense[:, 1:3].any()
    assert len(set(scores(prioritizer, body).tolist())) == 1


def test_without_source_the_relevance_of_the_page_has_no_influence():
    body, prioritizer = "<p>w</p><a href=/x>x</a>", Focused(source=False)
    assert scores(prioritizer, body, 0.9) == scores(prioritizer, body, 0.1)
    batch = [lessons_of(see(prioritizer, body, relevance), [relevance]) for relevance in (0.9, 0.1) * 5]
    learned = prioritizer.learn(Lessons.concat(batch))
    assert scores(learned, body, 0.9) == scores(learned, body, 0.1)


def test_without_offsets_the_side_has_no_influence():
    one, other = "<p>a</p><a href=/x>x</a><p>b</p>", "<p>b</p><a href=/x>x</a><p>a</p>"
    for offsets in (True, False):
        learned = taught(Focused(offsets=offsets), (one, 0.9), (other, 0.05))
        gap = abs(float((scores(learned, one) - scores(learned, other))[0]))
        assert gap > 0.1 if offsets else gap < 1e-3


def test_words_farther_away_than_d_max_have_no_influence():
    def body(word):
        return f"<p>{word}</p><p>between</p><a href=/x>x</a>"

    for d_max in (1, 2):
        learned = taught(Focused(d_max=d_max), (body("penguin"), 0.9), (body("tax"), 0.05))
        told_apart = scores(learned, body("penguin")) != scores(learned, body("tax"))
        assert told_apart == (d_max == 2)


def test_spread_says_how_far_lessons_lead_away_from_the_prior():
    good = "<p>penguin</p><a href=/x>Item</a>"
    steps = [scores(taught(Focused(spread=spread), (good, 0.9), rounds=1), good)[0] for spread in (0.3, 1.0, 3.0)]
    assert scores(Focused(), good)[0] < steps[0] < steps[1] < steps[2]


def test_with_no_spread_only_the_numbers_beside_the_features_learn():
    still = taught(
        Focused(spread=0), ("<p>penguin</p><a href=/x>Item</a>", 0.9), ("<p>tax</p><a href=/x>Item</a>", 0.1)
    )
    words = np.array([feature("penguin", -1), feature("tax", -1)], np.uint32)
    assert not still.weights_of(words).any()
    assert scores(still, "<a href=/x>x</a>") != scores(Focused(), "<a href=/x>x</a>")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("d_max", -1), ("d_max", 32), ("d_max", 2.5), ("d_max", True), ("bits", 7), ("bits", 25), ("bits", "18"),
        ("novelty", -0.1), ("novelty", 0.91), ("novelty", 1), ("novelty", "much"),
        ("spread", -1), ("spread", 101), ("spread", "far"), ("spread", float("nan")), ("offsets", "yes"),
        ("words", 1), ("address", 0), ("elements", None), ("siblings", "no"), ("reads", "no"), ("source", "u"),
        ("graded", 0.5), ("combine", "median"),
    ],
)  # fmt: skip
def test_bad_values_are_named_with_the_way_out(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}: (give|choose)"):
        build(Focused, {name: value})


def test_unknown_options_are_named_with_the_nearest_known():
    with pytest.raises(ValueError, match="'siblings'") as error:
        build(Focused, {"sibling": False})
    assert "sibling=false" in str(error.value)


# --- what it tells -----------------------------------------------------------------------------------------------


def test_explains_by_the_word_that_tells():
    parts = train(Focused(), word_tells).explain(see(Focused(), "<p>penguin</p><a href=/x>Item</a>"))
    of_words = [part for part in parts if isinstance(part.feature, int)]
    assert of_words[0].feature == feature("penguin", -1)
    assert of_words[0].weight > 0
    assert {"source relevance", "bias"} <= {part.feature for part in parts}


def test_explains_by_the_list_and_page_that_were_met():
    prioritizer = Focused()
    seen = see(prioritizer, two_lists())
    prioritizer = prioritizer.learn(lessons_of(seen.select([0, 1, 2]), [0.01, 0.02, 0.01]))
    told = {part.feature: part.weight for part in prioritizer.explain(seen.row(3))}
    assert {"the elements around it", "other links of the page"} <= told.keys()
    assert told["other links of the list"] < 0
    assert "other links of the list" not in {part.feature for part in prioritizer.explain(seen.row(6))}


def test_contributions_sum_to_the_log_odds_of_the_score():
    prioritizer = train(Focused(critic=OneWordCritic()), word_tells, lessons=100)
    seen = see(prioritizer, "<p>penguin penguin alpha</p><a href=/papers/papers>penguin</a>", 0.8)
    total = sum(part.weight for part in prioritizer.explain(seen))
    assert prioritizer.score(seen)[0] == pytest.approx(1 / (1 + np.exp(-total)), rel=1e-3)


def test_what_novelty_adds_is_told_also_where_scores_are_tiny():
    lost = Focused()
    for _ in range(100):
        lost = lost.learn(lessons_of(see(lost, two_lists(), 0.0), [0.0] * 12))
    seen = see(lost, two_lists().replace("href=/", "href=/else/where/"), 0.0).row(0)
    told = {part.feature: part.weight for part in lost.explain(seen)}
    assert lost.learner.score(seen)[0] < 0.001
    assert lost.score(seen)[0] == pytest.approx(1 / (1 + np.exp(-sum(told.values()))), rel=1e-3)
    assert told["novelty"] > 1


def test_what_novelty_adds_is_told_also_where_scores_cannot_grow():
    sure = Focused(novelty=0.5)
    seen = see(sure, "<p>words</p><a href=/new/x>Item</a>")
    seen.dense[:, 1] = 100.0
    told = {part.feature: part.weight for part in sure.explain(seen)}
    assert sure.learner.score(seen)[0] == 1
    assert told["novelty"] == pytest.approx(np.log(2)), "half of what is left to 1 doubles the odds"


def test_without_novelty_nothing_is_told_of_it():
    plain = taught(Focused(novelty=0), ("<p>penguin</p><a href=/x>Item</a>", 0.9))
    assert "novelty" not in {part.feature for part in plain.explain(see(plain, two_lists()).row(0))}


def test_a_word_that_stands_twice_is_told_once():
    seen = see(Focused(), "<p>penguin penguin</p><a href=/x>Item</a>")
    features = [part.feature for part in taught(Focused(), ("<p>penguin</p><a href=/x>x</a>", 0.9)).explain(seen)]
    assert features.count(feature("penguin", -1)) == 1


# --- what it keeps -----------------------------------------------------------------------------------------------

OTHERS = {
    "bits": 12, "d_max": 3, "spread": 2.0, "offsets": False, "words": False, "address": False, "elements": False,
    "siblings": False, "reads": False, "source": False, "graded": False, "rarity": False,
}  # fmt: skip


def saved():
    return taught(Focused(), ("<p>penguin</p><a href=/x>Item</a>", 0.9)).state()


@pytest.mark.parametrize("name", OTHERS)
def test_what_was_saved_with_other_options_is_refused(name):
    with pytest.raises(ValueError, match=rf"made with {name}=.*set {name} in \[prioritizer\] to that"):
        Focused(**{name: OTHERS[name]}).restore(saved())


def test_what_does_not_change_the_meaning_of_weights_may_be_another():
    Focused(combine="max", seed=7, novelty=0.1, critic=OneWordCritic()).restore(saved())


@pytest.mark.parametrize(
    ("state", "by"),
    [(Apprentice().state(), "'apprentice'"), ({"weights": np.zeros(3)}, "another"), ({}, "another")],
    ids=["apprentice", "alien", "nothing"],
)
def test_what_another_prioritizer_saved_is_refused(state, by):
    with pytest.raises(ValueError, match=f"saved by {by}, not by 'focused': name the prioritizer that saved it"):
        Focused().restore(state)


def test_what_another_format_saved_is_refused():
    state = saved()
    state["made_for"] = np.array(json.dumps({**json.loads(str(state["made_for"])), "format": 0}))
    with pytest.raises(ValueError, match="another version of this project"):
        Focused().restore(state)


def test_what_is_refused_changes_nothing():
    prioritizer = taught(Focused(), ("<p>penguin</p><a href=/x>Item</a>", 0.9))
    before = scores(prioritizer, "<p>penguin</p><a href=/x>Item</a>")
    with pytest.raises(ValueError, match="saved by 'apprentice', not by"):
        prioritizer.restore(Apprentice().state())
    assert scores(prioritizer, "<p>penguin</p><a href=/x>Item</a>") == before


def test_the_state_is_small():
    assert sum(array.nbytes for array in train(Focused(), word_tells, lessons=100).state().values()) < 50_000


def test_a_state_without_visits_is_refused_and_changes_nothing():
    prioritizer, state = Focused(), saved()
    del state["visits"]
    with pytest.raises(KeyError, match="visits"):
        prioritizer.restore(state)
    assert prioritizer.learner.seen == 0
