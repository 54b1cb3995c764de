"""The files of users are UTF-8, with or without a byte-order mark."""

from __future__ import annotations


class NotUtf8(ValueError):
    """Bytes that are not UTF-8; the message names file, line and column."""


def to_text(data: bytes, label: object) -> str:
    """The text in a file's bytes; ``label`` is how the user knows the file."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = position(data[: error.start])
        raise NotUtf8(f"{label}:{place}: not UTF-8: byte {data[error.start]:#04x}") from error


def position(before: bytes) -> str:
    """Line and column after some bytes, counted from 1."""
    last = before.rpartition(b"\n")[2]
    line = before.count(b"\n") + 1
    return f"{line}:{len(last.decode('utf-8', 'replace')) + 1}"
