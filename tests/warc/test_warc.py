"""WARC files are whole whatever happens, and say what went over the wire."""

from __future__ import annotations

import base64
import errno
import fcntl
import gzip
import hashlib
import io
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import Response
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from focused.warc.writer import WarcFiles, repair, whole_until

INFO = {"software": "test"}


def exchange(number: int = 0, body: bytes = b"<p>a page</p>") -> tuple[Request, Response]:
    url = f"http://a.example/{number}"
    request = Request(url, headers={"User-Agent": "test"})
    return request, Response(url, 200, {"Content-Type": "text/html"}, body)


def files(folder: Path, size: int = 10**9) -> WarcFiles:
    return WarcFiles(folder, name="birds", size=size, info=INFO)


def records(path: Path) -> list[tuple[str, dict[str, str], bytes, bytes]]:
    """(type, headers, HTTP head, body) of all records of a file."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file, no_record_parse=True):
            head, _, body = record.raw_stream.read().partition(b"\r\n\r\n")
            found.append((record.rec_type, dict(record.rec_headers.headers), head, body))
    return found


def is_whole(path: Path) -> bool:
    class Arguments:
        inputs = [str(path)]  # noqa: RUF012
        verbose = False

    with path.open("rb") as file:
        return whole_until(file) == path.stat().st_size and not Checker(Arguments()).process_all()


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    archive = files(tmp_path)
    archive.write(*exchange())
    assert [path.name for path in tmp_path.iterdir()] == ["birds-00000.warc.gz.open"]
    archive.close()
    (path,) = tmp_path.iterdir()
    assert path.name == "birds-00000.warc.gz"
    assert is_whole(path)
    assert [kind for kind, *_ in records(path)] == ["warcinfo", "response", "request"]


def test_what_went_over_the_wire_is_there_to_the_byte(tmp_path: Path) -> None:
    body = gzip.compress(b"<p>caf\xe9</p>")
    headers = {
        "Content-Type": "text/html; charset=latin-1",
        "X-Name": b"caf\xe9",
        "Set-Cookie": ["a=1", "b=2"],
        "Content-Encoding": "gzip",
        "Transfer-Encoding": "chunked",
        "Content-Length": "999999",
    }
    url = "http://u:p@a.example:8080/x?y=1"
    secrets = {"Authorization": "secret", "Proxy-Authorization": "secret"}
    request = Request(url, headers={"User-Agent": "test", **secrets})
    address = ip_address("192.0.2.1")
    response = Response(url, 404, headers, body, flags=["download_stopped"], ip_address=address)
    archive = files(tmp_path)
    archive.write(request, response)
    archive.close()
    _, (_, told, head, written), (kind, asked, request_head, _) = records(tmp_path / "birds-00000.warc.gz")
    assert written == body
    assert head.split(b"\r\n") == [
        b"HTTP/1.1 404 Not Found",
        b"Content-Type: text/html; charset=latin-1",
        b"X-Name: caf\xe9",
        b"Set-Cookie: a=1",
        b"Set-Cookie: b=2",
        b"Content-Encoding: gzip",
        b"Content-Length: %d" % len(body),
    ]
    digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
    assert told["WARC-Payload-Digest"] == f"sha1:{digest}"
    assert told["WARC-IP-Address"] == "192.0.2.1"
    assert told["WARC-Truncated"] == "length"
    assert kind == "request"
    assert asked["WARC-Concurrent-To"] == told["WARC-Record-ID"]
    assert request_head.split(b"\r\n") == [b"GET /x?y=1 HTTP/1.1", b"Host: a.example:8080", b"User-Agent: test"]


def test_files_are_of_about_a_size(tmp_path: Path) -> None:
    archive = files(tmp_path, size=2_000)
    for i in range(10):
        archive.write(*exchange(i))
    archive.close()
    paths = sorted(tmp_path.iterdir())
    assert len(paths) > 2
    assert all(path.stat().st_size < 4_000 and is_whole(path) for path in paths)
    assert sum(kind == "response" for path in paths for kind, *_ in records(path)) == 10


def test_every_start_has_files_of_its_own(tmp_path: Path) -> None:
    for i in range(3):
        archive = files(tmp_path)
        archive.write(*exchange(i))
        archive.close()
    first = (tmp_path / "birds-00000.warc.gz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"birds-0000{i}.warc.gz" for i in range(3)]
    two = [files(tmp_path), files(tmp_path)]
    for archive in two:
        archive.write(*exchange())
    for archive in two:
        archive.close()
    assert len(list(tmp_path.iterdir())) == 5
    assert (tmp_path / "birds-00000.warc.gz").read_bytes() == first


def test_a_name_in_place_of_a_folder(tmp_path: Path) -> None:
    archive = WarcFiles(tmp_path / "deep" / "tea.warc.gz", name="birds", size=10**9, info=INFO)
    archive.write(*exchange())
    archive.close()
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["tea-00000.warc.gz"]


def test_nothing_written_no_file(tmp_path: Path) -> None:
    files(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with three exchanges in it."""
    folder = tmp_path_factory.mktemp("written")
    archive = files(folder)
    for i in range(3):
        archive.write(*exchange(i, b"<p>%d</p>" % i * 50))
    archive.close()
    return (folder / "birds-00000.warc.gz").read_bytes()


