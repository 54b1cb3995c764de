"""What a crawl says of itself while it runs, beside its records: its last warnings, and hosts that it leaves alone.

A small file in the job folder, which is only written: the crawl never reads it, and nothing is lost with it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from focused.frontier.records import check_plain

FILE_NAME = "now.json"
MOST_WARNINGS, MOST_HOSTS = 100, 30
_LONGEST = 512 * 2**10


class Warned(msgspec.Struct, frozen=True):
    """A line of the log at WARNING or above."""

    time: str
    level: str
    words: str


class HostLeftAlone(msgspec.Struct, frozen=True):
    """A host that is left alone for so many seconds more, and why."""

    host: str
    seconds: float
    why: str


class Now(msgspec.Struct, frozen=True):
    """The last warnings, the latest last, and hosts that are left alone."""

    warnings: Sequence[Warned] = ()
    hosts: Sequence[HostLeftAlone] = ()


def write_now(folder: Path, now: Now) -> None:
    """Let others read it. If that cannot be, they know less; the crawl goes on."""
    partial = folder / f".{FILE_NAME}.part"
    with suppress(OSError):
        partial.write_bytes(msgspec.json.encode(now))
        os.replace(partial, folder / FILE_NAME)


def read_now(folder: Path) -> Now:
    """What was written last; nothing if it was not, or cannot be read."""
    path = folder / FILE_NAME
    try:
        check_plain(path)
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LONGEST), type=Now)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return Now()
