"""The entries of a HAR file (HTTP Archive 1.2), one by one: the file may have any size, and end in the middle.

A HAR is one JSON object, ``{"log": {"entries": [{…}, …]}}``, in which a browser keeps all that it has loaded, bodies
included. Only one entry at a time is in memory: brackets outside of strings are counted, and an entry is what is
between two of them. Whoever gets an entry decodes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

MOST_ENTRY = 16 << 20
"""Larger entries are left out: they hold films and archives, not pages."""
_CHUNK = 1 << 20
_LONGEST_KEY = 16
_BOM = b"\xef\xbb\xbf"
_QUOTE, _OPEN, _CLOSE = ord('"'), b"{[", b"}]"
# In a string: to its end, or to a backslash whose other half is still to come.
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
# Outside: to the next quote or bracket, or over whole strings to the next bracket.
_TO_MARK = re.compile(rb'[^"{}\[\]]*+')
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_IN_LOG, _IN_ENTRIES = 2, 3
"""So many brackets are open in the object "log", and in the array "entries" in it."""


class NotHar(ValueError):
    """A file that holds no entries of a HAR; the message says what to do instead."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path}: {what}: give a HAR file, as browsers save it in the Network panel of their tools")


class HarFile:
    """The entries of a file, each as JSON. What is to be said of the file is known when all were read.

    ``is_cut``: it ends before its JSON does; the entries that are whole were given. ``too_large`` were left out.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_cut = False
        self.too_large = 0

    def __iter__(self) -> Iterator[bytes]:
        scan = _Scan()
        try:
            with Path(self.path).open("rb") as file:
                data = file.read(_CHUNK).removeprefix(_BOM)
                if not data.lstrip().startswith(b"{"):
                    raise NotHar(self.path, "not JSON" if data.strip() else "empty")
                yield from scan.entries(file, data)
        except OSError as error:
            raise NotHar(self.path, f"cannot be read ({error.strerror or error})") from error
        self.is_cut, self.too_large = scan.depth > 0, scan.too_large
        if not scan.has_entries:
            raise NotHar(self.path, f"no entries{' (the file is cut off)' if self.is_cut else ''}")


class _Scan:
    """Where in its JSON a reader is."""

    def __init__(self) -> None:
        self.depth = self.too_large = 0
        self.has_entries = False
        self._in_string = self._in_log = self._in_entries = False
        self._key = b""
        # What was read of the entry that is open in earlier chunks; None if none is open, or it is too large.
        self._entry: bytearray | None = None

    def entries(self, file: IO[bytes], data: bytes) -> Iterator[bytes]:
        while data:
            at = begin = 0
            while at < len(data):
                if self._in_string:
                    end = self._end_of_string(data, at)
                    if end == at:
                        break
                    at = end
                    continue
                at = (_TO_BRACKET if self.depth > _IN_ENTRIES else _TO_MARK).match(data, at).end()  # type: ignore[union-attr]  # both match anything
                mark = data[at : at + 1]
                at += len(mark)
                if mark == b'"':
                    self._in_string, self._key = True, b""
                elif mark and mark in _OPEN:
                    begin = at - 1 if self._opens(mark) else begin
                elif mark:
                    whole = self._closes(data, begin, at)
                    if whole:
                        yield whole
                    if not self.depth:
                        return
            self._keep(data[begin:at])
            more = file.read(_CHUNK)
            data = data[at:] + more if more else b""

    def _end_of_string(self, data: bytes, at: int) -> int:
        """Behind the quote that ends a string, or where the next chunk goes on with it."""
        end = _IN_STRING.match(data, at).end()  # type: ignore[union-attr]  # it matches anything
        if self.depth <= _IN_ENTRIES and len(self._key) <= _LONGEST_KEY:
            self._key += data[at : min(end, at + _LONGEST_KEY)]
        if end < len(data) and data[end] == _QUOTE:
            self._in_string = False
            end += 1
        return end

    def _opens(self, mark: bytes) -> bool:
        """A bracket opens; is it that of an entry?"""
        self.depth += 1
        if self.depth == _IN_LOG:
            self._in_log = mark == b"{" and self._key == b"log"
        elif self.depth == _IN_ENTRIES:
            self._in_entries = self._in_log and mark == b"[" and self._key == b"entries"
            self.has_entries |= self._in_entries
        elif self.depth == _IN_ENTRIES + 1 and self._in_entries:
            self._entry = bytearray()
            return True
        return False

    def _closes(self, data: bytes, begin: int, at: int) -> bytes:
        """A bracket closes; the entry, if it was that of one."""
        self.depth -= 1
        if self.depth != _IN_ENTRIES or not self._in_entries:
            return b""
        self._keep(data[begin:at])
        entry, self._entry = self._entry, None
        return bytes(entry or b"")

    def _keep(self, part: bytes) -> None:
        if self._entry is None:
            return
        if len(self._entry) + len(part) > MOST_ENTRY:
            self._entry = None
            self.too_large += 1
        else:
            self._entry += part
