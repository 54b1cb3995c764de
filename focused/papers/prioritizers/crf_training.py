"""Weights of a chain of dual states from labelled paths: maximum conditional likelihood, by L-BFGS.

The likelihood of all paths at once is a few products of arrays a step, padded to the longest path; a page or a link on
many paths is one row of features. Weights are held back by ``c2``·|w|² a path, biases and transitions among them. Not
by a fixed amount: ten times as many paths over the same pages are no more evidence of how *other* sites are built.

On scipy's L-BFGS rather than python-crfsuite (0.9.12 was tried): crfsuite has one set of labels for all steps, and
gives every transition that it never saw the weight 0. So page-states are among the labels of links and the other way
round: at a link of unknown words 38 % of α stood on page-states, and the alternation that dual states are made for
is gone. It also takes a dictionary a step, however many paths share a page, and leaves a file of its own, where here a
model is the arrays that the crawl uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack
from threadpoolctl import threadpool_limits

from focused.arrays import starts_of
from focused.pages.tokens import Ids
from focused.papers.prioritizers.crf_chain import CrfChain, Floats
from focused.papers.prioritizers.features import Rows, rows_to_matrix

Numbers = NDArray[np.int64]
_LOWEST = -300.0
_PRECISE, _FINEST = 1e-5, 1e-7


@dataclass(frozen=True, slots=True)
class Sequences:
    """Paths as numbers: a row a path, padded with -1 behind its end.

    ``pages`` and ``links`` are rows of ``page_rows`` and ``link_rows``, the features; -1 also where nothing is known of
    a page, or of a link. ``states`` are those of the pages; a link's state is that of the page it leads to.
    """

    page_rows: Rows
    link_rows: Rows
    pages: Numbers
    links: Numbers
    states: Numbers

    def __len__(self) -> int:
        return len(self.pages)


def train(
    sequences: Sequences, states: int, *, c2: float, least: int, iterations: int, step: Callable[[], None]
) -> CrfChain:
    """The most probable weights; ``step`` is called at each of at most so many iterations. Features on fewer than
    ``least`` different pages (links) are not learned."""
    problem = _Problem(sequences, states, c2, least)
    how: dict[str, Any] = {"method": "L-BFGS-B", "jac": True, "callback": lambda _: step()}
    options = {"maxiter": iterations, "ftol": _FINEST, "gtol": _PRECISE}
    # The arrays are small: with threads for the linear algebra it took eight times as long.
    with threadpool_limits(1, user_api="blas"):
        found = minimize(problem.loss, np.zeros(problem.size), options=options, **how)
    return problem.chain(found.x)


class _Problem:
    """The loss and its gradient as functions of one flat array of weights."""

    def __init__(self, sequences: Sequences, states: int, c2: float, least: int) -> None:
        self.s, self.c2, self.states = sequences, c2 * len(sequences), states
        self.page_x, self.page_ids = _design(sequences.page_rows, sequences.pages, least)
        self.link_x, self.link_ids = _design(sequences.link_rows, sequences.links, least)
        rows = (self.page_x.shape[1], self.link_x.shape[1], states, states)
        self.cuts = np.cumsum([n * states for n in rows])[:-1]
        self.size = sum(rows) * states
        self.steps = 2 * (sequences.states >= 0).sum(axis=1) - 1
        self.observed = self._observed()

    def _split(self, flat: Floats) -> list[Floats]:
        return [part.reshape(-1, self.states) for part in np.split(flat, self.cuts)]

    def chain(self, flat: Floats) -> CrfChain:
        """The weights as a chain."""
        pages, links, to_link, to_page = self._split(flat)
        return CrfChain(self.page_ids, pages, self.link_ids, links, to_link, to_page)

    def _observed(self) -> list[Floats]:
        """How often each feature occurs with each state in the labelled paths."""
        s, states = self.s, self.states
        page, link = np.zeros((self.page_x.shape[0], states)), np.zeros((self.link_x.shape[0], states))
        moves = [np.zeros((states, states)), np.zeros((states, states))]
        # A path that is over, with the state -1, has the last row: zeros.
        steps = [np.eye(states + 1, states)[s.states[:, (i + 1) // 2]] for i in range(2 * s.pages.shape[1] - 1)]
        for i, marginal in enumerate(steps):
            table, rows = (link, s.links[:, i // 2]) if i % 2 else (page, s.pages[:, i // 2])
            np.add.at(table, rows[rows >= 0], marginal[rows >= 0])
            if i:
                moves[(i - 1) % 2] += steps[i - 1].T @ marginal
        return [self.page_x.T @ page, self.link_x.T @ link, *moves]

    def loss(self, flat: Floats) -> tuple[float, Floats]:
        """Minus the log-likelihood and c2·|w|², and the gradient."""
        pages, links, to_link, to_page = self._split(flat)
        expected, log_z = self._expected(self.page_x @ pages, self.link_x @ links, to_link, to_page)
        observed = sum(float(np.vdot(a, b)) for a, b in zip(self._split(flat), self.observed, strict=True))
        gradient = np.concatenate([(a - b).ravel() for a, b in zip(expected, self.observed, strict=True)])
        return log_z - observed + self.c2 * float(flat @ flat), gradient + 2 * self.c2 * flat

    def _expected(self, pages: Floats, links: Floats, to_link: Floats, to_page: Floats) -> tuple[list[Floats], float]:
        """How often the model expects each feature with each state, and the sum of log Z."""
        s, states = self.s, self.states
        steps = [np.exp(to_link), np.exp(to_page)]
        said = self._emissions(pages, links)
        alphas, log_z = self._forward(said, steps)
        page, link = np.zeros((len(pages), states)), np.zeros((len(links), states))
        moves = [np.zeros((states, states)), np.zeros((states, states))]
        beta = np.ones((len(s), states))
        for i in range(len(said) - 1, -1, -1):
            on = self.steps > i
            both = alphas[i] * beta
            marginal = np.where(on[:, None], both / both.sum(axis=1, keepdims=True), 0)
            table, rows = (link, s.links[:, i // 2]) if i % 2 else (page, s.pages[:, i // 2])
            np.add.at(table, rows[rows >= 0], marginal[rows >= 0])
            if i:
                step = steps[(i - 1) % 2]
                coming = said[i][0] * beta
                weight = on / np.einsum("ns,st,nt->n", alphas[i - 1], step, coming)
                moves[(i - 1) % 2] += step * ((alphas[i - 1] * weight[:, None]).T @ coming)
                back = coming @ step.T
                beta = np.where(on[:, None], back / back.max(axis=1, keepdims=True), 1.0)
        return [self.page_x.T @ page, self.link_x.T @ link, *moves], log_z

    def _emissions(self, pages: Floats, links: Floats) -> list[tuple[Floats, Floats]]:
        """For each step what pages or links say for each state, as factors up to 1, and the logarithm taken out."""
        said = []
        for i in range(2 * self.s.pages.shape[1] - 1):
            table, rows = (links, self.s.links[:, i // 2]) if i % 2 else (pages, self.s.pages[:, i // 2])
            logits = np.where((rows >= 0)[:, None], table[rows] if len(table) else 0.0, 0.0)
            top = logits.max(axis=1)
            said.append((np.exp(np.maximum(logits - top[:, None], _LOWEST)), top))
        return said

    def _forward(self, said: list[tuple[Floats, Floats]], steps: list[Floats]) -> tuple[list[Floats], float]:
        alpha, log_z = np.ones((len(self.s), self.states)), 0.0
        alphas = []
        for i, (factors, top) in enumerate(said):
            on = self.steps > i
            new = (alpha @ steps[(i - 1) % 2] if i else alpha) * factors
            total = new.sum(axis=1)
            log_z += float(np.sum((np.log(total) + top) * on))
            alpha = np.where(on[:, None], new / total[:, None], alpha)
            alphas.append(alpha)
        return alphas, log_z


def _design(rows: Rows, used: Numbers, least: int) -> tuple[csr_array, Ids]:
    """The features that are learned as a matrix, a bias behind them; only rows that some path uses count."""
    starts, ids = rows
    counts: Counter[int] = Counter()
    for row in np.unique(used[used >= 0]).tolist():
        counts.update(set(ids[starts[row] : starts[row + 1]].tolist()))
    known = np.array(sorted(one for one, count in counts.items() if count >= least), np.uint32)
    matrix = rows_to_matrix(rows, known)
    bias = csr_array(np.ones((matrix.shape[0], 1), np.float32))
    return hstack([matrix, bias], format="csr"), known


def concat_rows(parts: Sequence[Ids]) -> Rows:
    """Rows of ids one below the other."""
    return starts_of([len(part) for part in parts]), np.concatenate([np.zeros(0, np.uint32), *parts])


def padded(rows: Sequence[Sequence[int]]) -> Numbers:
    """Rows of different lengths as one array, -1 behind their ends."""
    width = max(map(len, rows), default=0)
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], np.int64).reshape(len(rows), width)
