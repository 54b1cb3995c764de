"""The critic by lexical profiles: levels of a path, and how pages are put on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.critics.base import RELEVANT
from focused.critics.classes import NoSuchClass
from focused.critics.teach import teach
from focused.options import make
from focused.pages.tokens import LEXICON
from focused.papers.critics.c_value import recognise
from focused.papers.critics.level_model import LevelModel
from focused.papers.critics.levels import IRRELEVANT, Levels, level_name, level_of, level_of_name, relevance_of
from focused.papers.critics.lexical import LexicalCritic
from focused.testing.toys import BIRDS, MEALS, STARS, examples, page

COMPANIES = "Science.Biology.Bioinformatics.Companies"
OF_LEVEL = {
    COMPANIES: ["Our company sells genome software to laboratories.", "A vendor of genome software licences."],
    "Science.Biology.Bioinformatics": ["Sequence alignment compares genome sequences.", "Protein sequence databases."],
    "Science.Biology": ["A living cell has a membrane.", "The organism and its habitat, the plant cell."],
    "Sport": ["The football team won the match.", "A tennis player in the final match."],
}


def taught(of_level=OF_LEVEL, focus=COMPANIES, **options) -> LexicalCritic:
    pairs = [(page(text), name) for name, texts in of_level.items() for text in texts]
    return LexicalCritic(**options).fit([one for one, _ in pairs], [name for _, name in pairs], [focus])


def judged(critic: LexicalCritic, text: str) -> str:
    return critic.judge(page(text)).best_class


def test_a_page_is_at_the_level_whose_terms_it_shares():
    critic = taught()
    assert judged(critic, "A vendor of genome software.") == "level 1"
    assert judged(critic, "Sequence databases and sequence alignment.") == "level 2"
    assert judged(critic, "The plant cell and its membrane.") == "level 3"
    assert judged(critic, "The tennis match was won by a football player.") == IRRELEVANT


def test_relevance_falls_with_the_level_and_only_level_1_is_found():
    critic = taught()
    texts = ["genome software licences", "protein sequence databases", "living cell membrane", "football match"]
    relevance = [critic.judge(page(text)).relevance for text in texts]
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[0] > RELEVANT > relevance[1]


def test_levels_without_examples_stay_empty_and_keep_their_number():
    some = {name: texts for name, texts in OF_LEVEL.items() if name != "Science.Biology.Bioinformatics"}
    critic = taught(some)
    assert critic.model_.index.count[[1, 3]].tolist() == [0, 0]
    assert judged(critic, "The plant cell and its membrane.") == "level 3"
    assert "level 2" not in {judged(critic, text) for texts in OF_LEVEL.values() for text in texts}


def test_two_pages_a_level_are_enough_to_tell_new_ones():
    critic = taught()
    assert judged(critic, "This company has new genome software.") == "level 1"


@pytest.mark.parametrize("weighted", [False, True])
def test_examples_are_at_their_own_level(weighted):
    critic = taught(weighted=weighted)
    for name, texts in OF_LEVEL.items():
        assert {judged(critic, text) for text in texts} == {critic.class_in_verdicts(name)}


def test_of_equal_levels_the_nearest_to_the_target_counts():
    words = tuple(LEXICON.text_to_ids("barn owl").tolist())
    model = LevelModel([[(words, 1.0)], [(words, 1.0)], [(words, 1.0)]], weighted=False)
    assert model.levels(np.array([[0.3, 0.3, 0.3], [0.2, 0.3, 0.3], [0.0, 0.0, 0.0]])).tolist() == [1, 2, 3]


def test_a_level_must_be_beyond_its_usual_overlap_with_the_others():
    model = LevelModel(_lists("barn owl", "owl moon"), weighted=False)
    # "barn owl" as a page shares a third of what "owl moon" is, and the other way round.
    assert model.boundary == pytest.approx([1 / 6, 0.0])
    assert model.levels(np.array([[0.1, 0.0], [0.2, 0.0]]), model.boundary).tolist() == [2, 1]


def _lists(*texts: str):
    return [[(tuple(LEXICON.text_to_ids(text).tolist()), 1.0)] for text in texts]


def test_page_score_is_the_mean_of_the_best_similarities():
    critic = taught({"nature.birds": ["barn owl"], "other": ["soup"]}, "nature.birds")
    similar = 1 + 0  # "barn owl" is a term of level 1, "soup" of none on the path
    assert critic.model_.page(_terms("barn owl. soup")) == pytest.approx([similar / 2, 0, 1 / 2])


def test_c_values_weigh_by_option():
    plain, weighted = taught(), taught(weighted=True)
    terms = _terms("genome software. genome software. genome software. football")
    assert weighted.model_.page(terms)[0] > plain.model_.page(terms)[0]


def _terms(text):
    return recognise(page(text))


def test_siblings_stand_in_for_their_parent():
    names = ["Science.Biology.Birds", "Science.Biology.Fish", "Science.Physics", "Sport", "Science.Biology"]
    with_them, without = (Levels(("Science.Biology.Birds",), siblings) for siblings in (True, False))
    assert [with_them.of_class(name) for name in names] == [1, 2, 3, 4, 2]
    assert [without.of_class(name) for name in names] == [1, 4, 4, 4, 2]


def test_a_focus_takes_its_subtree_and_several_share_the_levels():
    levels = Levels(("a.b.c", "a.d"), siblings=False)
    assert [levels.of_class(name) for name in ("a.b.c.x", "a.d", "a.b", "a", "a.e")] == [1, 1, 2, 2, 4]


@given(st.integers(1, 6), st.data())
def test_a_relevance_tells_its_level_and_its_grade(n, data):
    level, grade = data.draw(st.integers(1, n + 1)), data.draw(st.floats(0.05, 0.95))
    told = level_of(relevance_of(level, grade, n), n)
    assert told[0] == level
    assert told[1] == pytest.approx(grade, abs=1e-6)


@given(st.integers(1, 6), st.floats(0, 1), st.floats(0, 1))
def test_no_page_of_a_farther_level_is_more_relevant(n, one, other):
    relevance = [relevance_of(level, grade, n) for level in range(1, n + 2) for grade in sorted((one, other))[::-1]]
    assert relevance == sorted(relevance, reverse=True)
    assert all(0 <= value <= 1 for value in relevance)
    assert (np.array(relevance) > RELEVANT).tolist() == [True, True] + [False] * 2 * n


def test_names_of_levels():
    assert [level_name(level, 2) for level in (1, 2, 3)] == ["level 1", "level 2", IRRELEVANT]
    assert [level_of_name(name, 2) for name in ("level 1", "level 2", IRRELEVANT, "", "level x")] == [1, 2, 3, 3, 3]


def test_without_other_pages_a_level_is_told_from_general_language():
    pages, classes = examples(negatives=False)
    critic = LexicalCritic().fit(pages, classes, ["nature"])
    assert judged(critic, BIRDS[0]) == "level 1"
    assert judged(critic, "The government said that the economy and the market need workers.") == IRRELEVANT


def test_the_same_examples_in_another_order_teach_the_same():
    pages, classes = examples()
    one = LexicalCritic().fit(pages, classes, ["nature.birds"])
    other = LexicalCritic().fit(pages[::-1], classes[::-1], ["nature.birds"])
    for text in [*BIRDS, *STARS, *MEALS]:
        assert one.judge(page(text)).relevance == pytest.approx(other.judge(page(text)).relevance)


def test_reasons_are_terms():
    critic = taught()
    reasons = critic.explain(page("Genome software beats every football team."))
    assert reasons[0].word == "genome software"
    assert reasons[0].weight > 0
    assert any("football" in reason.word and reason.weight < 0 for reason in reasons)


def test_a_card_confuses_no_class_with_its_own_level():
    pairs = [(name, page(text)) for name, texts in OF_LEVEL.items() for text in texts]
    known = teach(pairs, LexicalCritic, {}, [COMPANIES])
    assert known.report.confusions
    assert all(confusion.true.startswith(("level", IRRELEVANT)) for confusion in known.report.confusions)
    assert all(confusion.true != confusion.said for confusion in known.report.confusions)


def test_examples_in_another_language_are_refused_with_the_way_out():
    german = "Die Eule ist ein Vogel, der in der Nacht jagt und nicht am Tag, und das Nest ist auf einem Baum. " * 3
    with pytest.raises(NoSuchClass, match=r"in English only, .* 'de': take the critic 'logistic'"):
        taught({"birds": [german], "other": [german]}, "birds")
    taught({"birds": [german], "other": [german]}, "birds", languages=["en"])


@pytest.mark.parametrize(
    ("option", "value"),
    [("terms", 0), ("terms", True), ("terms", 2.5), ("weighted", 1), ("siblings", "no"), ("boundaries", None)],
)
def test_a_bad_option_is_told(option, value):
    with pytest.raises(ValueError, match=f"{option}={value!r}: give"):
        make(LexicalCritic, {option: value}, table="critic")


def test_other_languages_are_no_option():
    with pytest.raises(ValueError, match="English only"):
        LexicalCritic(languages=["fr"])
    with pytest.raises(ValueError, match="choose among"):
        LexicalCritic(languages=["xx"])
