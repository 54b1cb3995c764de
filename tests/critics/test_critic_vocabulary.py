"""Words as columns, the language they are compared with, the furniture of pages."""

from __future__ import annotations

import numpy as np
import pytest

from focused.critics.background import furniture, pseudo_pages
from focused.critics.bag import Vocabulary
from focused.critics.classes import NoSuchClass, wanted
from focused.critics.language import UNSEEN, guess_languages, language_of
from focused.pages.page import page_from_html
from focused.pages.tokens import LEXICON, end_to_end, word_to_id
from focused.testing.toys import page


def test_columns_are_the_known_words_and_their_counts() -> None:
    vocabulary = Vocabulary([page("owl owl star"), page("owl moon")])
    columns, counts = vocabulary.columns(page("moon owl owl owl zebra").bag)
    assert {vocabulary.words[c]: n for c, n in zip(columns, counts, strict=True)} == {"moon": 1, "owl": 3}
    assert (np.diff(vocabulary.ids.astype(np.int64)) > 0).all()


def test_words_of_too_few_pages_are_left_out() -> None:
    assert Vocabulary([page("owl owl star"), page("owl moon")], min_pages=2).words == ["owl"]


def test_an_empty_vocabulary_knows_nothing() -> None:
    vocabulary = Vocabulary([page("")])
    assert len(vocabulary.columns(page("owl").bag)[0]) == 0
    assert vocabulary.matrix([page("owl").bag]).shape == (1, 0)


def test_a_matrix_has_a_row_for_every_bag() -> None:
    vocabulary = Vocabulary([page("owl star")])
    counts = vocabulary.matrix([page("owl owl").bag, page("").bag, page("star").bag]).toarray()
    owl, star = (vocabulary.words.index(word) for word in ("owl", "star"))
    assert counts[:, [owl, star]].tolist() == [[2, 0], [0, 0], [0, 1]]


def test_texts_are_counted_together_as_they_are_one_by_one() -> None:
    vocabulary = Vocabulary([page("owl star moon")])
    texts = [page(text) for text in ["owl owl", "", "zebra", "star moon owl moon", "moon"]]
    together = np.zeros((5, 3))
    text, column, counts = vocabulary.count(*end_to_end([one.ids for one in texts]))
    together[text, column] = counts
    assert together.tolist() == vocabulary.matrix([one.bag for one in texts]).toarray().tolist()
    assert all(len(part) == 0 for part in vocabulary.count(*end_to_end([])))
    assert all(len(part) == 0 for part in Vocabulary([]).count(*end_to_end([page("owl").ids])))


def test_common_words_are_frequent_and_unheard_ones_are_not() -> None:
    english = language_of(("en",))
    assert english.frequency("the") > 1e-2 > english.frequency("astronomy") > 1e-7
    assert english.frequency("qxzvjk") == UNSEEN
    assert english.frequency("1998") > UNSEEN
    assert english.commonest(1) == ["the"]


def test_several_languages_are_averaged() -> None:
    both, english = language_of(("en", "de")), language_of(("en",))
    assert both.frequency("the") == pytest.approx(english.frequency("the") / 2, rel=0.05)
    assert both.frequency("und") > 1e-3 > english.frequency("und")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The owl is one of the birds that can be seen in the night, and it is not the only one of them.", "en"),
        (
            "Die Eule ist einer der Vögel, die man in der Nacht sieht, und sie ist nicht der einzige.",
            "de",
        ),
        ("El búho es uno de los pájaros que se pueden ver en la noche, y no es el único de ellos que se ve.", "es"),
        ("Сова — это одна из птиц, которых можно увидеть ночью, и она не единственная из них, что есть.", "ru"),
        ("rock climbing", "en"),
        ("qqxqx zzvzv", "en"),
        ("", "en"),
    ],
)
def test_languages_are_guessed_from_ordinary_words(text: str, language: str) -> None:
    # Below thirty words it is taken for keywords, which are told by their rare words.
    repeated = f"{text} {text} {text}" if len(text) > 40 else text
    assert guess_languages(LEXICON.text_to_ids(repeated)) == (language,)


def test_unknown_languages_are_named() -> None:
    with pytest.raises(ValueError, match=r"languages=\['tlh'\].*en"):
        language_of(("tlh",))


def test_furniture_stands_on_all_pages_equally_often() -> None:
    texts = [f"copyright home owl {'owl ' * (3 * i)} topic{i}" for i in range(6)]
    found = furniture([page_from_html(text, "").bag for text in texts])
    assert set(found.tolist()) == {word_to_id("copyright"), word_to_id("home")}


def test_few_pages_do_not_tell_furniture() -> None:
    assert len(furniture([page("copyright home").bag] * 4)) == 0


def test_pseudo_pages_are_as_long_as_asked_and_the_same_each_time() -> None:
    english = language_of(("en",))
    vocabulary = Vocabulary([], more={word_to_id(word): word for word in english.commonest(500)})
    first, second = (pseudo_pages(vocabulary, english, [100, 300], seed=1) for _ in range(2))
    assert [int(counts.sum()) for _, counts in first] == [100, 300]
    assert all((a[0] == b[0]).all() and (a[1] == b[1]).all() for a, b in zip(first, second, strict=True))


def test_focus_takes_subtrees() -> None:
    names = ["Science", "Science.Biology", "Sciences", "Arts"]
    assert wanted(names, ["Science"]).tolist() == [True, True, False, False]


def test_without_focus_all_are_wanted_but_those_that_say_they_are_not() -> None:
    assert wanted(["birds", "Other", "negative"], []).tolist() == [True, False, False]
    with pytest.raises(NoSuchClass, match="no wanted class"):
        wanted(["other"], [])


def test_a_focus_that_matches_nothing_is_named_and_others_suggested() -> None:
    with pytest.raises(NoSuchClass, match=r"'Sciense'.*did you mean 'Science'"):
        wanted(["Science", "Arts"], ["Arts", "Sciense"])
