"""The topics that come with the package.

They are package data and read through `importlib.resources`, because from a zipped egg (scrapyd) there is no
folder to open. A reference to one of their files is written ``shipped:NAME``, elsewhere it is a path.
"""

from __future__ import annotations

from errno import EFBIG
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

SHIPPED = "shipped:"
_MOST_BYTES = 256 << 20


def shipped_topics() -> list[str]:
    """Names of the topics that come with the package."""
    return sorted(entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def read_bytes(reference: str) -> bytes:
    """The content of a file, shipped or anywhere else; OSError if it cannot be read."""
    try:
        file = _locate(reference).open("rb")
    except ValueError as error:
        raise FileNotFoundError(f"{reference!r} cannot be the name of a file ({error})") from error
    with file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        # A device has no end.
        raise OSError(EFBIG, f"it is larger than {_MOST_BYTES >> 20} MB")
    return data


def _locate(reference: str) -> Traversable:
    if reference.startswith(SHIPPED):
        return _folder() / reference.removeprefix(SHIPPED)
    return Path(reference)


def _folder() -> Traversable:
    return files("focused.topics") / "shipped"
