"""One small crawl of a site where links end in every way, and that goes through what a report is told by strangers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from focused.frontier.records import read_records
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import Reply, html, redirect
from focused.lab.site.server import SiteServer
from focused.report.job_reader import JobReader

HOSTILE = '<script>alert(1)</script>\u202e\x07 & "birds" \''
TOPIC = 'name = "birds <&> beaks"\nkeywords = ["bird", "wing", "feather", "beak"]\nseeds = ["http://a.example/"]\n'
PAGES = 16
BIRD = "bird with a wing and a feather and a beak, one more bird"


def bird(number: int) -> str:
    """A page on the topic; every one has words of its own."""
    return f"<title>Bird {number}</title><p>{BIRD} number{number} w{number * 7}</p>" + "<p>nest egg branch</p>" * 3


def stone(number: int) -> str:
    return (
        f"<title>Stone {number}</title><p>granite number{number} and basalt w{number * 7}</p>" + "<p>hard grey</p>" * 9
    )


def seed() -> str:
    good = "".join(f"<p>a bird is here <a href=/bird{i}>feather {i}</a> and its wing</p>" for i in range(1, 9))
    bad = "".join(f"<p>a rock is here <a href=/stone{i}>granite {i}</a> and its weight</p>" for i in range(1, 9))
    others = (
        "<p><a href=/gone>gone bird</a><a href=/private/x>private bird</a><a href=/file>bird file</a>"
        "<a href=/old>old bird</a><a href=/hostile>bird of prey</a><a href=http://b.example/>bird host</a></p>"
    )
    return f"<title>Birds</title>{others}{good}{bad}"


def pages() -> dict[str, str | Reply]:
    birds = {f"http://a.example/bird{i}": bird(i) + f"<a href=/more{i}>beak more</a>" for i in range(1, 9)}
    stones = {f"http://a.example/stone{i}": stone(i) + f"<a href=/dust{i}>dust</a>" for i in range(1, 9)}
    return {
        "http://a.example/robots.txt": Reply(
            body=b"User-agent: *\nDisallow: /private/\n", headers={"Content-Type": "text/plain"}
        ),
        "http://a.example/": seed(),
        "http://a.example/old": redirect("http://a.example/bird1"),
        "http://a.example/file": Reply(body=b"%PDF-1.4", headers={"Content-Type": "application/pdf"}),
        "http://a.example/hostile": f"<title>{HOSTILE.replace('<', '&lt;')}</title><p>{BIRD} hostile</p>" * 3,
        # The same page under another address.
        "http://b.example/": html(bird(2) + "<a href=/more2>beak more</a>"),
        **birds,
        **stones,
    }


@pytest.fixture(scope="session")
def site() -> Iterator[SiteServer]:
    with SiteServer(pages()) as server:
        yield server


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("crawl")


@pytest.fixture(scope="session")
def crawl(site: SiteServer, folder: Path) -> CrawlResult:
    """Crawled one by one, so that items come in one order; some links are left waiting."""
    (folder / "birds.toml").write_text(TOPIC, "utf-8")
    result = run_crawl(
        {"topic": folder / "birds.toml", "pages": PAGES},
        folder=folder,
        site=site,
        settings={"CONCURRENT_REQUESTS": 1, "FOCUSED_TRAIN_EVERY": 2, "RETRY_TIMES": 0},
    )
    assert result.exit_code == 0, result.log
    return result


@pytest.fixture(scope="session")
def job(crawl: CrawlResult, folder: Path) -> Path:
    return folder / "job"


@pytest.fixture
def records(job: Path) -> Iterator[sqlite3.Connection]:
    connection = read_records(job)
    yield connection
    connection.close()


@pytest.fixture
def reader(records: sqlite3.Connection, job: Path) -> JobReader:
    return JobReader(records, job)


@pytest.fixture
def copy(records: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """The records once more, in memory, where a test may change them."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    records.backup(connection)
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


@pytest.fixture
def copied(copy: sqlite3.Connection, job: Path) -> JobReader:
    return JobReader(copy, job)


@pytest.fixture(scope="session")
def empty_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job whose only seed could not be reached."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "birds.toml").write_text(TOPIC, "utf-8")
    with SiteServer({}) as nothing:
        result = run_crawl({"topic": folder / "birds.toml"}, folder=folder, site=nothing)
    assert result.exit_code != 0
    return folder / "job"
