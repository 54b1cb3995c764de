"""Sums over rows against the plain loop."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from focused.pages.evidence import Evidence
from focused.papers.prioritizers.logistic import row_scales
from focused.prioritizers.rows import _CHUNK, append_to_rows, fold, logit, row_sums, sigmoid


def evidence(lengths, seed=0):
    ids = np.random.default_rng(seed).integers(0, 2**32, sum(lengths), dtype=np.uint32)
    return Evidence.of(np.cumsum([0, *lengths]), ids, np.zeros((len(lengths), 0), np.float32))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 5), max_size=20), st.sampled_from([8, 18]))
def test_sums_are_those_of_the_plain_loop(lengths, bits):
    rows = evidence(lengths)
    table = np.random.default_rng(1).normal(size=2**bits).astype(np.float32)
    plain = [
        table[rows.ids[a:b] >> np.uint32(32 - bits)].sum() for a, b in zip(rows.starts, rows.starts[1:], strict=False)
    ]
    assert np.allclose(row_sums(table, rows), plain, atol=1e-5)


def test_rows_beyond_one_chunk():
    rows = evidence([i % 3 for i in range(2 * _CHUNK + 7)])
    assert np.allclose(row_sums(np.ones(256, np.float32), rows), np.diff(rows.starts))


def test_ids_use_the_whole_table():
    places = fold(evidence([100_000]).ids, 10)
    assert places.min() == 0
    assert places.max() == 1023


def test_scales():
    assert np.allclose(row_scales(evidence([0, 3, 8])), [1, 1 / 2, 1 / 3])


def test_probabilities_and_log_odds():
    assert np.allclose(sigmoid(logit(np.array([0.01, 0.5, 0.99], np.float32))), [0.01, 0.5, 0.99])
    assert np.isfinite(logit(np.array([0.0, 1.0], np.float32))).all()
    small, smaller = sigmoid(np.array([-30, -31], np.float32))
    assert small > smaller > 0


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8))
def test_features_are_added_behind_each_row(lengths):
    some, more = evidence([a for a, _ in lengths]), evidence([b for _, b in lengths], seed=1)
    starts, ids = append_to_rows(some.starts, some.ids, more.starts, more.ids)
    for i in range(len(lengths)):
        expected = [*some.row(i).ids, *more.row(i).ids]
        assert ids[starts[i] : starts[i + 1]].tolist() == expected
