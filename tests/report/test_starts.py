"""What a job remembers of its starts, and what it must not."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from focused.files import write_whole
from focused.frontier.records import FILE, Lock, read_records
from focused.frontier.store import JobRefused
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.server import SiteServer
from focused.scheduling.starts import note_end, read_about, read_starts

TOPIC = 'name = "b"\nkeywords = ["bird"]\nseeds = ["http://a.example/"]\n[prioritizer]\nd_max = 3\n'


def test_a_job_knows_how_it_was_made(records: sqlite3.Connection) -> None:
    about = read_about(records)
    assert about["topic"]["name"] == "birds <&> beaks"
    assert about["topic"]["keywords"] == ["bird", "wing", "feather", "beak"]
    assert about["prioritizer"] == {"name": "focused", "options": {}}
    assert about["settings"]["FOCUSED_TRAIN_EVERY"] == 2
    assert about["versions"]["scrapy"]
    assert "FOCUSED_PAGE_LINKS" not in about["settings"]  # as it is by default


def test_passwords_are_not_kept(site: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text(TOPIC)
    secrets = {"FTP_PASSWORD": "hunter2", "AWS_SECRET_ACCESS_KEY": "hunter2", "MY_TOKEN": "hunter2"}
    headers = {"DEFAULT_REQUEST_HEADERS": json.dumps({"Authorization": "Basic hunter2"})}
    run_crawl({"topic": tmp_path / "b.toml", "pages": 1}, folder=tmp_path, site=site, settings={**secrets, **headers})
    with closing(read_records(tmp_path / "job")) as records:
        assert read_about(records)["prioritizer"]["options"] == {"d_max": 3}
        kept = json.dumps([tuple(row) for row in records.execute("SELECT * FROM meta")])
    assert "hunter2" not in kept
    assert "hunter2" not in (tmp_path / "job" / "report.html").read_text("utf-8")


def copy_of(records: sqlite3.Connection, folder: Path) -> Path:
    with closing(sqlite3.connect(folder / FILE)) as copy:
        records.backup(copy)
    return folder


def test_an_end_is_that_of_the_last_start(records: sqlite3.Connection, tmp_path: Path) -> None:
    note_end(copy_of(records, tmp_path), "it was enough", {"requests": 7})
    with closing(read_records(tmp_path)) as copy:
        (start,) = read_starts(copy)
    assert (start["why"], start["requests"], start["pages_before"]) == ("it was enough", 7, 0)


def test_a_job_that_another_crawl_has_begun_is_left_alone(records: sqlite3.Connection, tmp_path: Path) -> None:
    lock = Lock(copy_of(records, tmp_path))
    try:
        with pytest.raises(JobRefused, match="in use"):
            note_end(tmp_path, "too late", {})
    finally:
        lock.release()
    with closing(read_records(tmp_path)) as copy:
        assert read_starts(copy)[0]["why"] != "too late"


def test_a_crawl_that_is_refused_changes_nothing_of_the_job(
    crawl: CrawlResult, job: Path, folder: Path, site: SiteServer, tmp_path: Path
) -> None:
    (tmp_path / "b.toml").write_text(TOPIC)
    before = (job / FILE).read_bytes()
    report = (job / "report.html").read_bytes()
    refused = run_crawl({"topic": tmp_path / "b.toml"}, folder=tmp_path, site=site, settings={"JOBDIR": job})
    assert refused.exit_code != 0
    assert (job / FILE).read_bytes() == before
    assert (job / "report.html").read_bytes() == report


def test_a_job_may_have_an_odd_name(records: sqlite3.Connection, tmp_path: Path) -> None:
    folder = tmp_path / "c#1 50%? é"
    folder.mkdir()
    copy_of(records, folder)
    with closing(read_records(folder)) as copy:
        assert read_starts(copy)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_text("before")
    with pytest.raises(TypeError), write_whole(path) as file:
        file.writelines([b"half", None])
    assert path.read_text() == "before"
    with write_whole(path) as file:
        file.write(b"after")
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]
