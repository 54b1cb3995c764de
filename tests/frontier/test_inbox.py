"""What users tell a crawl is on disk before they go on, whoever else writes, dies, or writes nonsense."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from focused.frontier.inbox import FILE_NAME, FileInbox, Mark
from focused.frontier.records import FILE
from focused.frontier.store import JobDamaged, JobRefused, Says

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
from focused.frontier.inbox import FileInbox, Mark
from focused.frontier.store import Says
inbox, name = FileInbox(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    inbox.append([Mark(url=f"http://{name}.example/{number}/{part}", said=Says.YES) for part in range(40)])
    print(number, flush=True)
"""


def mark(number: int, said: Says = Says.YES) -> Mark:
    return Mark(url=f"http://h.example/{number}", said=said, class_name="Ω" if number % 2 else "")


@pytest.fixture
def inbox(tmp_path: Path) -> FileInbox:
    (tmp_path / FILE).touch()
    return FileInbox(tmp_path)


def read_all(inbox: FileInbox, most: int = 1_000) -> list[Any]:
    found, place = list[Any](), 0
    while (letters := inbox.read_from(place, most)).end != place:
        found += letters.letters
        place = letters.end
    return found


def test_letters_come_back_as_they_were_written_some_at_a_time(inbox: FileInbox) -> None:
    assert (inbox.end(), inbox.read_from(0, 9).letters) == (0, [])
    written = [mark(number) for number in range(7)]
    inbox.append(written[:3])
    inbox.append(written[3:])
    assert read_all(inbox) == read_all(inbox, 2) == written
    letters = inbox.read_from(0, 3)
    assert letters.letters == written[:3]
    assert inbox.read_from(letters.end, 99).letters == written[3:]
    assert inbox.read_from(0, 99).end == inbox.end()
    assert len({one.id for one in written}) == 7


@pytest.mark.parametrize("cut", [1, 10, -1])
def test_a_line_that_was_cut_takes_nothing_with_it(inbox: FileInbox, tmp_path: Path, cut: int) -> None:
    first, lost, last = map(mark, range(3))
    inbox.append([first])
    place = inbox.end()
    inbox.append([lost])
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[: place + cut if cut > 0 else cut - 1])
    letters = inbox.read_from(0, 99)
    assert (letters.letters, letters.end, letters.skipped) == ([first], place, 0), "it may still be written"
    inbox.append([last])
    letters = inbox.read_from(0, 99)
    assert (letters.letters, letters.end, letters.skipped) == ([first, last], inbox.end(), 1)


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b"7",
        b'{"kind": "mark"}',
        b'{"kind": "pause"}',
        b'{"kind": "mark", "url": "ftp://h.example/", "said": "yes"}',
        b'{"kind": "mark", "url": "http://h.example", "said": "yes"}',
        b'{"kind": "mark", "url": "http://h.example/%s", "said": "yes"}' % (b"x" * 9_000),
        b'{"kind": "mark", "url": "http://h.example/", "said": "maybe"}',
        b"x" * 3_000_000,
    ],
    ids=lambda line: str(line[:70]),
)
def test_what_cannot_be_read_is_skipped_and_counted(inbox: FileInbox, tmp_path: Path, line: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(line + b"\n\n")
    inbox.append([mark(1)])
    place = skipped = 0
    while (letters := inbox.read_from(place, 99)).end != place:
        place, skipped = letters.end, skipped + letters.skipped
        found: list[Any] = letters.letters
    assert [one.url for one in found] == ["http://h.example/1"]
    assert skipped >= 1


def test_a_file_that_was_begun_anew_is_read_from_its_beginning(inbox: FileInbox, tmp_path: Path) -> None:
    inbox.append([mark(1), mark(2)])
    place = inbox.end()
    (tmp_path / FILE_NAME).unlink()
    inbox.append([mark(3)])
    read: list[Any] = inbox.read_from(place, 9).letters
    assert [one.url for one in read] == ["http://h.example/3"]


def test_what_is_no_file_is_refused(inbox: FileInbox, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    for use in (lambda: inbox.read_from(0, 9), lambda: inbox.append([mark(1)])):
        with pytest.raises(JobDamaged, match=f"{FILE_NAME}' is not a plain file"):
            use()


def test_a_job_that_is_gone_is_told(inbox: FileInbox, tmp_path: Path) -> None:
    (tmp_path / FILE).unlink()
    with pytest.raises(JobRefused, match="it was deleted meanwhile"):
        inbox.append([mark(1)])
    with pytest.raises(JobRefused, match="cannot be written: No such file or directory; nothing was noted"):
        FileInbox(tmp_path / "gone").append([mark(1)])


def test_a_full_disk_leaves_nothing_of_what_was_refused(
    inbox: FileInbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox.append([mark(1)])
    before, write = (tmp_path / FILE_NAME).read_bytes(), os.write

    def fills(file: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write(file, data[:50])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", fills)
        with pytest.raises(JobRefused, match="No space left on device; nothing was noted"):
            inbox.append([mark(2)])
    assert (tmp_path / FILE_NAME).read_bytes() == before


def start_writer(folder: Path, name: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(times)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_several_write_at_once_one_is_killed_and_no_letter_that_was_acknowledged_is_lost(
    inbox: FileInbox, tmp_path: Path
) -> None:
    writers = {name: start_writer(tmp_path, name, 1_000 if name == "mortal" else 20) for name in ("a", "b", "mortal")}
    for writer in writers.values():
        writer.stdin.write("\n")
        writer.stdin.flush()
    mortal = writers["mortal"]
    acknowledged = [mortal.stdout.readline() for _ in range(5)]
    mortal.send_signal(signal.SIGKILL)
    rest = mortal.communicate()[0]
    for name in ("a", "b"):
        assert writers[name].communicate()[0].count("\n") == 20
    urls = {one.url for one in read_all(inbox)}
    count = {"a": 20, "b": 20, "mortal": len(acknowledged) + rest.count("\n")}
    for name, times in count.items():
        assert {f"http://{name}.example/{n}/{part}" for n in range(times) for part in range(40)} <= urls
    for line in (tmp_path / FILE_NAME).read_bytes().splitlines()[-1:]:
        assert json.loads(line)["kind"] == "mark"
