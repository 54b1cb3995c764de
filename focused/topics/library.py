"""The topics that come with the package.

They are package data and read through `importlib.resources`, because from a zipped egg (scrapyd) there is no
folder to open. A reference to one of their files is written ``shipped:NAME``, elsewhere it is a path.
"""

from __future__ import annotations

import os
from errno import EFBIG, EPERM
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from stat import S_ISREG

SHIPPED = "shipped:"
_MOST_BYTES = 256 * 2**20
MOST_UNTRUSTED = 16 * 2**20
TRUST = "set FOCUSED_TOPICS_TRUSTED=True for topic files that you trust"


def shipped_topics() -> list[str]:
    """Names of the topics that come with the package."""
    return sorted(entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def read_bytes(reference: str, trusted_in: Path | None = None) -> bytes:
    """The content of a file, shipped or anywhere else; OSError if it cannot be read.

    With ``trusted_in`` only a plain file in that folder is read, and one that ends.
    """
    try:
        if trusted_in is not None and not reference.startswith(SHIPPED):
            check_inside(Path(reference), trusted_in)
        file = _locate(reference).open("rb")
    except ValueError as error:
        raise FileNotFoundError(f"{reference!r} cannot be the name of a file ({error})") from error
    with file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        # A device has no end.
        raise OSError(EFBIG, f"it is larger than {_MOST_BYTES >> 20} MB")
    return data


def check_inside(path: Path, folder: Path) -> None:
    """OSError, in words, if a file that a stranger names is not one of the stranger's own."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise OSError(EPERM, f"it is outside the topic's folder: put it there, or {TRUST}")
    status = real.stat()
    if not S_ISREG(status.st_mode):
        raise OSError(EPERM, f"it is not a plain file: give one, or {TRUST}")
    if status.st_size > MOST_UNTRUSTED:
        raise OSError(EPERM, f"it is larger than {MOST_UNTRUSTED // 2**20} MB: give a smaller one, or {TRUST}")


def _locate(reference: str) -> Traversable:
    if reference.startswith(SHIPPED):
        return _folder() / reference.removeprefix(SHIPPED)
    return Path(reference)


def _folder() -> Traversable:
    return files("focused.topics") / "shipped"
