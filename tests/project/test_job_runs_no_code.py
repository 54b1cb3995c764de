"""No file of a job folder runs code: not as a crawl goes on, nor as somebody reads the job."""

from __future__ import annotations

import io
import json
import os
import pickle
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import msgpack
import numpy as np
import pytest
from scrapy import FormRequest, Request, Spider

from focused.arrays import Damaged, load_arrays, save_arrays
from focused.frontier.records import FILE
from focused.frontier.store import JobRefused
from focused.lab.site.reply import linking
from focused.lab.site.server import SiteServer
from focused.scheduling.requests import BadRequest, request_from_bytes, request_to_bytes
from focused.scheduling.starts import parse_about, untaught_prioritizer
from tests.project.foreign import ForeignProject

HUB = "http://hub.example/"
PAGES = {HUB: linking("http://a.example/", text="a star"), "http://a.example/": linking(text="a galaxy")}
TOPIC = "topic=star, galaxy"
COUNTS_STARTS = """
    def closed(self, reason):
        self.state["starts"] = self.state.get("starts", 0) + 1
"""


class _MakesFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def site():
    with SiteServer(PAGES) as server:
        yield server


def test_our_spider_unpickles_nothing(tmp_path: Path, site: SiteServer) -> None:
    project = ForeignProject.make(tmp_path / "news", [HUB])
    job, made = project.folder / "job", tmp_path / "made"
    job.mkdir()
    state = pickle.dumps(_MakesFolder(made))
    (job / "spider.state").write_bytes(state)
    ran = project.scrapy("crawl", "focused", "-a", TOPIC, "-a", f"seeds={HUB}", "-s", "JOBDIR=job", site=site)
    assert ran.code == 0, ran.log
    assert not made.exists()
    assert (job / "spider.state").read_bytes() == state


def test_the_state_of_a_spider_of_somebody_elses_is_kept(tmp_path: Path, site: SiteServer) -> None:
    project = ForeignProject.make(tmp_path / "news", [HUB], spider=COUNTS_STARTS)
    for _ in range(2):
        ran = project.scrapy("crawl", "articles", "-a", TOPIC, "-s", "JOBDIR=job", site=site)
        assert ran.code == 0, ran.log
    assert pickle.loads((project.folder / "job" / "spider.state").read_bytes()) == {"starts": 2}


@pytest.mark.parametrize("name", ["subprocess.Popen", "evil.Prioritizer"])
def test_a_note_has_nothing_imported_or_called(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py").write_text("import os\nos.mkdir('made')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    options = {"args": ["mkdir", "made"]}
    about = {"topic": {"name": "x"}, "critic": "keywords", "prioritizer": {"name": name, "options": options}}
    with pytest.raises(JobRefused, match=r"cannot be made again: .*"):
        untaught_prioritizer(parse_about(json.dumps(about)))
    assert not (tmp_path / "made").exists()
    assert "evil" not in sys.modules


@pytest.mark.parametrize("name", ["subprocess.Popen", "evil.Request", "os.mkdir", "nothing", ""])
def test_a_request_in_a_job_is_of_a_class_of_requests(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text("from scrapy import Request\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    fields = {**Request(HUB).to_dict(), "_class": name}
    with pytest.raises(BadRequest, match="is not a class of requests"):
        request_from_bytes(msgpack.packb(fields), Spider("any"))
    assert "evil" not in sys.modules


def test_a_request_of_a_class_of_its_own_comes_back() -> None:
    spider = Spider("any")
    again = request_from_bytes(request_to_bytes(FormRequest(HUB, formdata={"a": "b"}), spider), spider)
    assert (type(again), again.body) == (FormRequest, b"a=b")


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x81\xa1a", msgpack.packb(7), msgpack.packb({"url": "no scheme"})])
def test_a_damaged_request_is_told_as_such(data: bytes) -> None:
    with pytest.raises(BadRequest, match="its request cannot be made"):
        request_from_bytes(data, Spider("any"))


def _npy(shape: str, dtype: str = "'<f8'", size: int = 64) -> bytes:
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(size)


def _archive(data: bytes, **how: int) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w", **how) as archive:  # type: ignore[call-overload]  # one keyword or none
        archive.writestr("a.npy", data)
    return file.getvalue()


BOMBS = {
    "larger than the file": _archive(_npy("(2500000,)", size=20_000_000), compression=ZIP_DEFLATED),
    "larger than it says": _archive(_npy("(10000000000,)")),
    "without end": _archive(_npy("(2305843009213693952, 8)")),
    "below zero": _archive(_npy("(-3,)")),
    "of objects": _archive(_npy("(1,)", "'|O'")),
    "of nothing": _archive(_npy("(10**12,)", "'|S0'")),
    "no archive": b"PK\x03\x04 and nothing more",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_arrays_are_no_larger_than_what_they_are_read_from(bomb: str) -> None:
    with pytest.raises(Damaged, match="not a file of saved arrays"):
        load_arrays(BOMBS[bomb])


def test_arrays_of_every_kind_come_back() -> None:
    arrays = {
        "text": np.array("some"),
        "empty": np.zeros((0, 3)),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "bytes": np.array([b"a", b""]),
        "switches": np.array([True, False]),
        "one": np.array(3.5),
    }
    back = load_arrays(save_arrays(arrays))
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
        assert (back[name] == array).all()
        back[name][...] = array  # they can be written to


def test_a_link_whose_request_is_damaged_fails_and_the_crawl_goes_on(tmp_path: Path, site: SiteServer) -> None:
    project = ForeignProject.make(tmp_path / "news", [HUB])
    crawl = ("crawl", "focused", "-a", TOPIC, "-a", f"seeds={HUB}", "-s", "JOBDIR=job")
    assert project.scrapy(*crawl, "-a", "pages=1", site=site).code == 0
    with closing(sqlite3.connect(project.folder / "job" / FILE)) as job, job:
        assert job.execute("UPDATE links SET request = ? WHERE state = 1", (b"\xc1",)).rowcount == 1
    ran = project.scrapy(*crawl, site=site)
    assert ran.code == 0, ran.log
    assert "Traceback" not in ran.log
    with closing(sqlite3.connect(project.folder / "job" / FILE)) as job:
        ((outcome, detail),) = job.execute("SELECT outcome, detail FROM links WHERE request IS NOT NULL").fetchall()
    assert outcome == 6
    assert detail.startswith("its request cannot be made")
