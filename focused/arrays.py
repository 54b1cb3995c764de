"""Arrays as bytes, for models and records; runs of entries in arrays, and looking up values in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
"""What was learned, as arrays by name."""
# Numbers that were learned shrink to a half or a tenth; a bomb of zeros, to a thousandth.
_MOST_UNPACKED, _SMALL = 100, 10_000_000


class Damaged(ValueError):
    """Bytes that are not what was written."""


def starts_of(lengths: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    """Where runs of these lengths start, one behind the other, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def ranges(begin: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """begin[0], begin[0]+1, … for length[0] numbers, then the same for begin[1], …"""
    total = int(length.sum())
    if total == 0:
        return np.zeros(0, np.int64)
    ends = np.cumsum(length)
    places: NDArray[np.int64] = np.arange(total) + np.repeat(begin - (ends - length), length)
    return places


def look_up(known: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The position of each value among the ``known`` ones, which are sorted, and whether it is there at all."""
    if not len(known):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return at, known[at] == values


def known_or(values: NDArray[np.float32], instead: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values, and others instead of those that are NaN."""
    return np.where(np.isnan(values), instead, values).astype(np.float32)


def numbers_in(state: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """One of the arrays of a state, copied; ValueError unless it has this shape and finite numbers."""
    array = state[name]
    if array.shape != shape or array.dtype.kind not in "buif" or not np.isfinite(array).all():
        raise ValueError(f"{name!r} is not {' × '.join(map(str, shape)) or 'one'} finite numbers")
    return array.copy()


def count_in(state: Mapping[str, NDArray[Any]], name: str) -> int:
    """A count in a state; ValueError unless it is one."""
    count = numbers_in(state, name, ()).item()
    if count != int(count) or count < 0:
        raise ValueError(f"{name!r} is {count}, not a count")
    return int(count)


def put_back(state: Mapping[str, NDArray[Any]], name: str, where: str, table: NDArray[np.float32]) -> None:
    """Put the numbers ``name`` of a state into a table, at the places ``where``; ValueError if they do not fit."""
    places = state[where]
    if places.ndim != 1 or places.dtype.kind != "u" or places.max(initial=0) >= len(table):
        raise ValueError(f"{where!r} are not places in a table of {len(table):,}")
    table[places] = numbers_in(state, name, places.shape)


def save_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as bytes; without objects, so that reading them back cannot run code."""
    buffer = BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # the stubs take the keywords for allow_pickle
    return buffer.getvalue()


def load_arrays(file: bytes | str | Path) -> Arrays:
    """What `save_arrays` wrote, or NumPy's ``savez_compressed``. Damaged if it is something else.

    It takes no more memory than a file of that size may need, whatever the file says of itself.
    """
    try:
        with ZipFile(BytesIO(file) if isinstance(file, bytes) else file) as archive:
            _check_size(archive)
            return {one.filename.removesuffix(".npy"): _read_array(archive, one) for one in archive.infolist()}
    except Exception as error:  # a damaged archive has many ways to fail: BadZipFile, RuntimeError, zlib.error…
        if isinstance(error, OSError) and not isinstance(file, bytes):
            raise
        raise Damaged(f"not a file of saved arrays: {error or type(error).__name__}") from error


def _check_size(archive: ZipFile) -> None:
    unpacked = sum(entry.file_size for entry in archive.infolist())
    packed = sum(entry.compress_size for entry in archive.infolist())
    if unpacked > _MOST_UNPACKED * packed + _SMALL:
        raise Damaged(f"its {packed} bytes unpack to {unpacked}")


def _read_array(archive: ZipFile, entry: ZipInfo) -> NDArray[Any]:
    with archive.open(entry) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
