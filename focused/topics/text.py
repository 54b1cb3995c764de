"""The files of users: UTF-8, with or without a byte-order mark; and those in TOML as tables."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from focused.problems import did_you_mean
from focused.topics import library


class Unreadable(ValueError):
    """A file that is not there, cannot be read, or is not what it should be; the message says where."""


def read_text(reference: str, label: str, trusted_in: Path | None = None) -> str:
    """The text of a file, shipped or anywhere else; ``label`` is how the user knows the file."""
    try:
        return to_text(library.read_bytes(reference, trusted_in), label)
    except FileNotFoundError:
        raise Unreadable(f"{label}: there is no such file{_sibling(Path(reference))}") from None
    except OSError as error:
        raise Unreadable(f"{label}: cannot be read: {error.strerror}") from error


def read_toml(reference: str, label: str, trusted_in: Path | None = None) -> dict[str, Any]:
    """The table in a file, shipped or anywhere else; ``label`` is how the user knows the file."""
    text = read_text(reference, label, trusted_in).replace("\r\n", "\n")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Unreadable(f"{label}: not TOML that can be read: nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"{label}:{_place(str(error), text)}") from error


def to_text(data: bytes, label: object) -> str:
    """The text in a file's bytes."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = position(data[: error.start])
        raise Unreadable(f"{label}:{place}: not UTF-8: byte {data[error.start]:#04x}") from error


def position(before: bytes) -> str:
    """Line and column after some bytes, counted from 1."""
    last = before.rpartition(b"\n")[2]
    line = before.count(b"\n") + 1
    return f"{line}:{len(last.decode('utf-8', 'replace')) + 1}"


def _sibling(path: Path) -> str:
    """A hint at a file of that kind and folder with a name much like the one that is not there."""
    return did_you_mean(path.name, [other.name for other in path.parent.glob(f"*{path.suffix}")])


def _place(message: str, text: str) -> str:
    """``line:column: what`` from tomllib's message, which gives the place only in words."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if not found:
        return f" not TOML: {message}"
    place = f"{found[2]}:{found[3]}" if found[2] else position(text.encode())
    return f"{place}: not TOML: {found[1]}"
