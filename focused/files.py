"""Files that are there whole or not at all, files that cannot be written, and readers who have seen enough."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeVar

import msgspec

Card = TypeVar("Card", bound=msgspec.Struct)
"""Says what was learned: with ``trained``, when, and ``sha256``, for which bytes it was written."""


class NotWritten(OSError):
    """A file, or standard output, could not be written; the message names it, the cause and the way out."""

    def __init__(self, what: str, error: OSError) -> None:
        super().__init__(error.errno, error.strerror or str(error), what)

    def __str__(self) -> str:
        return f"{self.filename} cannot be written ({self.strerror}): {self.way_out}"

    @property
    def way_out(self) -> str:
        """What can be done about it."""
        return "make room and try again" if self.errno in _NO_ROOM else "make it writable, or give another place"


_DEVICES = {Path("/dev"), Path("/dev/fd"), Path("/dev/pts")}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_text(path: Path, text: str) -> None:
    """A file with this text, whole or not at all."""
    with write_whole(path) as file:
        file.write(text.encode())


@contextmanager
def write_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place (over one that is there) when all is written, and else leaves none.

    Its folder is made if need be. A device is written to, and stays. NotWritten if there is no room.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.parent in _DEVICES:
            # Nothing may take the place of /dev/null. (A pipe in a job folder may be a trap, and is replaced.)
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        # Errors of writing name no file. What names another is about something else, such as what is read meanwhile.
        if isinstance(error, NotWritten) or error.filename not in {None, *map(str, (path, path.parent, partial))}:
            raise
        raise NotWritten(repr(str(path)), error) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def append_whole(file: IO[bytes], data: bytes | memoryview) -> None:
    """Write all of it to the end of an unbuffered file, or leave the file as it was. OSError says why not."""
    begin = None
    # Others may append to it, too; and a pipe has no end.
    with suppress(OSError):
        begin = file.seek(0, os.SEEK_END)
    try:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
    except OSError:
        if begin is not None:
            with suppress(OSError):
                file.truncate(begin)
                file.seek(begin)
        raise


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at a place; None if there is none any more (deleted, moved, unmounted)."""
    try:
        there = path.stat()
    except OSError:
        return None
    return there.st_dev, there.st_ino


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


def check_room(path: Path) -> None:
    """NotWritten if not even a byte can be added to a file. It stays as it is, and is made if it is not there."""
    try:
        with path.open("ab", buffering=0) as file:
            if path.is_file():
                begin = file.tell()
                append_whole(file, b"\n")
                file.truncate(begin)
    except OSError as error:
        raise NotWritten(repr(str(path)), error) from error


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
    """Printing into a pipe (``| head``) may end before all is printed, and that is no error; a full disk is one."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _print_no_more()
    except OSError as error:
        # (`write_whole` names its file.)
        if error.filename is not None or error.errno not in _NO_ROOM:
            raise
        _print_no_more()
        raise NotWritten("standard output", error) from error


def _print_no_more() -> None:
    # Python would complain again when it flushes at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
