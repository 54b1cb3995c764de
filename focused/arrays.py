"""Arrays as bytes, for models and records."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
"""What was learned, as arrays by name."""


def save_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as bytes; without objects, so that reading them back cannot run code."""
    buffer = BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # the stubs take the keywords for allow_pickle
    return buffer.getvalue()


def load_arrays(data: bytes) -> Arrays:
    """What `save_arrays` wrote."""
    with np.load(BytesIO(data), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
