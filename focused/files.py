"""Files that are there whole or not at all, files that cannot be written, and readers who have seen enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeVar

import msgspec

Card = TypeVar("Card", bound=msgspec.Struct)
"""Says what was learned: with ``trained``, when, and ``sha256``, for which bytes it was written."""


@contextmanager
def write_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place (over one that is there) when all is written, and else leaves none.

    Its folder is made if need be.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def make_folder(name: str, folder: Path) -> None:
    """Make a folder that a setting names; ValueError if that cannot be, or nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        why = _why_not(folder, error)
        raise ValueError(f"{name}={str(folder)!r} cannot be used: {why}; give another folder") from error


def check_file(what: str, path: Path) -> None:
    """ValueError if a file cannot be written, ``what`` the message calls it. It is neither made nor changed."""
    real = Path(os.path.realpath(path))
    try:
        if real.is_file() or real.is_dir():
            real.open("ab").close()
        # Neither a pipe nor a device is opened: somebody may be waiting at its other end.
        elif not real.exists():
            TemporaryFile(dir=next(folder for folder in real.parents if folder.exists())).close()
    except OSError as error:
        raise ValueError(f"{what} cannot be written: {_why_not(real, error)}; give another file") from error


def _why_not(path: Path, error: OSError) -> str:
    """Why nothing can be written at a place, for people."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        where = next(str(one) for one in (path, *path.parents) if one.exists() and not one.is_dir())
        return f"{where!r} is a file"
    return str(error.strerror)


def write_with_card(file: Path, data: bytes, card_file: Path, card: Card) -> Card:
    """Write a file and its card, now dated and signed for these bytes; each whole or not at all, the card last."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    signed = msgspec.structs.replace(card, trained=now, sha256=sha256(data).hexdigest())
    with write_whole(file) as out:
        out.write(data)
    with write_whole(card_file) as out:
        out.write(msgspec.json.format(msgspec.json.encode(signed), indent=2) + b"\n")
    return signed


@contextmanager
def until_reader_stops() -> Iterator[None]:
    """Printing into a pipe (``| head``) may end before all is printed, and that is no error."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
