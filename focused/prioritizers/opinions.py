"""What the critic says of a few words: of a link's text, and of the words around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.pages.page import Links, Page, Text, texts_of
from focused.prioritizers.rows import logit

_WITHIN = (0, 3)


def opinions(critic: Critic | None, page: Page, links: Links) -> NDArray[np.float32]:
    """Log-odds that the critic gives to a link's words, and those within three leaves, beyond those it gives to none.

    A row for each link, of two numbers; zeros where there is nobody to ask or nothing to read.
    """
    if critic is None or not len(page.ids) or not len(links):
        return np.zeros((len(links), len(_WITHIN)), np.float32)
    texts = [Text(page, 0, 0)]
    for leaves in _WITHIN:
        begin = page.starts[np.maximum(links.first - leaves, 0)]
        texts += texts_of(page, begin, page.starts[np.minimum(links.last + leaves + 1, len(page.leaves))])
    read = logit(critic.score_texts(texts))
    beyond: NDArray[np.float32] = (read[1:] - read[0]).reshape(len(_WITHIN), -1).T
    return beyond