@given(share=st.floats(0, 1), rubbish=st.binary(max_size=20))
def test_a_file_cut_anywhere_is_cut_back_to_whole_records(written: bytes, share: float, rubbish: bytes) -> None:
    cut = int(len(written) * share)
    end = whole_until(io.BytesIO(written[:cut] + rubbish))
    assert end <= cut + len(rubbish)
    if end <= cut:
        gzip.decompress(written[:end])  # all of its members are whole
        assert whole_until(io.BytesIO(written[:end])) == end


def test_the_next_start_closes_what_a_killed_one_left(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "birds-00004.warc.gz.open").write_bytes(written[:-30])
    archive = files(tmp_path)
    assert archive.repaired == [tmp_path / "birds-00004.warc.gz"]
    assert is_whole(archive.repaired[0])
    # The last request is gone; its response is there.
    assert [kind for kind, *_ in records(archive.repaired[0])] == ["warcinfo", *["response", "request"] * 2, "response"]
    archive.write(*exchange())
    archive.close()
    assert is_whole(tmp_path / "birds-00005.warc.gz")


def test_a_file_without_a_whole_record_is_taken_away(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "birds-00000.warc.gz.open").write_bytes(written[:40])
    assert files(tmp_path).repaired == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_another_start_took_for_left_behind_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, stolen = fcntl.flock, []

    def late(file: Any, how: int) -> None:
        if not stolen:
            stolen.append(Path(file.name))
            stolen[0].unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    archive = files(tmp_path)
    archive.write(*exchange())
    archive.close()
    (path,) = tmp_path.iterdir()
    assert stolen == [tmp_path / "birds-00000.warc.gz.open"]
    assert path.name == "birds-00001.warc.gz"
    assert is_whole(path)


def test_a_file_that_another_crawl_is_writing_is_left_alone(tmp_path: Path) -> None:
    archive = files(tmp_path)
    archive.write(*exchange())
    assert repair(tmp_path, "birds") == []
    archive.write(*exchange(1))
    archive.close()
    assert is_whole(tmp_path / "birds-00000.warc.gz")


class FullDisk(io.RawIOBase):
    """A file on a disk that has room for so many bytes more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room, self.name = file, room, file.name

    def write(self, data: Any) -> int:
        taken = self.file.write(bytes(data[: self.room]))
        self.room -= taken
        if taken < len(data) and not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return taken

    def __getattribute__(self, name: str) -> Any:
        if name in {"tell", "seek", "truncate", "close"}:
            return getattr(self.file, name)
        return super().__getattribute__(name)


def test_a_full_disk_leaves_whole_records_and_takes_more_when_there_is_room(tmp_path: Path) -> None:
    archive = files(tmp_path)
    archive.write(*exchange(0))
    disk = FullDisk(archive._file, 100)
    archive._file = disk  # type: ignore[assignment]  # it is like one
    with pytest.raises(OSError, match="No space left"):
        archive.write(*exchange(1))
    disk.room = 10**6
    archive.write(*exchange(2))
    archive.close()
    path = tmp_path / "birds-00000.warc.gz"
    assert is_whole(path)
    urls = [told["WARC-Target-URI"] for kind, told, *_ in records(path) if kind == "response"]
    assert urls == ["http://a.example/0", "http://a.example/2"]


def test_a_file_that_is_deleted_while_it_is_written_takes_no_more(tmp_path: Path) -> None:
    archive = files(tmp_path)
    archive.write(*exchange(0))
    (tmp_path / "birds-00000.warc.gz.open").unlink()
    with pytest.raises(FileNotFoundError, match="its file was deleted or moved"):
        archive.write(*exchange(1))


def test_many_threads_write_whole_records(tmp_path: Path) -> None:
    archive = files(tmp_path, size=20_000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: archive.write(*exchange(i)), range(100)))
    archive.close()
    paths = sorted(tmp_path.iterdir())
    assert all(is_whole(path) for path in paths)
    urls = {told["WARC-Target-URI"] for path in paths for kind, told, *_ in records(path) if kind == "response"}
    assert len(urls) == 100


@pytest.mark.parametrize("status", [200, 299, 404, 503, 999])
def test_odd_statuses_have_a_status_line(tmp_path: Path, status: int) -> None:
    archive = files(tmp_path)
    archive.write(Request("http://a.example/"), Response("http://a.example/", status))
    archive.close()
    _, (_, _, head, _), _ = records(tmp_path / "birds-00000.warc.gz")
    assert head.startswith(b"HTTP/1.1 %d " % status)
