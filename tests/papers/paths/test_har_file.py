"""The entries of a HAR file are read one by one, however large the file is and wherever it ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focused.papers.paths import har_file
from focused.papers.paths.har_file import HarFile, NotHar

ENTRIES: list[Any] = [{"a": 'q"\\}{['}, {"b": [[{"c": '\\\\"'}]], "entries": [{}]}, {}, {"t": "ü" * 50}]
HAR = {
    "x": [1, {"entries": [{"a": 1}]}],
    "log": {"comment": "entries", "pages": [{"entries": [{"no": 1}]}], "entries": ENTRIES, "z": [{"q": 1}]},
    "y": {"entries": [{"no": 1}]},
}
TEXT = st.text(max_size=5) | st.sampled_from(["log", "entries", '\\"', "\\", "{[", "]}"])
JSON = st.recursive(
    st.none() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def har(tmp_path: Path):
    """A file with some bytes."""

    def write(data: bytes) -> HarFile:
        (tmp_path / "x.har").write_bytes(data)
        return HarFile(str(tmp_path / "x.har"))

    return write


def read(file: HarFile) -> list[Any]:
    return [json.loads(one) for one in file]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 20])
def test_entries_are_those_of_the_log_wherever_chunks_end(har, monkeypatch, chunk: int) -> None:
    monkeypatch.setattr(har_file, "_CHUNK", chunk)
    data = json.dumps(HAR, ensure_ascii=False).encode()
    file = har(data)
    assert read(file) == ENTRIES
    assert not file.is_cut


def test_a_byte_order_mark_is_read_over(har) -> None:
    assert read(har(b"\xef\xbb\xbf" + json.dumps(HAR).encode())) == ENTRIES


@settings(max_examples=50)
@given(st.lists(st.dictionaries(TEXT, JSON, max_size=3), max_size=4), JSON, st.integers(1, 40))
def test_it_finds_what_a_parser_finds(entries: list[Any], other: Any, chunk: int) -> None:
    data = json.dumps({"other": other, "log": {"pages": other, "entries": entries, "more": other}}).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(har_file, "_CHUNK", chunk)
        scan = har_file._Scan()
        file = io.BytesIO(data)
        assert [json.loads(one) for one in scan.entries(file, file.read(chunk))] == entries
    assert scan.depth == 0
    assert scan.has_entries


def test_a_file_that_is_cut_off_gives_what_is_whole(har) -> None:
    data = json.dumps(HAR).encode()
    whole, refusals = set[int](), set[str]()
    for end in range(1, len(data)):
        file = har(data[:end])
        try:
            found = read(file)
        except NotHar as error:
            refusals.add(str(error).split(": ")[1])
            continue
        assert file.is_cut
        assert found == ENTRIES[: len(found)]
        whole.add(len(found))
    assert whole == set(range(len(ENTRIES) + 1))
    assert refusals == {"no entries (the file is cut off)"}


def test_an_entry_that_is_too_large_is_left_out_and_counted(har, monkeypatch) -> None:
    monkeypatch.setattr(har_file, "_CHUNK", 50)
    monkeypatch.setattr(har_file, "MOST_ENTRY", 100)
    file = har(json.dumps({"log": {"entries": [{"n": 1}, {"film": "x" * 200}, {"n": 2}, {"film": [0] * 80}]}}).encode())
    assert read(file) == [{"n": 1}, {"n": 2}]
    assert file.too_large == 2


def test_no_more_of_a_file_is_in_memory_than_an_entry(har, monkeypatch) -> None:
    kept, keep = 0, har_file._Scan._keep

    def watched(self: har_file._Scan, part: bytes) -> None:
        nonlocal kept
        keep(self, part)
        kept = max(kept, len(self._entry or b""))

    monkeypatch.setattr(har_file, "_CHUNK", 1_000)
    monkeypatch.setattr(har_file, "MOST_ENTRY", 5_000)
    monkeypatch.setattr(har_file._Scan, "_keep", watched)
    body = {"text": '<a href="x">\n' * 200}
    assert len(read(har(json.dumps({"log": {"entries": [body, {"film": "x" * 90_000}] * 5}}).encode()))) == 5
    assert 2_000 < kept <= 5_000


def test_nesting_without_end_is_read_over(har) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    assert [len(one) for one in har(b'{"log":{"entries":[{"a":' + deep + b'},{"b":1}]}}')] == [200_006, 7]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<html>", "not JSON"),
        (b"[1]", "not JSON"),
        (b"\x1f\x8b\x08", "not JSON"),
        (b"{}", "no entries"),
        (b'{"log": {"pages": []}}', "no entries"),
        (b'{"log": [{"entries": [{}]}]}', "no entries"),
        (b'{"log": {"entries": {}}}', "no entries"),
        (b'{"log": {"pag', "no entries (the file is cut off)"),
        (b'{"log": {"pag\\', "no entries (the file is cut off)"),
    ],
)
def test_what_is_no_har_is_refused(har, data: bytes, what: str) -> None:
    file = har(data)
    with pytest.raises(NotHar) as error:
        read(file)
    way_out = "give a HAR file, as browsers save it in the Network panel of their tools"
    assert str(error.value) == f"{file.path}: {what}: {way_out}"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "x", "No such file or directory")):
        with pytest.raises(NotHar, match=rf"{path.name}: cannot be read \({why}\): give a HAR file"):
            read(HarFile(str(path)))
