"""What answers about some pages say of the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from focused.critics.answers import corrections
from focused.critics.gist import Gist
from focused.critics.met import Met

# Each row is a page of unit length: the words of a list of files, of an article, of neither.
FILES, ARTICLE, OTHER = np.eye(3)
BETWEEN = (FILES + ARTICLE + OTHER) / np.sqrt(3)
NO, YES = 0.0, 1.0


def corrected(pages: list[np.ndarray], answered: list[np.ndarray], said: list[float], odds: list[float]) -> list[float]:
    found = corrections(csr_matrix(np.stack(pages)), csr_matrix(np.stack(answered)), np.array(said), np.array(odds))
    return [round(float(one), 6) for one in found]


def test_copies_of_a_page_that_is_not_wanted_are_not_wanted_either() -> None:
    copy, between, other = corrected([FILES, BETWEEN, OTHER], [FILES], [NO], [1.0])
    assert copy < -2
    assert copy < between < other <= 0
    assert other > -0.5


def test_copies_of_a_wanted_page_are_wanted() -> None:
    copy, other = corrected([FILES, OTHER], [FILES], [YES], [-2.0])
    assert copy > 2
    assert 0 <= other < 0.5


def test_answers_that_agree_with_the_words_change_hardly_anything() -> None:
    assert np.abs(corrected([FILES, ARTICLE, OTHER], [FILES, ARTICLE], [NO, YES], [-6.0, 6.0])).max() < 0.1


def test_what_is_wrong_for_all_is_corrected_for_all() -> None:
    many = np.eye(20)
    (other,) = corrected([many[19]], list(many[:19]), [NO] * 19, [2.0] * 19)
    assert other < -1


def test_answers_that_contradict_one_another_weigh_each_other_up() -> None:
    (copy,) = corrected([FILES], [FILES] * 6, [NO, YES] * 3, [0.0] * 6)
    assert abs(copy) < 1e-3


def test_extreme_odds_and_ten_thousand_answers_are_no_trouble() -> None:
    said, odds = [NO, YES] * 5_000, [50.0, -50.0] * 5_000
    found = corrected([FILES, OTHER], [FILES, ARTICLE] * 5_000, said, odds)
    assert np.isfinite(found).all()
    assert found[0] < 0


@pytest.mark.parametrize(
    "name", ["words", "idf", "centre", "weights", "numbers", "hosts", "menus", "menu_counts", "menu_sizes"]
)
def test_what_was_learned_is_restored_in_its_shape_or_refused(name: str) -> None:
    met = [
        Gist("h", np.array([1, 2 + n % 3], np.uint32), np.ones(2, np.int64), np.ones(1, np.float32)) for n in range(20)
    ]
    learned = Met.of(met, met[:3], [])
    assert len(learned.words) > 1
    assert [(ids.tolist(), counts.tolist()) for ids, counts in learned.menus] == [([1], [1])]
    learned.answers = 3
    state = learned.state()
    assert Met.restored(state).state().keys() == state.keys()
    assert Met.restored(state).answers == 3
    with pytest.raises(ValueError, match="finite numbers"):
        Met.restored(state | {name: state[name][:-1]})
