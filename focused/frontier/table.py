"""What is kept in memory of every link: 30 bytes each, in columns, by link number."""

from __future__ import annotations

import numpy as np


class LinkTable:
    """Columns that grow. ``score`` is that of all evidence of a link; 0 where there is none.

    ``base`` is added to it: the place of seeds and of requests without evidence. ``is_listed`` and ``bits`` belong to
    the `LinkOrder`: is the link in it, and at which place? ``pieces`` counts all evidence seen, kept or not;
    ``version`` is the prioritizer's that made the score; ``relevance`` is NaN until the link's page was judged;
    ``late`` counts lessons from links found after that. ``preferred`` links go before others of similar worth.
    """

    def __init__(self) -> None:
        self.state = np.zeros(0, np.uint8)
        self.host = np.zeros(0, np.uint32)
        self.score = np.zeros(0, np.float32)
        self.base = np.zeros(0, np.float32)
        self.is_listed = np.zeros(0, np.bool_)
        self.bits = np.zeros(0, np.uint32)
        self.pieces = np.zeros(0, np.uint16)
        self.version = np.zeros(0, np.uint32)
        self.relevance = np.zeros(0, np.float32)
        self.late = np.zeros(0, np.uint8)
        self.preferred = np.zeros(0, np.bool_)
        self.grow(1023)

    def grow(self, link: int) -> None:
        """Make room for link numbers up to this one."""
        size = len(self.state)
        if link >= size:
            for name, column in vars(self).items():
                new = np.full(max(link + 1, size + size // 2), np.nan if name == "relevance" else 0, column.dtype)
                new[:size] = column
                setattr(self, name, new)
