"""From hashed features back to words."""

from __future__ import annotations

import numpy as np

from focused.pages.evidence import mix, window
from focused.pages.page import page_from_html
from focused.pages.tokens import word_to_id
from focused.report.text import short, signed
from focused.report.words import Feature, WordTable, in_order

OFFSETS = range(-5, 6)


def table(*words: str) -> WordTable:
    return WordTable(np.array([word_to_id(word) for word in words], np.uint32), words)


def test_a_window_can_be_read_again() -> None:
    page = page_from_html("<p>red bird</p><p>sits on <a href=/x>the tree</a> there</p>", "http://a.example/")
    _, ids = window(page, page.links, 5)
    words = table("red", "bird", "sits", "on", "the", "tree", "there", "unseen")
    features = in_order(ids, words.trace(ids, OFFSETS))
    assert [(feature.word, feature.offset) for feature in features if feature] == [
        *(("red", -2), ("bird", -2), ("sits", -1), ("on", -1)),
        *(("the", 0), ("tree", 0), ("there", 1)),
    ]


def test_what_is_no_known_word_stays_unnamed() -> None:
    ids = mix(np.array([word_to_id("bird"), word_to_id("strange")], np.uint32), 0)
    features = in_order(ids, table("bird").trace(ids, OFFSETS))
    assert features == [Feature("bird", 0), None]


def test_where_an_id_may_be_two_words_the_order_of_leaves_decides() -> None:
    ids = np.array([1, 2, 3], np.uint32)
    traced = {1: [Feature("left", -1)], 2: [Feature("wrong", -4), Feature("right", 1)], 3: [Feature("last", 2)]}
    assert in_order(ids, traced) == [Feature("left", -1), Feature("right", 1), Feature("last", 2)]


def test_nothing_to_trace() -> None:
    none = np.zeros(0, np.uint32)
    assert table("bird").trace(none, OFFSETS) == {}
    assert table().trace(mix(none, 0), OFFSETS) == {}
    assert in_order(none, {}) == []


def test_a_hundred_thousand_words_are_told_apart() -> None:
    words = [f"word{i}" for i in range(100_000)]
    known = table(*words)
    ids = np.concatenate([mix(known.ids[i * 1000 : i * 1000 + 5], i - 5) for i in range(11)])
    features = in_order(ids, known.trace(ids, OFFSETS))
    assert [(f.word, f.offset) for f in features if f] == [
        (f"word{i * 1000 + j}", i - 5) for i in range(11) for j in range(5)
    ]


def test_strangers_text_is_made_plain() -> None:
    assert short("a\x1b[31mb\u202ec\n d\u200b", 10) == "a[31mbc d"
    assert short("abcdef", 4) == "abc…"
    assert [signed(n) for n in (-2, 0, 3)] == ["−2", "0", "+3"]
