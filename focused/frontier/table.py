"""What is kept in memory of every link: 20 bytes each, in columns, by link number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class LinkTable:
    """Columns that grow. ``score`` is that of all evidence of a link; 0 where there is none.

    ``pieces`` counts all evidence seen, kept or not; ``version`` is the prioritizer's that made the score;
    ``relevance`` is NaN until the link's page was judged; ``late`` counts lessons from links found after that.
    """

    state: NDArray[np.uint8]
    host: NDArray[np.uint32]
    score: NDArray[np.float32]
    pieces: NDArray[np.uint16]
    version: NDArray[np.uint32]
    relevance: NDArray[np.float32]
    late: NDArray[np.uint8]

    _COLUMNS = (
        ("state", "u1"),
        ("host", "u4"),
        ("score", "f4"),
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
