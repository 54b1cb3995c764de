"""Words, in any script, and their ids."""

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.pages.tokens import LEAF_END, CrawlLexicon, Lexicon, word_to_id, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fly-fishing, at 5 a.m.", ["fly", "fishing", "at", "5", "a", "m"]),
        ("snake_case", ["snake", "case"]),
        ("ΑΣΤΡΟΝΟΜΊΑ και", ["αστρονομία", "και"]),
        ("Звёзды", ["звёзды"]),
        ("نجوم السماء", ["نجوم", "السماء"]),
        ("天文学", ["天文", "文学"]),
        ("星", ["星"]),
        ("NASAの火星", ["nasa", "の火", "火星"]),
        ("ดาว", ["ดา", "าว"]),
        ("한국 천문", ["한국", "천문"]),
        ("", []),
        ("—…!", []),
        ("a" * 90, ["a" * 40, "a" * 40, "a" * 10]),
        ("a_b\x01c\x1ed", ["a", "b", "c", "d"]),
    ],
)
def test_words_of_any_script(text, expected):
    assert words(text) == expected


def test_ids_are_stable_between_processes():
    assert word_to_id("astronomy") == crc32(b"astronomy")
    assert word_to_id("") != 0


@given(st.lists(st.text(max_size=30), max_size=12))
def test_leaves_become_ids_with_their_borders(leaves):
    lexicon = Lexicon()
    ids, starts = lexicon.leaves_to_ids(leaves)
    assert len(starts) == len(leaves) + 1
    for i, leaf in enumerate(leaves):
        expected = [word_to_id(word) for word in words(leaf)]
        assert ids[starts[i] : starts[i + 1]].tolist() == expected
    assert (ids != 0).all()


def test_a_leaf_that_holds_the_mark_of_its_end_stays_one_leaf():
    _, starts = Lexicon().leaves_to_ids([f"a{LEAF_END}b", "c"])
    assert starts.tolist() == [0, 2, 3]


@given(st.lists(st.text(st.sampled_from("aZ0 _-\x01\x1e\u00e9\u2013\u661f"), max_size=60), max_size=9))
def test_ascii_is_split_like_all_else(leaves):
    mixed = Lexicon().leaves_to_ids(leaves)
    # With a letter of another script in each leaf, the quick way for ASCII is never taken.
    slow = Lexicon().leaves_to_ids([f"{leaf} \u00e9" for leaf in leaves])
    ends = slow[1][1:] - 1
    assert mixed[0].tolist() == np.delete(slow[0], ends).tolist()
    assert mixed[1].tolist() == (slow[1] - np.arange(len(leaves) + 1)).tolist()


def test_a_crawl_is_given_its_new_words_once():
    lexicon = CrawlLexicon()
    lexicon.text_to_ids("a rare bird")
    assert sorted(lexicon.take_new().values()) == ["a", "bird", "rare"]
    lexicon.text_to_ids("a bird sang")
    assert list(lexicon.take_new().values()) == ["sang"]
    assert lexicon.take_new() == {}
    assert np.array_equal(lexicon.text_to_ids("a"), Lexicon().text_to_ids("A"))
