"""`scrapy report redis://…` tells of a crawl of several workers what is kept of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lxml import html
from scrapy.settings import Settings

from focused.frontier.store import NewLink, Outcome, PageRecord
from focused.lab.redis.server import RedisServer
from focused.redis.reading.reader import open_readers
from focused.redis.store import RedisStore
from focused.report.figures import PageFigures, PageGroup
from focused.report.reader import CrawlReader
from focused.scheduling.starts import ABOUT
from tests.frontier.frontiers import Plain, lease

Scrapy = Callable[..., subprocess.CompletedProcess[str]]
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def workers(redis: RedisServer) -> Iterator[list[RedisStore]]:
    """Two of one crawl: twelve pages of two hosts, a copy, a dead link, and three that wait."""
    stores = [RedisStore(redis.client(), "birds", worker, Plain()) for worker in ("one", "two")]
    one, two = stores
    for n in range(12):
        fetch((one, two)[n % 2], f"http://h{n % 3 == 0:d}/{n}", n / 11, "bird" if n > 5 else "other")
    fetch(one, "http://h0/copy", 1.0, "bird", outcome=Outcome.DUPLICATE)
    fetch(two, "http://h0/gone", None)
    for n in range(3):
        one.admit(None, [NewLink(f"http://h2/{n}", "h2")])
    about = {"topic": {"name": f"birds {EVIL}"}, "critic": "keywords", "prioritizer": {"name": "plain", "options": {}}}
    one.note(ABOUT, json.dumps(about))
    one.commit()
    yield stores
    for store in stores:
        store.abandon()


def fetch(
    store: RedisStore, url: str, relevance: float | None, of: str = "", *, outcome: Outcome = Outcome.PAGE
) -> None:
    store.admit(None, [NewLink(url, url.split("/")[2])])
    leased = lease(store)
    assert leased is not None
    if relevance is None:
        store.acknowledge(leased, Outcome.DEAD, "404")
    else:
        item = {"url": url, "title": f"Page {EVIL}", "relevance": relevance, "class": of}
        digest = 1 if outcome is Outcome.DUPLICATE else leased.link
        store.record(leased, PageRecord(0, url, relevance, digest, best_class=of, item=item))
        store.acknowledge(leased, outcome)
    store.commit()


@pytest.fixture
def reader(redis: RedisServer, workers: list[RedisStore]) -> Iterator[CrawlReader]:
    (opened,) = open_readers(redis.url, None, Settings())
    with opened:
        yield opened


def test_pages_that_came_after_one_are_read_alone_without_duplicates(reader: CrawlReader) -> None:
    every = reader.pages_after(0)
    table = reader.page_table()
    assert every == reader.pages(table.link[table.is_new].tolist())
    assert [page.order for page in every] == list(range(1, 13))
    for order in (1, 5, 11, 12, 99):
        assert reader.pages_after(order) == [page for page in every if page.order > order]


def test_hosts_that_sleep_are_named(reader: CrawlReader, workers: list[RedisStore]) -> None:
    assert reader.now().hosts == []
    workers[0].sleep("h2", 300.0)
    workers[0].commit()
    (host,) = reader.now().hosts
    assert host.host == "h2"
    assert 250 < host.seconds <= 301


def test_figures_are_those_of_all_workers(reader: CrawlReader) -> None:
    figures, status = PageFigures(reader.page_table()), reader.status()
    assert (status.pages, status.relevant, status.outcomes["duplicate"], status.waiting) == (13, 6, 1, 3)
    assert status.harvest == pytest.approx(6 / 12)
    assert figures.relevance.tolist() == pytest.approx([n / 11 for n in range(12)])
    assert {name: count for name, count in status.outcomes.items() if count} == {"page": 12, "duplicate": 1, "dead": 1}
    hosts, count = figures.hosts({line.host: line.links for line in status.waiting_by_host}, 10)
    assert count == 3
    assert [(line.name, line.pages, line.waiting) for line in hosts] == [("h0", 8, 0), ("h1", 4, 0), ("h2", 0, 3)]
    assert figures.classes(5) == [
        PageGroup("bird", 6, 6, pytest.approx(8.5 / 11)),
        PageGroup("other", 6, 0, pytest.approx(2.5 / 11)),
    ]
    assert [line.url for line in reader.pages(figures.best(2))] == ["http://h0/11", "http://h0/10"]
    assert [line.order for line in reader.pages(figures.latest(2))] == [12, 11]


def test_the_command_writes_one_file(
    redis: RedisServer, workers: list[RedisStore], scrapy: Scrapy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = scrapy("report", redis.url)
    assert (run.returncode, run.stdout) == (0, "birds.html\n")
    text = (tmp_path / "birds.html").read_text("utf-8")
    assert text.count("<script") == 1
    told = " ".join(" ".join(html.fromstring(text).itertext()).split())
    assert f"birds {EVIL}" in told
    assert "Running on 2 workers, for" in told
    assert "13 pages fetched and judged, 1 of them duplicate" in told
    assert f"recorded in birds, at {redis.url}" in told
    assert "dead 1 404 (1)" in told
    for store in workers:
        store.close()
    assert scrapy("report", redis.url, "--crawl", "birds", "--out", "deep/r.html").returncode == 0
    assert "Not running; its workers have ended" in (tmp_path / "deep" / "r.html").read_text("utf-8")


def test_a_crawl_without_a_page_has_a_report(redis: RedisServer, scrapy: Scrapy, tmp_path: Path) -> None:
    store = RedisStore(redis.client(), "birds", "one", Plain())
    store.beat()
    assert scrapy("report", redis.url, "--out", tmp_path / "r.html").returncode == 0
    assert "Nothing was fetched" in (tmp_path / "r.html").read_text("utf-8")
    store.abandon()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("{url}", "--crawl", "fish"), "there is no crawl 'fish' at"),
        (("http://127.0.0.1:1",), "an address http://… cannot be read"),
        (("redis://127.0.0.1:1/0",), "Redis does not answer at"),
        (("jobs/birds", "--crawl", "birds"), "a job folder holds one crawl only"),
    ],
)
def test_what_cannot_be_read_is_told_clearly(
    redis: RedisServer, workers: list[RedisStore], scrapy: Scrapy, arguments: tuple[str, ...], words: str
) -> None:
    run = scrapy("report", *(argument.format(url=redis.url) for argument in arguments))
    assert run.returncode == 2
    assert words in run.stderr + run.stdout
