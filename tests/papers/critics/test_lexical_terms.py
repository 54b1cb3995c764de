"""Terms, their profiles, and how alike they are: tables 3.1 and 3.2 and equation 2.1 of the thesis."""

from __future__ import annotations

import socket

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.pages.page import page_from_html
from focused.pages.tokens import LEXICON
from focused.papers.critics.c_value import recognise, spelling_of
from focused.papers.critics.profiles import LONGEST, Phrases, TermIndex

WORDS = st.lists(st.sampled_from(["dna", "microarray", "core", "facility", "new"]), min_size=0, max_size=LONGEST + 3)


def phrases(*texts: str) -> Phrases:
    return Phrases.of([LEXICON.text_to_ids(text) for text in texts])


def alike(one: str, other: str) -> float:
    index = TermIndex(phrases(other), np.zeros(1, np.int64), np.ones(1), 1)
    _, _, similarity = index.similar(phrases(one))
    return float(similarity.sum())


def terms_of(body: str) -> dict[str, float]:
    page = page_from_html(f"<body>{body}</body>", "http://a.example/")
    found, spelled = recognise(page), spelling_of(page)
    names = [" ".join(spelled[word] for word in found.phrases.words_of(row)) for row in range(len(found))]
    return dict(zip(names, found.weight.tolist(), strict=True))


def profile(words: list[str]) -> set[tuple[str, ...]]:
    """All runs of words, one by one."""
    return {tuple(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}


def test_the_profile_of_a_term_has_all_its_runs_of_words():
    _, _, size = phrases("microarray core facility", "machine learning", "database", "new york new york").profiles()
    assert size.tolist() == [6, 3, 1, len(profile(["new", "york", "new", "york"]))]


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [
        ("microarray core facility", "DNA microarray facility", 0.67),
        ("microarray core facility", "microarray database", 0.11),
        ("DNA microarray facility", "machine learning", 0.0),
    ],
)
def test_table_3_2(one, other, similarity):
    assert round(alike(one, other), 2) == similarity
    assert alike(one, other) == alike(other, one)


@given(WORDS, WORDS)
def test_similarity_is_equation_3_1_for_any_two_phrases(one, other):
    # Terms are no longer than the longest; any phrase may be.
    other = other[:LONGEST]
    mine, theirs = profile(one), profile(other)
    expected = 0.0
    if mine & theirs:
        expected = len(mine & theirs) / (len(mine) + len(theirs)) + 0.5 * (one[-1] == other[-1])
    if len(set(one)) == len(one) or len(one) <= LONGEST:
        assert alike(" ".join(one), " ".join(other)) == pytest.approx(expected)


def test_many_phrases_at_once_are_alike_as_one_by_one():
    texts = ["dna core", "core", "", "unheard of", "new dna core facility", "facility new"]
    terms = ["dna core facility", "new core", "facility", "machine"]
    index = TermIndex(phrases(*terms), np.zeros(4, np.int64), np.ones(4), 1)
    dense = np.zeros((len(texts), len(terms)))
    for row, column, similarity in zip(*index.similar(phrases(*texts)), strict=True):
        dense[row, column] = similarity
    assert dense == pytest.approx(np.array([[alike(text, term) for term in terms] for text in texts]))


def test_a_noun_phrase_is_a_term_and_so_is_one_inside_it_that_stands_alone_elsewhere():
    found = terms_of("<p>A soft contact lens. A hard contact lens. The contact lens. Contact lens")
    assert found["contact lens"] == pytest.approx(np.log2(3) * (4 - (1 + 1) / 2))
    assert found["soft contact lens"] == pytest.approx(np.log2(4))


def test_what_occurs_only_inside_one_longer_term_is_none():
    found = terms_of("<p>The microarray core facility opened. The microarray core facility closed")
    assert found == {"microarray core facility": pytest.approx(2 * 2)}


def test_single_words_count_less_than_phrases():
    found = terms_of("<p>The owl slept. The barn owl woke")
    assert 0 < found["owl"] < found["barn owl"]


@pytest.mark.parametrize(
    ("body", "term"),
    [
        ("machine learning is studied", "machine learning"),
        ("the galactic astronomers met", "galactic astronomers"),
        ("an owl's feathers", "owl"),
        ("<b>BARN OWL</b>", "barn owl"),
    ],
)
def test_terms_are_noun_phrases(body, term):
    assert term in terms_of(body)


@pytest.mark.parametrize("body", ["he ran quickly and sang", "the other new time of many people", "1234 5 x", "", "!?"])
def test_other_words_are_no_terms(body):
    assert terms_of(body) == {}


def test_terms_end_at_punctuation_and_where_a_leaf_ends():
    assert terms_of("owl, feather") == {"owl": 1, "feather": 1}
    assert terms_of("<li>owl<li>feather") == {"owl": 1, "feather": 1}


def test_nothing_is_fetched_to_tell_parts_of_speech(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert "flumox" in " ".join(terms_of("the flumox slept"))
