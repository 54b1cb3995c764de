"""Topic files as tables, with errors that name the file, the line and the column."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from focused.problems import did_you_mean
from focused.topics import library
from focused.topics.text import NotUtf8, position, to_text


class UnreadableToml(ValueError):
    """A file that is not there, cannot be read, or is not TOML."""


def read_toml(reference: str, label: str) -> dict[str, Any]:
    """The table in a file, shipped or anywhere else; ``label`` is how the user knows the file."""
    try:
        data = library.read_bytes(reference)
    except FileNotFoundError:
        raise UnreadableToml(f"{label}: there is no such file{_sibling(reference)}") from None
    except OSError as error:
        raise UnreadableToml(f"{label}: cannot be read: {error.strerror}") from error
    return _parse(data, label)


def _parse(data: bytes, label: str) -> dict[str, Any]:
    try:
        text = to_text(data, label).replace("\r\n", "\n")
    except NotUtf8 as error:
        raise UnreadableToml(str(error)) from error
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UnreadableToml(f"{label}: not TOML that can be read: nested too deeply") from None
    except ValueError as error:
        raise UnreadableToml(f"{label}:{_place(str(error), text)}") from error


def _sibling(reference: str) -> str:
    """A hint at a topic file of that folder with a name much like the one that is not there."""
    path = Path(reference)
    return did_you_mean(path.name, [other.name for other in path.parent.glob("*.toml")])


def _place(message: str, text: str) -> str:
    """``line:column: what`` from tomllib's message, which gives the place only in words."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if not found:
        return f" not TOML: {message}"
    place = f"{found[2]}:{found[3]}" if found[2] else position(text.encode())
    return f"{place}: not TOML: {found[1]}"
