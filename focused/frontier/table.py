"""What is kept in memory of every link: 20 bytes each, in columns, by link number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class LinkTable:
    """Columns that grow. ``total`` and ``pieces`` carry the combined score of a link's evidence.

    ``pieces`` counts all evidence seen, kept or not; ``version`` is the prioritizer's that made the score;
    ``relevance`` is NaN until the link's page was judged; ``late`` counts lessons from links found after that.
    """

    state: NDArray[np.uint8]
    host: NDArray[np.uint32]
    total: NDArray[np.float32]
    pieces: NDArray[np.uint16]
    version: NDArray[np.uint32]
    relevance: NDArray[np.float32]
    late: NDArray[np.uint8]

    _COLUMNS = (
        ("state", "u1"),
        ("host", "u4"),
        ("total", "f4"),
        ("pieces", "u2"),
        ("version", "u4"),
        ("relevance", "f4"),
        ("late", "u1"),
    )

    def __init__(self) -> None:
        self.size = 0
        for name, dtype in self._COLUMNS:
            setattr(self, name, np.zeros(0, dtype))
        self.grow(1023)

    def grow(self, link: int) -> None:
        """Make room for link numbers up to this one."""
        if link < self.size:
            return
        size = max(link + 1, self.size + self.size // 2)
        for name, dtype in self._COLUMNS:
            old: NDArray[Any] = getattr(self, name)
            new = np.full(size, np.nan if name == "relevance" else 0, dtype)
            new[: self.size] = old
            setattr(self, name, new)
        self.size = size

    def combined(self, links: NDArray[np.int64], how: str, most: int) -> NDArray[np.float32]:
        """The score of links from all their evidence; 0 where there is none."""
        total = self.total[links]
        if how != "mean":
            return total
        kept = np.clip(self.pieces[links], 1, most).astype(np.float32)
        return total / kept

    def combined_one(self, link: int, how: str, most: int) -> float:
        """The same for one link."""
        total = float(self.total[link])
        return total / min(max(int(self.pieces[link]), 1), most) if how == "mean" else total

    def merge(self, links: NDArray[np.int64], scores: NDArray[np.float32], how: str) -> None:
        """Take in new pieces of evidence, several of one link too."""
        if how == "mean":
            np.add.at(self.total, links, scores)
        elif how == "max":
            np.maximum.at(self.total, links, scores)
        else:
            new = self.pieces[links] == 0
            # The first piece counts: written last where a link occurs twice.
            self.total[links[new][::-1]] = scores[new][::-1]
        np.add.at(self.pieces, links, np.uint16(1))
