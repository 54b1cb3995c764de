"""Blocks of tags that repeat, against a search of all blocks."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.papers.pages.repeats import LONGEST, MOST_TAGS, Repeat, repeats


def naive(tags, times):
    """(the longest length, all shares of tags in copies of a block of that length)."""
    for length in range(min(len(tags), LONGEST), 0, -1):
        where = defaultdict(list)
        for i in range(len(tags) - length + 1):
            where[tuple(tags[i : i + length])].append(i)
        often = [found for found in where.values() if len(found) >= times]
        if often:
            shares = {len({i + k for i in found for k in range(length)}) / len(tags) for found in often}
            return length, shares
    return 0, {0.0}


@given(st.lists(st.sampled_from(["li", "a", "td"]), max_size=60), st.integers(2, 6))
def test_finds_the_longest_block_that_stands_so_often(tags, times):
    (found,) = repeats(tags, [times])
    length, shares = naive(tags, times)
    assert found.length == length
    assert any(found.share == pytest.approx(share) for share in shares)


def test_a_list_of_people_repeats_and_an_essay_does_not():
    table = ["html", "body", "h1", "table"] + ["tr", "td", "a", "td", "td"] * 12
    essay = ["html", "body", "h1", "p", "i", "p", "b", "blockquote", "p", "a", "hr"]
    assert repeats(table, [12])[0].length == 5
    assert repeats(table, [12])[0].share == pytest.approx(60 / 64)
    assert repeats(essay, [3])[0].length <= 1


def test_several_numbers_of_times_at_once():
    tags = ["li", "a"] * 5 + ["p"] * 3
    assert repeats(tags, [5, 3, 40]) == [repeats(tags, [times])[0] for times in (5, 3, 40)]
    assert repeats(tags, [40]) == [Repeat(0, 0.0)]


@pytest.mark.parametrize("tags", [[], ["html"], ["html", "body"]])
def test_pages_too_short_to_repeat(tags):
    assert repeats(tags, [2, 5]) == [Repeat(0, 0.0)] * 2


def test_only_the_beginning_of_a_huge_page_is_looked_at():
    tags = [str(i) for i in range(MOST_TAGS)] + ["li", "a"] * 50_000
    assert repeats(tags, [2]) == [Repeat(0, 0.0)]
