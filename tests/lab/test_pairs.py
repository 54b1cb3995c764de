"""Pairs of prioritizers: ties are neither won nor lost."""

from __future__ import annotations

from bench.pairs import better_equal_worse


def test_ties_are_counted_by_themselves():
    assert better_equal_worse([0.2, 0.1 + 0.2 - 0.3, 0.0, -0.1]) == (1, 2, 1)
    assert better_equal_worse([]) == (0, 0, 0)
