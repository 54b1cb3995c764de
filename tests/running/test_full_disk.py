"""What is written where there is no room: the file, the cause and the way out in one line, and nothing half written."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from focused import files
from focused.files import NotWritten, append_whole, check_room, until_reader_stops, write_whole
from focused.outputs import OutputFile
from tests.full_disk import no_file_over

LINE = b'{"url": "http://a.example/", "relevance": 0.5}\n'


class FullDisk:
    """A file on a disk that is full at the n-th write, of which half still fits."""

    def __init__(self, path: Path, most: int, code: int) -> None:
        self.file, self.left, self.code = path.open("ab", buffering=0), most, code

    def write(self, data: Any) -> int:
        self.left -= 1
        if self.left < 0:
            raise OSError(self.code, "no room")
        return self.file.write(data if self.left else data[: len(data) // 2])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "report.html"
    with write_whole(path) as file:
        file.write(b"before")
    with pytest.raises(NotWritten) as caught, no_file_over(1_000), write_whole(path) as file:
        file.write(LINE * 1_000)
    assert str(caught.value) == f"'{path}' cannot be written (File too large): make room and try again"
    assert path.read_bytes() == b"before"
    assert list(path.parent.iterdir()) == [path]


def test_what_fails_for_another_file_is_not_told_of_this_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"), write_whole(tmp_path / "out"):
        (tmp_path / "nowhere").read_bytes()
    (tmp_path / "file").touch()
    with (
        pytest.raises(NotWritten, match=r"file/out' .*: make it writable, or give"),
        write_whole(tmp_path / "file" / "out"),
    ):
        pass


def test_a_device_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By links that may be lost: root could replace the real ones."""
    monkeypatch.setattr(files, "_DEVICES", {tmp_path})
    for name in ("null", "full"):
        (tmp_path / name).symlink_to(f"/dev/{name}")
    with write_whole(tmp_path / "null") as file:
        file.write(LINE)
    with pytest.raises(NotWritten, match="full' cannot be written"), write_whole(tmp_path / "full") as file:
        file.write(LINE)
    assert {path.name: path.is_char_device() for path in tmp_path.iterdir()} == {"null": True, "full": True}


def test_standard_output_on_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(NotWritten, match="standard output cannot be written"), until_reader_stops():
            print("a line")


def test_room_is_looked_for_without_a_trace(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    log.write_bytes(LINE)
    check_room(log)
    assert log.read_bytes() == LINE
    with pytest.raises(NotWritten, match=r"crawl.log' cannot be written"), no_file_over(len(LINE)):
        check_room(log)
    assert log.read_bytes() == LINE


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("most", range(1, 6))
def test_a_file_of_items_has_whole_lines_up_to_the_break(most: int, code: int, tmp_path: Path) -> None:
    path, told = tmp_path / "items.jsonl", []
    file = OutputFile(lambda: cast(Any, FullDisk(path, most, code)), told.append)
    for _ in range(10):
        assert file.write(LINE) == len(LINE)
    file.close()
    assert path.read_bytes() == LINE * (most - 1)
    assert [error.errno for error in told] == [code]
    assert file.lost == 10 - (most - 1)


def test_a_file_of_items_that_reaches_a_limit_or_cannot_be_opened(tmp_path: Path) -> None:
    path, told = tmp_path / "items.jsonl", []
    with no_file_over(1_000):
        file = OutputFile(lambda: path.open("ab", buffering=0), told.append)
        for _ in range(100):
            file.write(LINE)
        file.close()
    assert path.read_bytes() == LINE * (1_000 // len(LINE))
    missing = OutputFile(lambda: (tmp_path / "no" / "file").open("ab", buffering=0), told.append)
    missing.write(LINE)
    missing.close()
    assert [error.errno for error in told] == [errno.EFBIG, errno.ENOENT]


def test_who_has_no_room_leaves_the_lines_of_others(tmp_path: Path) -> None:
    """Several workers may append to one file."""
    path = tmp_path / "items.jsonl"
    mine = OutputFile(lambda: cast(Any, FullDisk(path, 2, errno.ENOSPC)), lambda error: None)
    with path.open("ab", buffering=0) as theirs:
        for _ in range(3):
            mine.write(LINE)
            theirs.write(LINE)
    mine.close()
    assert path.read_bytes() == LINE * 4


@pytest.mark.parametrize("kind", ["json", "jsonlines", "csv", "xml", "pickle", "marshal"])
def test_each_format_is_written_as_to_any_file(kind: str, tmp_path: Path) -> None:
    exporter_class = load_object(Settings().getwithbase("FEED_EXPORTERS")[kind])
    written = []
    for name in ("plain", "ours"):
        path = tmp_path / name
        with path.open("ab") if name == "plain" else OutputFile(lambda: path.open("ab", buffering=0), print) as file:  # noqa: B023
            exporter = exporter_class(file)
            exporter.start_exporting()
            for number in range(3):
                exporter.export_item({"url": f"http://a.example/{number}", "title": "ä" * 3_000})
            exporter.finish_exporting()
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_a_pipe_has_no_place_to_go_back_to(tmp_path: Path) -> None:
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        append_whole(full, LINE)
