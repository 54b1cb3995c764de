"""What the critic says of a few words: of a link's text, and of the words around it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from focused.arrays import look_up, ranges, starts_of
from focused.critics.base import Critic, LearningCritic
from focused.pages.evidence import Evidence, mix, words_of_leaves
from focused.pages.page import Links, Page, Text, texts_of
from focused.pages.tokens import Ids
from focused.prioritizers.rows import logit

_WITHIN = (0, 3)
DECODED_BITS = 24
"""So many of the upper bits of an id tell which word it is of: one in some hundreds is taken for another."""
_CUT = np.uint32(32 - DECODED_BITS)
SPANS = ("words before those read", "words read before the link", "words of the link", "words read after it")
"""Numbers of evidence: which of the words around a link, in their order, the critic reads."""


def opinions(critic: Critic | None, page: Page, links: Links) -> NDArray[np.float32]:
    """Log-odds that the critic gives to a link's words, and those within three leaves, beyond those it gives to none.

    A row for each link, of two numbers; zeros where there is nobody to ask or nothing to read.
    """
    if critic is None or not len(page.ids) or not len(links):
        return np.zeros((len(links), len(_WITHIN)), np.float32)
    leaves = np.array(_WITHIN)[:, None]
    begin = page.starts[np.maximum(links.first - leaves, 0)].ravel()
    end = page.starts[np.minimum(links.last + leaves + 1, len(page.leaves))].ravel()
    if isinstance(critic, LearningCritic):
        return _beyond_none(_scores(critic, page.ids, begin, end))
    return _beyond_none(critic.score_texts([Text(page, 0, 0), *texts_of(page, begin, end)]))


def _scores(critic: LearningCritic, ids: Ids, begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.float32]:
    """The relevance of no words, and of the words from each beginning to the end beside it."""
    length = end - begin
    text = np.repeat(np.arange(1, len(length) + 1), length)
    return critic.score_words(ids[ranges(begin, length)], text, len(length) + 1)


def _beyond_none(relevance: NDArray[np.float32]) -> NDArray[np.float32]:
    """The log-odds of all but the first, beyond those of the first: a row for each link."""
    read = logit(relevance)
    beyond: NDArray[np.float32] = (read[1:] - read[0]).reshape(len(_WITHIN), -1).T
    return beyond


def spans(page: Page, links: Links, d_max: int) -> NDArray[np.int64]:
    """`SPANS` of each link, a row for each, counted in the words that `focused.pages.evidence.window` gives."""
    link, offset, length = words_of_leaves(page, links, d_max)
    parts = (
        offset < -_WITHIN[1],
        (offset < 0) & (offset >= -_WITHIN[1]),
        offset == 0,
        (offset > 0) & (offset <= _WITHIN[1]),
    )
    counts = [np.bincount(link[part], length[part], len(links)).astype(np.int64) for part in parts]
    return np.stack(counts, axis=1)


def opinions_again(critic: Critic, evidence: Evidence, where: NDArray[np.int64]) -> NDArray[np.float32]:
    """`opinions`, from the hashed words in evidence: those that the critic knows are found by hashing what it knows.

    Of the words around a link, no more are in evidence than `window` takes of each leaf.
    """
    if not isinstance(critic, LearningCritic) or not len(evidence):
        return np.full((len(evidence), len(_WITHIN)), np.nan, np.float32)
    begin = evidence.starts[:-1] + where[:, 0]
    length = where[:, 1:].sum(axis=1)
    known = _decoded(evidence.ids[ranges(begin, length)], critic)
    starts = starts_of(length)
    own = starts[:-1] + where[:, 1]
    begin, end = np.concatenate([own, starts[:-1]]), np.concatenate([own + where[:, 2], starts[1:]])
    return _beyond_none(_scores(critic, known, begin, end))


def _decoded(ids: Ids, critic: LearningCritic) -> Ids:
    """The words behind ids of ⟨word, offset⟩ pairs; 0 for those that the critic does not know."""
    mixed, words = _hashed(critic, critic.version)
    at, found = look_up(mixed, ids >> _CUT)
    return np.where(found, words[at] if len(words) else 0, 0).astype(np.uint32)


@lru_cache(maxsize=2)
def _hashed(critic: LearningCritic, version: int) -> tuple[Ids, Ids]:  # noqa: ARG001  # what it knows changes with it
    """The ids of all words that a critic knows at all offsets that are read, sorted, and the words."""
    words = critic.known_words()
    offsets = np.arange(-_WITHIN[1], _WITHIN[1] + 1)
    each = np.tile(words, len(offsets))
    mixed = mix(each, np.repeat(offsets, len(words))) >> _CUT
    order = np.argsort(mixed)
    return mixed[order], each[order]
