"""Blocks of tags that repeat: a page with a list on it is known by its tags, whatever it lists.

After the suffix-tree match of Sajjanhar (2008), §5.3.2: rows of a table of people, or of a list of courses, are the
same tags again and again, most of all where a database made them. A suffix array tells the same as the tree in a few
sorts: suffixes that begin alike stand side by side, so the longest block that stands ``times`` times somewhere on the
page is the largest minimum of ``times - 1`` neighbouring common prefixes.

Built by prefix doubling (Manber and Myers 1990), a sort of all positions a round; the ranks of each round are kept, and
the common prefix of two suffixes is put together from them. Blocks are looked at up to 63 tags, of the first 1,500: a
longer row of a list repeats shorter ones as well. Copies may overlap: then they stand in a row, as those of a list do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Ranks = NDArray[np.int64]

MOST_TAGS = 1_500
_ROUNDS = 6
LONGEST = 2**_ROUNDS - 1
"""The longest block that is looked at."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """The longest block of tags that occurs at least so many times on a page, and the share of tags in its copies."""

    length: int
    share: float


def repeats(tags: Sequence[str], times: Sequence[int]) -> list[Repeat]:
    """For each number of times, the longest block that occurs so often; length 0 if there is none."""
    codes = _codes(tags[:MOST_TAGS])
    n = len(codes)
    if not n:
        return [Repeat(0, 0.0) for _ in times]
    rounds = _ranks(codes)
    order = np.argsort(rounds[-1][:n], kind="stable")
    common = _common_prefixes(rounds, order)
    return [_longest(order, common, one) for one in times]


def _codes(tags: Sequence[str]) -> Ranks:
    numbers = {tag: number for number, tag in enumerate(dict.fromkeys(tags), 1)}
    return np.fromiter(map(numbers.__getitem__, tags), np.int64, len(tags))


def _ranks(codes: Ranks) -> list[Ranks]:
    """Rank of each position's block of 1, 2, 4… tags; blocks that reach over the end have lower ranks of their own."""
    n = len(codes)
    # Behind the end stand zeros, as many as a common prefix may be read beyond it.
    rounds = [np.concatenate([codes, np.zeros(LONGEST + 1, np.int64)])]
    for k in range(_ROUNDS):
        before = rounds[-1]
        pairs = before[:n] * (n + 1) + before[2**k : n + 2**k]
        order = np.argsort(pairs, kind="stable")
        new = np.zeros(len(before), np.int64)
        ordered = pairs[order]
        new[order] = 1 + np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
        rounds.append(new)
    return rounds


def _common_prefixes(rounds: list[Ranks], order: Ranks) -> Ranks:
    """How many tags each suffix shares with the next in order, at most `LONGEST`."""
    one, other = order[:-1].copy(), order[1:].copy()
    length = np.zeros(len(one), np.int64)
    n = len(order)
    for k in range(_ROUNDS - 1, -1, -1):
        step = 2**k
        inside = np.maximum(one, other) + step <= n
        same = (rounds[k][one] == rounds[k][other]) & inside
        moved = same * step
        length += moved
        one += moved
        other += moved
    return length


def _longest(order: Ranks, common: Ranks, times: int) -> Repeat:
    if len(common) < times - 1:
        return Repeat(0, 0.0)
    least = sliding_window_view(common, times - 1).min(axis=1)
    at = int(np.argmax(least))
    length = int(least[at])
    if not length:
        return Repeat(0, 0.0)
    # Every copy of the block stands in one run of the suffix array.
    low, high = at, at + times - 1
    while low > 0 and common[low - 1] >= length:
        low -= 1
    while high < len(common) and common[high] >= length:
        high += 1
    edges = np.zeros(len(order) + 1, np.int64)
    np.add.at(edges, order[low : high + 1], 1)
    np.add.at(edges, order[low : high + 1] + length, -1)
    return Repeat(length, float(np.mean(np.cumsum(edges)[:-1] > 0)))
