"""Evidence: ⟨token, offset⟩ ids around links, in columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.pages.evidence import HEADER_SIZE, MAX_OFFSET, Evidence, mix, names_to_ids, window
from focused.pages.page import page_from_html
from focused.pages.tokens import LEXICON, word_to_id

FIGURE_3 = "<ul><li>a</li><li>b <a href=v>c <font>d</font></a></li><li><em>e</em></li><li><tt>f</tt> g</li></ul>"


def feature(word, offset):
    return int(mix(np.array([word_to_id(word)], np.uint32), offset)[0])


def test_the_window_of_figure_3_worked_out_by_hand():
    page = page_from_html(FIGURE_3, "http://h/")
    starts, ids = window(page, page.links, d_max=2)
    expected = [("a", -2), ("b", -1), ("c", 0), ("d", 0), ("e", 1), ("f", 2)]
    assert starts.tolist() == [0, 6]
    assert ids.tolist() == [feature(word, offset) for word, offset in expected]


def test_without_offsets_the_same_words_stand_at_zero():
    page = page_from_html(FIGURE_3, "http://h/")
    _, ids = window(page, page.links, d_max=1, offsets=False)
    assert ids.tolist() == [feature(word, 0) for word in "bcde"]


def test_of_a_long_leaf_the_words_nearest_to_the_link_are_taken():
    page = page_from_html("<p>one two three</p><a href=v>x</a><p>four five six</p>", "http://h/")
    _, ids = window(page, page.links, d_max=1, words_per_leaf=2)
    expected = [("two", -1), ("three", -1), ("x", 0), ("four", 1), ("five", 1)]
    assert ids.tolist() == [feature(word, offset) for word, offset in expected]


def test_empty_leaves_count_as_distance():
    page = page_from_html("<p>far</p><br><br><a href=v>x</a>", "http://h/")
    _, ids = window(page, page.links, d_max=3)
    assert ids.tolist() == [feature("far", -3), feature("x", 0)]


@pytest.mark.parametrize("html", ["", "<p>no links</p>", "<a href=v></a>"])
def test_pages_with_nothing_to_see(html):
    page = page_from_html(html, "http://h/")
    starts, ids = window(page, page.links)
    assert len(starts) == len(page.links) + 1
    assert starts[-1] == len(ids)


def test_ids_of_a_word_differ_by_offset_and_names_are_apart():
    ids = {feature("moon", offset) for offset in range(-MAX_OFFSET, MAX_OFFSET + 1)}
    assert len(ids) == 2 * MAX_OFFSET + 1
    assert int(names_to_ids(["moon"], LEXICON)[0]) not in ids


def test_ids_are_stable():
    assert feature("moon", -1) == feature("moon", -1)
    assert [feature("moon", d) % 97 for d in (-1, 0, 1)] != [feature("mars", d) % 97 for d in (-1, 0, 1)]


@st.composite
def batches(draw):
    lengths = draw(st.lists(st.integers(0, 4), max_size=6))
    width = draw(st.integers(0, 3))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    evidence = Evidence.of(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        random.integers(0, 2**32, sum(lengths), dtype=np.uint32),
        random.random((len(lengths), width), dtype=np.float32),
        random.integers(0, 500, len(lengths), dtype=np.int32),
    )
    evidence.link = random.integers(1, 99, len(lengths), dtype=np.uint32)
    return evidence


def rows_of(evidence):
    columns = zip(evidence.dense.tolist(), evidence.leaf.tolist(), evidence.link.tolist(), strict=True)
    return [(evidence.ids[evidence.starts[i] : evidence.starts[i + 1]].tolist(), row) for i, row in enumerate(columns)]


@given(batches())
def test_bytes_and_back(evidence):
    again = Evidence.from_bytes(evidence.to_bytes())
    assert rows_of(again) == rows_of(evidence)
    assert again.dense.shape == evidence.dense.shape


@given(batches(), st.data())
def test_rows_can_be_taken_and_put_together(evidence, data):
    n = len(evidence)
    chosen = data.draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else []
    assert rows_of(evidence.select(chosen)) == [rows_of(evidence)[i] for i in chosen]
    together = Evidence.concat([evidence, evidence])
    assert rows_of(together) == rows_of(evidence) * 2


@given(batches())
def test_the_place_of_a_link_in_the_bytes(evidence):
    data = evidence.to_bytes()
    for row, link in enumerate(evidence.link.tolist()):
        at = Evidence.position_of_link(data[:HEADER_SIZE], row)
        assert int.from_bytes(data[at : at + 4], "little") == link
