"""What the critic says of a few words: of a link's text, and of the words around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.pages.page import Links, Page, Text, texts_of
from focused.prioritizers.rows import logit


def opinions(critic: Critic | None, page: Page, links: Links, *within: int) -> NDArray[np.float32]:
    """Log-odds that the critic gives to the words within so many leaves of each link, beyond those it gives to none.

    A column for each distance; zeros where there is nobody to ask or nothing to read.
    """
    if critic is None or not len(page.ids) or not len(links):
        return np.zeros((len(links), len(within)), np.float32)
    texts = [Text(page, 0, 0)]
    for leaves in within:
        begin = page.starts[np.maximum(links.first - leaves, 0)]
        texts += texts_of(page, begin, page.starts[np.minimum(links.last + leaves + 1, len(page.leaves))])
    read = logit(critic.score_texts(texts))
    beyond: NDArray[np.float32] = (read[1:] - read[0]).reshape(len(within), -1).T
    return beyond
