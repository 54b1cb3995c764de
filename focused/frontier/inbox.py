"""What users tell a crawl, wherever it runs and whether it runs or not: records in a file beside the job's own.

The job's file has one writer, the crawl. This one has many, and is only appended to: the crawl notes how far it has
read, and what it has read stays. A record is a line of JSON. It is on disk before `append` returns; the rest of a line
whose writer was killed is skipped, and takes nothing with it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import msgspec

from focused.addresses import to_url
from focused.frontier.records import FILE, check_plain
from focused.frontier.steering import Verb, to_order_value
from focused.frontier.store import JobRefused, Says
from focused.pages.urls import LONGEST

FILE_NAME = "inbox.jsonl"
LETTERS = "inbox"
"""The note of a job that says how far its inbox was read."""
_LONGEST = 64 * 2**10
_AT_ONCE = 2**20


class Letter(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A message from a user to a crawl."""

    id: str = msgspec.field(default_factory=lambda: uuid4().hex)
    time: str = msgspec.field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    who: str = "you"


class Mark(Letter, frozen=True, kw_only=True, tag="mark"):
    """Whether the page at an address is wanted, and of which class it is if that was said."""

    url: str
    said: Says
    class_name: str = ""


class Order(Letter, frozen=True, kw_only=True, tag="order"):
    """What the crawl is to do: a verb, and what goes with it, as `to_order_value` gives it."""

    verb: Verb
    value: str = ""


AnyLetter = Mark | Order


@dataclass(frozen=True, slots=True)
class Letters:
    """Some letters, how far they reach, and how many lines were none that can be read."""

    letters: list[AnyLetter]
    end: int
    skipped: int = 0


class Inbox(Protocol):
    """Where a user's letters to one crawl lie, in the order in which they came. A place in it is a number."""

    def end(self) -> int:
        """How far it is written; cheap."""

    def read_from(self, place: int, most: int) -> Letters:
        """The letters after a place, at most so many."""

    def append(self, letters: Sequence[Letter]) -> None:
        """Add letters, so that they outlast every process. JobRefused if there is no crawl any more."""


def letter_to_bytes(letter: Letter) -> bytes:
    """A letter as a line of the inbox has it, without the line's end."""
    return msgspec.json.encode(letter)


def to_letters(lines: Iterable[bytes], end: int) -> Letters:
    """The letters in some lines, those that cannot be read skipped and counted; empty lines are nothing."""
    found, skipped = [], 0
    for line in lines:
        try:
            if line:
                found.append(_checked(msgspec.json.decode(line[:_LONGEST], type=AnyLetter)))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            skipped += 1
    return Letters(found, end, skipped)


def _checked(letter: AnyLetter) -> AnyLetter:
    """Whoever can write to the inbox need not have used our commands."""
    if isinstance(letter, Order):
        if letter.value != to_order_value(letter.verb, letter.value):
            raise ValueError(f"{letter.value!r} is not as the command writes it")
        return letter
    if letter.url != to_url(letter.url) or len(letter.url) > LONGEST:
        raise ValueError(f"{letter.url!r} is not a normalised address")
    return letter


class FileInbox:
    """The inbox of a job folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / FILE_NAME

    def end(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def read_from(self, place: int, most: int) -> Letters:
        """A line without an end is still being written, or its writer is dead: it is left for later."""
        check_plain(self._path)
        lines: list[bytes] = []
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            # Of a file that is shorter than it was nothing was read yet.
            file.seek(place if place <= os.fstat(file.fileno()).st_size else 0)
            place = file.tell()
            while len(lines) < most and (line := file.readline(_AT_ONCE)):
                if not line.endswith(b"\n") and len(line) < _AT_ONCE:
                    break
                place += len(line)
                lines.append(line.strip())
        return to_letters(lines, place)

    def append(self, letters: Sequence[Letter]) -> None:
        check_plain(self._path)
        is_new = not self._path.exists()
        try:
            file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                self._write(file, b"".join(letter_to_bytes(one) + b"\n" for one in letters))
            finally:
                os.close(file)
            if is_new:
                _sync_folder(self._folder)
        except OSError as error:
            raise JobRefused(f"{str(self._path)!r} cannot be written: {error.strerror}; nothing was noted") from error
        if not (self._folder / FILE).exists():
            raise JobRefused(f"the job in {str(self._folder)!r} is gone: it was deleted meanwhile")

    @staticmethod
    def _write(file: int, data: bytes) -> None:
        # Writers come one after the other: of two, neither sees half a line of the other's as one that was cut.
        fcntl.flock(file, fcntl.LOCK_EX)
        before = os.fstat(file).st_size
        if before and os.pread(file, 1, before - 1) != b"\n":
            data = b"\n" + data
        try:
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        except OSError:
            # A full disk: the error says that nothing was noted, and that must be true.
            with suppress(OSError):
                os.ftruncate(file, before)
            raise


def _sync_folder(folder: Path) -> None:
    """A new file is there for good once its folder is written."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
