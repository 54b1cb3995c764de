"""How near a state is to a goal: the reward of states, after §5.2.1 of Sajjanhar (2008).

On one path x of n steps (pages and links), backwards::

    R_n(y) = [y = goal]        R_i(y) = Σ_y' R_{i+1}(y') w(y, y') / Σ_y' w(y, y'),   w = exp(W·f(y', y, x, i))

R(y) on the path is the mean of R_{n-k}(y) over k = 0, 1, …, with weights γ^k; the reward of a state is its mean over
all paths. States here are of pages or of links, and each kind stands at every other step only: the mean runs over the
steps at which the kind stands, and its weights are made to sum to 1 there. The f of step i holds what step i + 1 says
for y': what is known of step i itself is the same for all y', and would fall out of the quotient.

``paths`` is another way: the mean of γ^clicks over the training links in that state, clicks being those from the page
behind the link to the goal of its path, and 0 on a path that fails. The recursion asks how sure the *model* is of what
came at the end of each path, and what it reads on the last page drowns the state it came from: the rewards of good and
bad states differ by little. Counting asks where such links have led.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from focused.papers.prioritizers.crf_chain import Floats


def reward_of_path(transitions: Sequence[Floats], logits: Sequence[Floats], goal: int, gamma: float) -> Floats:
    """R of each state on one path, page-states in the first row and link-states in the second (NaN: no link)."""
    reward = np.zeros(len(logits[0]))
    reward[goal] = 1.0
    n = len(logits)
    total, weights = np.zeros((2, len(reward))), np.zeros((2, 1))
    for k in range(n):
        at = n - 1 - k
        if k:
            reward = softmax(transitions[at] + logits[at + 1], axis=1) @ reward
        total[at % 2] += gamma**k * reward
        weights[at % 2] += gamma**k
    return np.divide(total, weights, out=np.full_like(total, np.nan), where=weights > 0)


def reward_of_links(states: Sequence[Sequence[int]], labels: int, goal: int, gamma: float) -> Floats:
    """The mean of γ^clicks over the links in each state; ``states`` are those of the pages of each path."""
    total, count = np.zeros(labels), np.zeros(labels)
    for path in states:
        for clicks, state in enumerate(reversed(path[1:])):
            total[state] += gamma**clicks * (path[-1] == goal)
            count[state] += 1
    return total / np.maximum(count, 1)
