"""Rows of features, joined and summed: the sums are the inner loop of every linear prioritizer.

A million rows of 80 features take about a tenth of a second: a table of 2^18 float32 stays in the second-level
cache, and the rows are worked off in chunks whose scratch arrays stay there too (`bench/scoring.py`). Tried and left:
``np.add.reduceat`` over a gather (1.7 times slower, and wrong for empty rows), a table of 2^20 (no better scores).
"""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from focused.pages.evidence import Evidence
from focused.pages.tokens import Ids

Starts = NDArray[np.int64]

_CHUNK = 2_048
_SMALLEST = 1e-3
_SUREST = 0.002
"""The least p (1 - p): a lesson that says what was known makes a model more certain, too."""
_FARTHEST = 30.0


def fold(ids: Ids, bits: int) -> NDArray[np.int32]:
    """The places of features in a table of 2^bits."""
    return (ids >> np.uint32(32 - bits)).view(np.int32)


def row_sums(table: NDArray[np.float32], evidence: Evidence) -> NDArray[np.float32]:
    """For each row the sum of its features' entries in a table whose size is a power of two."""
    return run_sums(table, evidence.ids, evidence.starts)


def run_sums(table: NDArray[np.float32], ids: Ids, starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """The same for any runs of features, one behind the other: run *i* is ``ids[starts[i]:starts[i + 1]]``."""
    bits = len(table).bit_length() - 1
    runs = len(starts) - 1
    sums = np.empty(runs, np.float32)
    ones = np.ones(0, np.float32)
    for begin in range(0, runs, _CHUNK):
        end = min(begin + _CHUNK, runs)
        low, high = int(starts[begin]), int(starts[end])
        if len(ones) < high - low:
            ones = np.ones(high - low, np.float32)
        columns = fold(ids[low:high], bits)
        pointers = (starts[begin : end + 1] - low).astype(np.int32)
        sums[begin:end] = csr_array((ones[: high - low], columns, pointers), shape=(end - begin, len(table))) @ table
    return sums


def append_to_rows(starts: Starts, ids: Ids, more_starts: Starts, more: Ids) -> tuple[Starts, Ids]:
    """Rows of two sets of features, one behind the other."""
    at = np.repeat(starts[1:], np.diff(more_starts))
    return starts + more_starts, np.insert(ids, at, more)


def with_one(dense: NDArray[np.float32]) -> NDArray[np.float32]:
    """Dense numbers and a constant, for the bias."""
    columns: NDArray[np.float32] = np.hstack([dense, np.ones((len(dense), 1), np.float32)])
    return columns


def sigmoid(log_odds: NDArray[np.float32]) -> NDArray[np.float32]:
    """Log-odds as a probability. Exact near 0, where most links are: they must not all become the same."""
    probability: NDArray[np.float32] = expit(np.asarray(log_odds, np.float32))
    return probability


def logit(probability: NDArray[np.float32] | float) -> NDArray[np.float32]:
    """A probability as log-odds, never beyond those of 0.001 and 0.999."""
    inside = np.clip(np.asarray(probability, np.float32), _SMALLEST, 1 - _SMALLEST)
    log_odds: NDArray[np.float32] = np.log(inside / (1 - inside))
    return log_odds


def expectation(log_odds: float) -> tuple[float, float]:
    """What a logistic model expects of one lesson, as a probability p, and its slope p (1 - p)."""
    expected = 1 / (1 + exp(-max(min(log_odds, _FARTHEST), -_FARTHEST)))
    return expected, max(expected * (1 - expected), _SUREST)
