"""Memory that was freed, and the C library that keeps it: a long crawl frees many large arrays.

Both functions do nothing where the library is another one than glibc.
"""

from __future__ import annotations

import ctypes

_LARGE = 2**20
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD in glibc's malloc.h


def give_large_blocks_back() -> None:
    """From now on, large blocks go back to the system as soon as they are freed.

    Else glibc keeps ever larger ones, up to 32 MB, once one of that size was freed, and small ones get between them.
    """
    _call("mallopt", _MMAP_THRESHOLD, _LARGE)


def give_memory_back() -> None:
    """Have what is free now returned to the system."""
    _call("malloc_trim", 0)


def _call(name: str, *numbers: int) -> None:
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function(*numbers)
