"""One WARC file, mapped into memory and read record by record.

Only where each response stands is kept: a record is a slice of the file (one gzip member, or plain bytes), which
costs about 30 µs to read again. A file that was cut off, or damaged in the middle, is read as far as it goes, and
from the next whole record on; `Archive.lost` says how many bytes could not be read.
"""

from __future__ import annotations

import io
import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_GZIP = b"\x1f\x8b\x08"
_START = b"WARC/"
_BLANK = b"\r\n\r\n"
_DECODED = frozenset({"content-length", "content-encoding", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """A response as it was recorded: the body without any transfer or content encoding, the headers to match."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where one response stands in its file."""

    url: str
    status: int
    start: int
    end: int


class Archive:
    """A WARC file, gzipped by record or plain."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lost = 0
        with path.open("rb") as file:
            empty = not path.stat().st_size
            self._data: mmap.mmap | bytes = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.entries = [entry for entry in self._scan() if entry.status]
        if not self.entries:
            raise ValueError(f"{path}: it contains no recorded response; give a WARC file")

    def read(self, entry: Entry) -> Recorded:
        """The response at one place. A body that cannot be unpacked is given as it came, with its Content-Encoding."""
        data = self._data[entry.start : entry.end]
        try:
            return _to_recorded(next(_records(io.BytesIO(data), auto_decode="all")), _DECODED)
        except OSError:
            return _to_recorded(next(_records(io.BytesIO(data))), _DECODED - {"content-encoding"})

    def _scan(self) -> Iterator[Entry]:
        at = 0
        while at < len(self._data):
            entries = self._stretch(at)
            if entries:
                last = entries.pop()
                end = self._end_of(last)
                entries += [replace(last, end=end)] if end else []
            yield from entries
            at = entries[-1].end if entries else at
            if at >= len(self._data):
                return
            resumed = self._next_record(at if entries else at + 1)
            self.lost += resumed - at
            at = resumed

    def _stretch(self, start: int) -> list[Entry]:
        """Every record from one place to the end, or to the first damage."""
        stream = io.BytesIO(self._data[start:]) if start else self.path.open("rb")
        zipped = self._data[start : start + 3] == _GZIP
        found: list[tuple[str, int, int]] = []
        with stream:
            try:
                for record in _records(stream):
                    at = start + record.stream_pos
                    # Two records in a member: the second cannot be read by itself.
                    if zipped and ((found and at == found[-1][2]) or not self._is_record(at)):
                        raise ValueError(f"{self.path}: not gzipped record by record; try `warcio recompress`")
                    found.append((*_to_url_and_status(record), at))
            except OSError:
                pass  # damage: the caller goes on behind it
        ends = [*(at for _, _, at in found), len(self._data)][1:]
        return [Entry(url, status, at, end) for (url, status, at), end in zip(found, ends, strict=True)]

    def _end_of(self, entry: Entry) -> int:
        """Where a record that may be followed by rubbish ends; 0 if it is not whole itself."""
        data = self._data[entry.start : entry.end]
        if data.startswith(_GZIP):
            unzip = zlib.decompressobj(31)
            try:
                unzip.decompress(data)
            except zlib.error:
                return 0
            end = len(data) - len(unzip.unused_data)
            return entry.start + end if unzip.eof and _holds(data[:end], entry) else 0
        length = next(_records(io.BytesIO(data), parse_http=False)).content_length
        end = data.find(_BLANK) + len(_BLANK) + length
        return min(entry.start + end + len(_BLANK), entry.end) if end <= len(data) else 0

    def _next_record(self, at: int) -> int:
        """Where the next record starts that can be read; the end of the file if there is none."""
        while True:
            zipped, plain = self._data.find(_GZIP, at), self._data.find(_BLANK + _START, at)
            if zipped < 0 or 0 <= plain < zipped:
                return plain + len(_BLANK) if plain >= 0 else len(self._data)
            if self._is_record(zipped):
                return zipped
            at = zipped + 1

    def _is_record(self, at: int) -> bool:
        """Does a gzip member begin here, and a record with it?"""
        try:
            return zlib.decompressobj(31).decompress(self._data[at : at + 4096], 5) == _START
        except zlib.error:
            return False  # three bytes that look like a member and are none


def _records(stream: IO[bytes], **options: Any) -> Iterator[WarcRecord]:
    """Every record, of whatever type."""
    # A small installation does without (the extra `warc`), and imports this module all the same.
    from fastwarc.warc import ArchiveIterator, WarcRecordType  # noqa: PLC0415

    return iter(ArchiveIterator(stream, record_types=WarcRecordType.any_type, **options))


def _holds(data: bytes, entry: Entry) -> bool:
    """Is a record still the same without what follows it? It may go on in the next member."""
    try:
        record = next(_records(io.BytesIO(data)), None)
    except OSError:
        return False
    return record is not None and _to_url_and_status(record) == (entry.url, entry.status)


def _to_url_and_status(record: WarcRecord) -> tuple[str, int]:
    """The address and the status of a response; status 0 for other kinds of records."""
    url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
    if record.headers.get("WARC-Type") != "response" or not record.is_http or not url:
        return url, 0
    return url, record.http_headers.status_code or 0


def _to_recorded(record: WarcRecord, left_out: frozenset[str]) -> Recorded:
    body = record.reader.read()
    kept = [(name, value) for name, value in record.http_headers.to_tuples() if name.lower() not in left_out]
    return Recorded(record.http_headers.status_code or 0, (*kept, ("Content-Length", str(len(body)))), body)
