"""WARC files that are whole, whatever happens: what was asked and answered, as it went over the wire.

Every start writes to files of its own, and never to the end of one that may be cut off: what follows a cut cannot be
read. A file that is being written is called ``….warc.gz.open``. Each record is a gzip member, written in one go; when
that fails (a full disk), the file is cut back to its last whole record at once. A file whose crawl was killed is cut
back and closed by the next start. Whoever reads only ``*.warc.gz`` reads only whole files.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
import re
import zlib
from base64 import b32encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha1
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO
from urllib.parse import urlsplit

from fastwarc.warc import WarcRecord, WarcRecordType
from scrapy import Request
from scrapy.http import Response

from focused.files import append_whole, identity

ENDING, OPEN = ".warc.gz", ".open"
# Level 9 takes three times as long for 1 % less.
_LEVEL = 6
_PIECE = 1 << 20
# The body is written without its transfer encoding, whole; passwords are nobody's business.
_NOT_RESPONSE = frozenset({b"transfer-encoding", b"content-length"})
_NOT_REQUEST = frozenset({b"authorization", b"proxy-authorization"})
# Why a body is not whole: Scrapy's flags, and WARC's words.
_TRUNCATED = {"download_stopped": "length", "dataloss": "disconnect", "partial": "disconnect"}


class WarcFiles:
    """Writes exchanges to numbered files of about a size, for one start of a crawl. May be used from any thread.

    ``place`` is a folder, or the name of a file that ends in ``.warc.gz``; ``name`` begins the files' names in a
    folder. ``info`` goes into the record that begins each file.
    """

    def __init__(self, place: Path, *, name: str, size: int, info: Mapping[str, str]) -> None:
        is_file = place.name.endswith(ENDING)
        self.folder = place.parent if is_file else place
        self._stem = place.name.removesuffix(ENDING) if is_file else name
        self._size, self._info = size, info
        self._file: IO[bytes] | None = None
        self._identity: tuple[int, int] | None = None
        self._lock = Lock()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.repaired = repair(self.folder, self._stem)

    def write(self, request: Request, response: Response) -> int:
        """Write an exchange; how many bytes it took. OSError if there is no room: then nothing of it is written."""
        answer = _response(request, response)
        members = _member(answer) + _member(_request(request, answer))
        with self._lock:
            file = self._file_with_room()
            append_whole(file, members)
        return len(members)

    def close(self) -> None:
        """Close the file that is open; it has its name then."""
        with self._lock:
            self._finish()

    def _file_with_room(self) -> IO[bytes]:
        if self._file is not None and identity(Path(self._file.name)) != self._identity:
            raise FileNotFoundError(errno.ENOENT, "its file was deleted or moved")
        if self._file is not None and self._file.tell() >= self._size:
            self._finish()
        if self._file is None:
            self._file = self._begin()
        return self._file

    def _begin(self) -> IO[bytes]:
        """A new file, with a number that no other has."""
        number = _last_number(self.folder, self._stem) + 1
        while (file := _new_file(path := self.folder / f"{self._stem}-{number:05d}{ENDING}")) is None:
            number += 1
        info = "".join(f"{name}: {value}\r\n" for name, value in self._info.items()).encode()
        self._identity = identity(Path(file.name))
        append_whole(file, _member(_record("warcinfo", "application/warc-fields", info, {"WARC-Filename": path.name})))
        return file

    def _finish(self) -> None:
        if self._file is not None:
            # While it is locked, or another start may take it for left behind.
            path = Path(self._file.name)
            path.rename(path.with_name(path.name.removesuffix(OPEN)))
            self._file.close()
            self._file = None


def _new_file(path: Path) -> IO[bytes] | None:
    """A file that is locked; None if there is one already, or somebody took it for one that was left behind."""
    try:
        file = Path(f"{path}{OPEN}").open("xb", buffering=0)  # noqa: SIM115  # it stays open
    except FileExistsError:
        return None
    fcntl.flock(file, fcntl.LOCK_EX)
    if os.fstat(file.fileno()).st_nlink:
        return file
    file.close()
    return None


def repair(folder: Path, stem: str) -> list[Path]:
    """Cut the files that a killed crawl left open back to their last whole record; those in use are left alone."""
    repaired = []
    for path in sorted(folder.glob(f"{stem}-*{ENDING}{OPEN}")):
        # Another start may repair the same ones, and be through with this one.
        with suppress(FileNotFoundError), path.open("r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                continue
            # What was just made and is not locked yet is taken for left behind: who made it looks (`_new_file`).
            end = whole_until(file)
            file.truncate(end)
            whole = path.with_name(path.name.removesuffix(OPEN))
            if end:
                path.rename(whole)
                repaired.append(whole)
            else:
                path.unlink()
    return repaired


def whole_until(file: IO[bytes]) -> int:
    """Where the last whole gzip member of a file ends."""
    file.seek(0)
    end, at = 0, 0
    unzip = zlib.decompressobj(31)
    while piece := file.read(_PIECE):
        while piece:
            try:
                unzip.decompress(piece)
            except zlib.error:
                return end
            if not unzip.eof:
                at += len(piece)
                break
            at += len(piece) - len(unzip.unused_data)
            end, piece = at, unzip.unused_data
            unzip = zlib.decompressobj(31)
    return end


def _last_number(folder: Path, stem: str) -> int:
    pattern = re.compile(rf"{re.escape(stem)}-(\d+){re.escape(ENDING)}(?:{re.escape(OPEN)})?")
    matches = (pattern.fullmatch(path.name) for path in folder.iterdir())
    return max((int(match[1]) for match in matches if match), default=-1)


def _response(request: Request, response: Response) -> WarcRecord:
    headers = {name: values for name, values in response.headers.items() if name.lower() not in _NOT_RESPONSE}
    headers[b"Content-Length"] = [b"%d" % len(response.body)]
    truncated = next((why for flag, why in _TRUNCATED.items() if flag in response.flags), "")
    fields = {"WARC-IP-Address": str(response.ip_address or ""), "WARC-Truncated": truncated}
    fields = {name: value for name, value in fields.items() if value}
    return _message("response", request.url, _head(_status_line(response.status), headers), response.body, fields)


def _request(request: Request, response: WarcRecord) -> WarcRecord:
    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {b"Host": [parts.netloc.rpartition("@")[2].encode("latin-1", "replace")]}
    headers |= {name: values for name, values in request.headers.items() if name.lower() not in _NOT_REQUEST}
    first = f"{request.method} {target} HTTP/1.1".encode("latin-1", "replace")
    same = {"WARC-Date": response.headers["WARC-Date"], "WARC-Concurrent-To": response.headers["WARC-Record-ID"]}
    return _message("request", request.url, _head(first, headers), request.body, same)


def _head(first: bytes, headers: Mapping[bytes, Sequence[bytes]]) -> bytes:
    lines = [b"%s: %s" % (name, value) for name, values in headers.items() for value in values]
    return b"\r\n".join([first, *lines, b"", b""])


def _message(kind: str, url: str, head: bytes, body: bytes, more: Mapping[str, str]) -> WarcRecord:
    digest = b32encode(sha1(body, usedforsecurity=False).digest()).decode()
    fields = {"WARC-Target-URI": url, "WARC-Payload-Digest": f"sha1:{digest}", **more}
    return _record(kind, f"application/http; msgtype={kind}", head + body, fields)


def _record(kind: str, content_type: str, content: bytes, headers: Mapping[str, str]) -> WarcRecord:
    record = WarcRecord()
    record.init_headers(getattr(WarcRecordType, kind))
    for name, value in {**headers, "Content-Type": content_type}.items():
        record.headers[name] = value
    record.set_bytes_content(content)
    return record


def _member(record: WarcRecord) -> bytes:
    """A record as a gzip member of its own."""
    plain = BytesIO()
    record.write(plain, checksum_data=True)
    return gzip.compress(plain.getvalue(), _LEVEL, mtime=0)


def _status_line(status: int) -> bytes:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"
    return f"HTTP/1.1 {status} {phrase}".encode()
