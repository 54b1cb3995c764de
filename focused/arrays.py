"""Arrays as bytes, for models and records; and looking up values in them."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
"""What was learned, as arrays by name."""


def look_up(known: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The position of each value among the ``known`` ones, which are sorted, and whether it is there at all."""
    if not len(known):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return at, known[at] == values


def save_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as bytes; without objects, so that reading them back cannot run code."""
    buffer = BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # the stubs take the keywords for allow_pickle
    return buffer.getvalue()


def load_arrays(data: bytes) -> Arrays:
    """What `save_arrays` wrote."""
    with np.load(BytesIO(data), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
