"""What is known of a link before it is followed, as features that several crawlers of the literature share.

Words of the anchor, words near it, words of its address: each kind with a channel of its own, so that the same word
is three features. Rows are columnar as in `Evidence`: where each link's ids start, and the ids.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from focused.arrays import look_up, ranges, starts_of
from focused.pages.evidence import ANCHOR, NEAR, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.pages.url_words import url_features
from focused.prioritizers.rows import Starts, append_to_rows

Rows = tuple[Starts, Ids]


def anchor_words(page: Page, links: Links) -> Rows:
    """The words of each link's own text."""
    begin, end = anchor_spans(page, links)
    return _spans(page.ids, begin, end, ANCHOR)


def words_near(page: Page, links: Links, words: int) -> Rows:
    """The words before and after each link's text, so many on each side, over the borders of leaves."""
    begin, end = anchor_spans(page, links)
    before = np.stack([np.maximum(begin - words, 0), begin], axis=1)
    after = np.stack([end, np.minimum(end + words, len(page.ids))], axis=1)
    both = np.stack([before, after], axis=1).reshape(-1, 2)
    starts, ids = _spans(page.ids, both[:, 0], both[:, 1], NEAR)
    return starts[::2], ids


def link_features(page: Page, links: Links, near: int = 10) -> Rows:
    """The words of each link's own text, ``near`` words on each side of it, and the words of its address."""
    rows = append_to_rows(*anchor_words(page, links), *words_near(page, links, near))
    return append_to_rows(*rows, *url_features(links.urls, page.lexicon))


def anchor_spans(page: Page, links: Links) -> tuple[Starts, Starts]:
    """Where the words of each link's text begin and end in ``page.ids``."""
    return page.starts[links.first], page.starts[np.minimum(links.last + 1, len(page.leaves))]


def rows_to_matrix(rows: Rows, known: Ids) -> csr_matrix:
    """Rows of ids as a matrix of zeros and ones with a column for each of the ``known`` ids, which are sorted."""
    starts, ids = rows
    at, hits = look_up(known, ids)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[hits]
    matrix = csr_matrix((np.ones(len(row), np.float32), (row, at[hits])), (len(starts) - 1, len(known)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _spans(ids: Ids, begin: Starts, end: Starts, channel: int) -> Rows:
    lengths = np.maximum(end - begin, 0)
    return starts_of(lengths), mix(ids[ranges(begin, lengths)], channel)
