"""Freed memory goes back to the system.

glibc keeps what lies between pieces that are in use, and there are many: of a crawl among hostile hosts that used
110 MB of its heap without growing, 180 MB more were kept after 100 seconds, and 210 MB after 260.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from time import monotonic

EVERY = 30.0
"""Seconds: it takes 10 to 90 ms, as long as nobody else gets new memory."""


def give_back() -> None:
    """Have the C library return freed memory to the system; where it cannot, it is used again later."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class GiveBack:
    """Does so when it is called, at most once in `EVERY` seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._next = clock() + EVERY

    def __call__(self) -> None:
        if self._clock() >= self._next:
            self._next = self._clock() + EVERY
            give_back()
