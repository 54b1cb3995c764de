"""How often the crawl has been somewhere."""

from __future__ import annotations

import numpy as np
import pytest

from focused.prioritizers.novelty import DirectoryVisits

HERE, THERE = np.array([5 << 24], np.uint32), np.array([9 << 24], np.uint32)


def test_where_nobody_was_yet_all_is_new():
    assert DirectoryVisits().novelty(np.concatenate([HERE, THERE])).tolist() == [1, 1]


def test_it_wears_off_with_the_pages_that_were_judged_there():
    visits, fresh = DirectoryVisits(), []
    for _ in range(4):
        fresh.append(visits.novelty(HERE)[0])
        visits = visits.with_more(HERE, np.ones(1, np.float32))
    assert fresh == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert visits.novelty(THERE)[0] == 1


def test_lessons_of_one_page_count_as_one():
    visits = DirectoryVisits().with_more(np.repeat(HERE, 4), np.full(4, 0.25, np.float32))
    assert visits.novelty(HERE)[0] == pytest.approx(1 / 2)


def test_the_older_visits_stay_as_they_were():
    old = DirectoryVisits()
    old.with_more(HERE, np.ones(1, np.float32))
    assert old.novelty(HERE)[0] == 1


def test_no_links():
    nothing = np.zeros(0, np.uint32)
    assert DirectoryVisits().novelty(nothing).shape == (0,)
    assert not DirectoryVisits().with_more(nothing, np.zeros(0, np.float32)).pages.any()


def test_state_brings_visits_back_and_is_as_small_as_they_are_few():
    visits = DirectoryVisits().with_more(np.concatenate([HERE, HERE, THERE]), np.array([1, 1, 0.5], np.float32))
    state = visits.state()
    assert (DirectoryVisits.of(state).pages == visits.pages).all()
    assert sum(array.nbytes for array in state.values()) < 20
    assert not DirectoryVisits.of(DirectoryVisits().state()).pages.any()
