"""What the apprentice can learn, and what it must not unlearn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.evidence import mix, names_to_ids
from focused.pages.tokens import LEXICON, word_to_id
from focused.papers.prioritizers.apprentice import Apprentice
from focused.papers.prioritizers.naive_bayes import NaiveBayesLearner
from focused.papers.prioritizers.observed import BestFirstObserved
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import OneWordCritic, evidence_of, lessons_of, page

LEARNERS = ("logistic", "naive-bayes")
FILLER = ("alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega")


def feature(word, offset):
    return int(mix(np.array([word_to_id(word)], np.uint32), offset)[0])


def bayes_of(apprentice):
    assert isinstance(apprentice.learner, NaiveBayesLearner)
    return apprentice.learner


def filler(rng, count=6):
    return " ".join(rng.choice(FILLER, count))


def body_with_link(rng, left, right):
    link = f"<a href=/{rng.integers(1e9)}>Item {rng.integers(99)}</a>"
    return f"<p>{filler(rng)} {left}</p>{link}<p>{right} {filler(rng)}</p>"


def train(apprentice, make_body, lessons=400, positive=0.1, seed=0):
    """Teach in batches of ten; ``make_body(rng, good)`` gives the page of each lesson."""
    rng = np.random.default_rng(seed)
    for _ in range(lessons // 10):
        batch = []
        for _ in range(10):
            good = rng.random() < positive
            relevance = rng.uniform(0.7, 1.0) if good else rng.uniform(0.0, 0.1)
            batch.append(lessons_of(evidence_of(apprentice, make_body(rng, good), 0.3), [relevance]))
        apprentice = apprentice.learn(Lessons.concat(batch))
    return apprentice


def how_often_right(apprentice, make_body, pairs=200):
    """How often a good link scores above a bad one."""
    rng = np.random.default_rng(99)
    good = [apprentice.score(evidence_of(apprentice, make_body(rng, True), 0.3))[0] for _ in range(pairs)]
    bad = [apprentice.score(evidence_of(apprentice, make_body(rng, False), 0.3))[0] for _ in range(pairs)]
    return np.mean(np.array(good)[:, None] > np.array(bad)[None, :])


def word_tells(rng, good):
    return body_with_link(rng, "penguin" if good else "tax", "")


def side_tells(rng, good):
    return body_with_link(rng, "good" if good else "bad", "bad" if good else "good")


@pytest.mark.parametrize("learner", LEARNERS)
def test_learns_the_words_beside_good_links(learner):
    apprentice = train(Apprentice(learner=learner), word_tells)
    assert how_often_right(apprentice, word_tells) > 0.95


@pytest.mark.parametrize("learner", LEARNERS)
def test_learns_on_which_side_of_a_link_a_word_speaks_for_it(learner):
    apprentice = train(Apprentice(learner=learner), side_tells)
    assert how_often_right(apprentice, side_tells) > 0.95


@pytest.mark.parametrize("learner", LEARNERS)
def test_without_offsets_the_side_cannot_be_learned(learner):
    apprentice = train(Apprentice(learner=learner, offsets=False), side_tells)
    assert 0.35 < how_often_right(apprentice, side_tells) < 0.65


@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_tell_words_and_sides(learner):
    apprentice = train(Apprentice(learner=learner), side_tells)
    ids = np.array([feature("good", -1), feature("good", 1), feature("unheard", 0)], np.uint32)
    left, right, unheard = apprentice.weights_of(ids)
    assert left > 0 > right
    assert abs(unheard) < min(left, -right)


def test_explains_by_the_word_that_tells():
    apprentice = train(Apprentice(), word_tells)
    parts = apprentice.explain(evidence_of(apprentice, "<p>penguin</p><a href=/x>Item</a>", 0.3))
    assert parts[0].feature == feature("penguin", -1)
    assert parts[0].weight > 0
    assert {"source relevance", "bias"} <= {part.feature for part in parts}


def test_contributions_sum_to_the_log_odds_of_the_score():
    apprentice = train(Apprentice(), word_tells)
    evidence = evidence_of(apprentice, "<p>penguin penguin alpha</p><a href=/x>Item</a>", 0.3)
    total = sum(part.weight for part in apprentice.explain(evidence))
    assert apprentice.score(evidence)[0] == pytest.approx(1 / (1 + np.exp(-total)), rel=1e-3)


def test_in_the_paper_s_set_up_every_link_teaches_as_a_whole_lesson():
    body = "<p>penguin</p><a href=/x>Item</a>"
    for paper, lessons in ((True, 4), (False, 1)):
        apprentice = Apprentice(paper=paper, learner="naive-bayes")
        of_one_page = Lessons.of_page(evidence_of(apprentice, body * 4), 0.9, np.full(4, 0.5, np.float32))
        assert bayes_of(apprentice.learn(of_one_page)).lessons.sum() == lessons


def test_the_paper_s_set_up_sees_the_words_around_links_alone():
    apprentice = Apprentice(paper=True, critic=OneWordCritic())
    evidence = evidence_of(apprentice, "<p>penguin</p><a href=/x>Item</a>", classes=(("Science", 0.9),))
    assert evidence.ids.tolist() == [feature("penguin", -1), feature("item", 0)]
    assert (apprentice.combine, bayes_of(apprentice).cut, apprentice.sees_fetched) == ("first", "median", False)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"combine": "max"}, "combine='max'"), ({"cocitation": True}, "cocitation=true"),
        ({"chances": True}, "chances=true"),
    ],
)  # fmt: skip
def test_what_contradicts_the_paper_s_set_up_is_named(options, told):
    with pytest.raises(ValueError, match=f"^{told} does not go with paper=true, which sets"):
        build(Apprentice, {"paper": True, **options})


@pytest.mark.parametrize("learner", LEARNERS)
def test_begins_as_best_first(learner):
    apprentice = Apprentice(learner=learner)
    body = "<p>some words</p><a href=/x>x</a>"
    scores = [apprentice.score(evidence_of(apprentice, body, relevance))[0] for relevance in (0.01, 0.2, 0.9)]
    assert scores == sorted(scores)
    assert scores[0] < 0.1 < scores[1] < 0.5 < scores[2]


@pytest.mark.parametrize("learner", LEARNERS)
def test_bad_news_alone_does_not_turn_the_order_round(learner):
    rng = np.random.default_rng(0)
    apprentice = Apprentice(learner=learner)
    for _ in range(5):
        batch = [
            lessons_of(evidence_of(apprentice, body_with_link(rng, "tax", ""), rng.uniform(0, 0.1)), [0.01])
            for _ in range(10)
        ]
        apprentice = apprentice.learn(Lessons.concat(batch))
    scores = [
        apprentice.score(evidence_of(apprentice, body_with_link(rng, "new", ""), relevance))[0]
        for relevance in (0.02, 0.3, 0.9)
    ]
    assert scores == sorted(scores)


def test_differences_among_the_bad_are_learned_before_the_first_hit():
    def nearly(rng, good):
        return body_with_link(rng, "nearer" if good else "farther", "")

    rng = np.random.default_rng(1)
    apprentice = Apprentice()
    for _ in range(20):
        batch = []
        for _ in range(10):
            good = rng.random() < 0.5
            batch.append(lessons_of(evidence_of(apprentice, nearly(rng, good), 0.01), [0.05 if good else 0.005]))
        apprentice = apprentice.learn(Lessons.concat(batch))
    assert how_often_right(apprentice, nearly) > 0.9


def test_many_lessons_of_one_page_weigh_as_much_as_one():
    apprentice = Apprentice(replays=0)
    evidence = evidence_of(apprentice, "<p>penguin</p><a href=/x>Item</a>", 0.3)
    once = lessons_of(evidence, [0.9])
    often = Lessons.concat([once] * 8)
    often.weight[:] = 1 / 8
    one, other = apprentice.learn(once), apprentice.learn(often)
    assert one.score(evidence)[0] == pytest.approx(other.score(evidence)[0], abs=0.15)


def test_the_critic_is_asked_about_anchor_and_window():
    apprentice = Apprentice(critic=OneWordCritic())
    body = "<p>no</p><a href=/a>penguin</a>" + "<p>filler</p>" * 4 + "<a href=/b>tax</a>"
    penguin, tax = evidence_of(apprentice, body).dense
    assert penguin[1] > 1
    assert penguin[2] > 1
    assert tax[1] == tax[2] == 0
    scores = apprentice.score(evidence_of(apprentice, body))
    assert scores[0] > scores[1]


def test_the_critic_is_not_asked_for_a_learner_that_has_no_use_for_it():
    class Asked(OneWordCritic):
        def score_texts(self, texts):
            raise AssertionError("asked")

    body = "<p>penguin</p><a href=/a>penguin</a>"
    with pytest.raises(AssertionError):
        evidence_of(Apprentice(critic=Asked()), body)
    assert not evidence_of(Apprentice(critic=Asked(), learner="naive-bayes"), body).dense[:, 1:].any()


def test_reads_can_be_left_out():
    apprentice = Apprentice(critic=OneWordCritic(), reads=False)
    assert not evidence_of(apprentice, "<a href=/a>penguin</a>").dense[:, 1:].any()


def test_topics_add_the_page_s_classes_and_their_prefixes():
    plain, with_topics = Apprentice(topics=False), Apprentice()
    body, classes = "<p>a b</p><a href=/x>c</a> d <a href=/y>e</a>", (("Science.Biology", 0.8), ("Sport", 0.01))
    more = set(names_to_ids(["class:Science.Biology", "class:Science"], LEXICON).tolist())
    for row in range(2):
        before = set(evidence_of(plain, body, classes=classes).row(row).ids.tolist())
        after = set(evidence_of(with_topics, body, classes=classes).row(row).ids.tolist())
        assert after - before == more


def test_with_chances_classes_count_by_the_tenths_of_their_probabilities():
    classes = (("Science.Biology", 0.42), ("Science.Physics", 0.33), ("Sport", 0.09))
    ids = evidence_of(Apprentice(chances=True), "<a href=/x>c</a>", classes=classes).ids.tolist()
    named = ("class:Science.Biology", "class:Science.Physics", "class:Science", "class:Sport")
    assert [ids.count(i) for i in names_to_ids(named, LEXICON).tolist()] == [4, 3, 8, 0]


def test_cocitation_adds_neighbours_whose_pages_are_known():
    apprentice = Apprentice(cocitation=True, d_max=2)
    body = "<a href=/1>a</a><a href=/2>b</a><a href=/3>c</a><a href=/4>d</a><a href=/5>e</a>"
    evidence = evidence_of(apprentice, body, fetched=[0.9, np.nan, np.nan, np.nan, 0.1])
    names = {feature(f"cocited:{kind}", offset): (kind, offset) for kind in ("high", "low") for offset in range(-2, 3)}
    seen = [{names[i] for i in evidence.row(row).ids.tolist() if i in names} for row in range(5)]
    assert seen == [set(), {("high", -1)}, {("high", -2), ("low", 2)}, {("low", 1)}, set()]
    assert apprentice.sees_fetched
    assert not Apprentice().sees_fetched


def test_study_learns_from_a_whole_crawl_at_once():
    apprentice = Apprentice()
    rng = np.random.default_rng(5)
    batch = []
    for _ in range(400):
        good = rng.random() < 0.1
        batch.append(lessons_of(evidence_of(apprentice, side_tells(rng, good), 0.3), [0.9 if good else 0.02]))
    studied = apprentice.study(Lessons.concat(batch))
    assert how_often_right(studied, side_tells) > 0.95
    assert how_often_right(apprentice, side_tells) < 0.65


def test_memory_is_bounded():
    apprentice = train(Apprentice(memory=50), word_tells, lessons=200)
    assert len(apprentice.learner.kept) == 50
    assert len(apprentice.learner.past) <= 100
    assert apprentice.learner.seen == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("d_max", -1), ("d_max", 32), ("d_max", 2.5), ("d_max", True), ("bits", 40), ("bits", "18"),
        ("learner", "perceptron"), ("cut", 0.5), ("paper", 1), ("chances", "yes"),
         ("offsets", "yes"), ("topics", 1), ("cocitation", None), ("reads", "no"),
        ("rate", 0), ("rate", "fast"), ("replays", -1), ("memory", 0), ("combine", "median"),
    ],
)  # fmt: skip
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        build(Apprentice, {name: value})


def test_unknown_options_are_named_with_the_nearest_known():
    with pytest.raises(ValueError, match="'d_max'") as error:
        build(Apprentice, {"dmax": 3})
    assert "dmax=3" in str(error.value)


def test_unknown_options_that_are_handed_on_are_named():
    with pytest.raises(ValueError, match=r"^dmax=3 is not an option of apprentice; did you mean 'd_max'"):
        build(BestFirstObserved, {"dmax": 3})


@pytest.mark.parametrize(
    "options",
    [{"bits": 12}, {"d_max": 3}, {"offsets": False}, {"learner": "naive-bayes"}, {"topics": False}, {"chances": True}],
)
def test_a_saved_apprentice_made_with_other_options_is_refused(options):
    state = train(Apprentice(), word_tells, lessons=20).state()
    (name,) = options
    with pytest.raises(ValueError, match=f"made with {name}="):
        Apprentice(**options).restore(state)


@pytest.mark.parametrize(
    ("state", "other"), [(Focused().state(), "'focused'"), ({"weights": np.zeros(3)}, "another"), ({}, "another")]
)
def test_what_another_prioritizer_saved_is_refused(state, other):
    with pytest.raises(ValueError, match=f"saved by {other}, not by 'apprentice': name the prioritizer that saved it"):
        Apprentice().restore(state)


def test_a_saved_apprentice_of_another_format_is_refused():
    state = train(Apprentice(), word_tells, lessons=20).state()
    told = json.loads(str(state["made_for"]))
    state["made_for"] = np.array(json.dumps({**told, "format": 0}))
    with pytest.raises(ValueError, match="another version of this project"):
        Apprentice().restore(state)


def test_states_from_before_an_option_are_of_what_it_was_then():
    cut_at_a_half = train(Apprentice(learner="naive-bayes", cut="half"), word_tells, lessons=20)
    state = cut_at_a_half.state()
    told = json.loads(str(state["made_for"]))
    state["made_for"] = np.array(json.dumps({name: told[name] for name in told.keys() - {"cut", "paper", "chances"}}))
    del state["met"], state["met_weight"]
    back = Apprentice(learner="naive-bayes", cut="half")
    back.restore(state)
    assert np.array_equal(bayes_of(back).counts, bayes_of(cut_at_a_half).counts)
    with pytest.raises(ValueError, match="it was made with cut='half', not cut='median': set cut in"):
        Apprentice(learner="naive-bayes").restore(state)


def test_the_state_is_small():
    apprentice = train(Apprentice(), word_tells, lessons=100)
    assert sum(array.nbytes for array in apprentice.state().values()) < 100_000


def test_an_empty_page_with_a_critic_is_no_trouble():
    apprentice = Apprentice(critic=OneWordCritic())
    parsed = page("<a href=/x></a>")
    assert len(apprentice.score(apprentice.evidence(parsed, Verdict(0.0), parsed.links))) == 1
