"""A WARC file: bytes as a whole file, records that are wrapped into gzip members, or an exchange that is written first.

The first byte chooses. Held: a file is refused with a sentence, or read; what is counted as lost is no more than there
is; records follow one another; each that was found can be read; what was written is read back to the byte.
"""

from __future__ import annotations

import gzip
from atexit import register
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from scrapy import Request
from scrapy.http import Response

from focused.pages.urls import join
from focused.warc.reader import Archive
from focused.warc.response import to_response
from focused.warc.web import Web
from focused.warc.writer import WarcFiles, whole_until

WHOLE, MEMBERS, WRITTEN = range(3)
RECORD = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Target-URI: http://a.example/%d\r\n"
    b"WARC-Date: 2024-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: %d\r\n\r\n%s\r\n\r\n"
)
ANSWERS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<p>one",
    b"HTTP/1.1 301 Moved\r\nLocation: /2\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>packed", mtime=0),
    b"HTTP/1.0 xyz\r\nA\r\n: b\r\n\r\n",
    b"",
)
BETWEEN = b"\0\xff\0"


def seeds() -> Iterator[bytes]:
    records = [RECORD % (i, len(answer), answer) for i, answer in enumerate(ANSWERS)]
    for record in records:
        yield bytes([WHOLE]) + record
    yield bytes([WHOLE]) + b"".join(records)
    yield bytes([WHOLE]) + b"rubbish" + b"".join(records)[:-40] + b"".join(records)
    yield bytes([WHOLE]) + b"".join(gzip.compress(record, mtime=0) for record in records)
    yield bytes([MEMBERS]) + BETWEEN.join(records)
    yield bytes([MEMBERS]) + BETWEEN.join([records[0], b"rubbish", records[1][:-30], records[2]])
    yield bytes([MEMBERS]) + records[0].replace(b"response", b"request")
    for url, body in (("http://a.example/x?y", b"<p>x"), ("http://u:p@a.example:81/\xe9", b"\0\r\n\r\n"), ("x", b"")):
        yield bytes([WRITTEN]) + b"\n".join([url.encode(), b"200", b"A: b", body])


@cache
def folder() -> Path:
    """Where the files are, for as long as the process lives."""
    made = Path(mkdtemp(prefix="focused-fuzz-"))
    register(rmtree, made)
    return made


def check(data: bytes) -> None:
    how, rest = (data[:1] or b"\0")[0] % 3, data[1:]
    if how == WRITTEN:
        check_written(rest)
    else:
        check_file(rest if how == WHOLE else b"".join(gzip.compress(one, 1, mtime=0) for one in rest.split(BETWEEN)))


def check_file(data: bytes) -> None:
    path = folder() / "web.warc"
    path.write_bytes(data)
    with path.open("rb") as file:
        assert 0 <= whole_until(file) <= len(data)
    try:
        archive = Archive(path)
    except ValueError as error:
        assert str(path) in str(error), error
        return
    assert 0 <= archive.lost <= len(data)
    assert archive.entries
    assert all(0 <= entry.start < entry.end <= len(data) for entry in archive.entries)
    assert all(one.end <= two.start for one, two in pairwise(archive.entries))
    for entry in archive.entries:
        recorded = archive.read(entry)
        assert recorded.status == entry.status
        assert ("Content-Length", str(len(recorded.body))) in recorded.headers
        url = join(entry.url, "")
        if url:
            to_response(url, recorded)
    web = Web.open(path)
    for row, url in enumerate(web.urls):
        assert web.find(url) == row
        assert web.get(url) == web.response(row)


def check_written(data: bytes) -> None:
    url, status, header, body = (*data.split(b"\n", 3), *[b""] * 4)[:4]
    address = join("http://a.example/", url.decode("utf-8", "replace"))
    if not address:
        return
    name, _, value = header.partition(b":")
    request = Request(address)
    response = Response(request.url, 200 + int.from_bytes(status[:1], "big"), {"Content-Type": "text/html"}, body)
    if name.isalnum() and value.isascii() and not value.translate(None, bytes(range(32, 127))):
        response.headers[b"X-" + name] = value.strip()
    files = WarcFiles(folder() / "written.warc.gz", name="written", size=1, info={"software": "test"})
    files.write(request, response)
    files.close()
    (path,) = folder().glob("written-*")
    try:
        archive = Archive(path)
        (entry,) = archive.entries
        recorded = archive.read(entry)
    finally:
        path.unlink()
    assert archive.lost == 0
    assert (entry.url, entry.status, recorded.body) == (response.url, response.status, body)
    for key, values in response.headers.items():
        assert [value.encode() for known, value in recorded.headers if known.encode() == key] == values
