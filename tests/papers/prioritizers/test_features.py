"""What stands in, near and behind a link."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from focused.pages.evidence import ADDRESS, ANCHOR, NEAR, mix
from focused.pages.tokens import LEXICON, word_to_id
from focused.pages.url_words import url_features, url_words
from focused.papers.prioritizers.features import anchor_words, rows_to_matrix, words_near
from tests.prioritizers.prioritizer_cases import page

BODY = "<p>one two three <a href=/x>four <b>five</b></a> six <br> seven</p><a href=/~ann/cs1.html></a> eight"


def ids(words, channel):
    return mix(np.array([word_to_id(word) for word in words.split()], np.uint32), channel).tolist()


def rows(pair):
    starts, found = pair[0].tolist(), pair[1]
    return [found[i:j].tolist() for i, j in pairwise(starts)]


def test_words_of_the_anchor():
    parsed = page(BODY)
    assert rows(anchor_words(parsed, parsed.links)) == [ids("four five", ANCHOR), []]


def test_words_on_both_sides_whatever_leaves_they_stand_in():
    parsed = page(BODY)
    near = rows(words_near(parsed, parsed.links, 2))
    assert near == [ids("two three six seven", NEAR), ids("six seven eight", NEAR)]


def test_words_of_addresses():
    assert url_words("http://www-2.cs.example/~svc/papers/view-publications-ckl2004.html") == [
        "~svc", "~", "papers", "view", "publications", "ckl2004", "html"
    ]  # fmt: skip
    assert url_words("http://a.example") == url_words("http://a.example/") == []
    assert url_words("http://a.example/x?Q=%C3%A9t%C3%A9&q=%ff") == ["x", "q", "été", "q"]
    assert rows(url_features(["http://a.example/b/b", "http://a.example/"], LEXICON)) == [ids("b", ADDRESS), []]


def test_a_matrix_of_the_features_that_are_known():
    parsed = page(BODY)
    known = np.sort(np.array(ids("five nine", ANCHOR), np.uint32))
    matrix = rows_to_matrix(anchor_words(parsed, parsed.links), known)
    assert matrix.shape == (2, 2)
    assert matrix[0].sum() == 1
    assert matrix[1].sum() == 0
    assert rows_to_matrix(anchor_words(parsed, parsed.links), known[:0]).shape == (2, 0)
