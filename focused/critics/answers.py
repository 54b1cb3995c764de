"""What answers about some pages say of the others (`focused.critics.combined`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

Floats = NDArray[np.float64]

_OF_COPIES, _OF_ALL = 20.0, 1.0
"""How far the truth may be from the words' log-odds (variances): of one page and its copies, and of all pages alike."""
_POWER = 3
"""Half the words in common is not half a copy. With 1, "no" to pages that show the topic's words would unlearn them."""
_MOST = 400
_ROUNDS = 30
_CLOSE = 1e-4


def corrections(
    pages: csr_matrix, answered: csr_matrix, is_wanted: NDArray[np.float64], odds: NDArray[np.float64]
) -> Floats:
    """What must be added to the log-odds of pages so that they agree with answers about pages like them.

    Pages are rows of TF-IDF; ``odds`` are the log-odds of the answered ones without their answers. The corrections are
    a Gaussian process over pages, at its mode (Newton's method): answers that agree with the words change nothing, and
    a page that is like no answered one shares only what is wrong for all of them. The last 400 answers count.
    """
    answered, is_wanted, odds = answered[-_MOST:], is_wanted[-_MOST:], odds[-_MOST:]
    among = _likeness(answered, answered)
    found = np.zeros(len(odds))
    for _ in range(_ROUNDS):
        p = expit(odds + found)
        doubt = np.maximum(p * (1 - p), _CLOSE)
        weights = np.linalg.solve(among + np.diag(1 / doubt), found + (is_wanted - p) / doubt)
        before, found = found, among @ weights
        if np.abs(found - before).max(initial=0.0) < _CLOSE:
            break
    return np.asarray(_likeness(pages, answered) @ weights)


def _likeness(pages: csr_matrix, answered: csr_matrix) -> Floats:
    return np.asarray(_OF_COPIES * (pages @ answered.T).toarray() ** _POWER + _OF_ALL)
