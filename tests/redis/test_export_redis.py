"""`scrapy export redis://…` writes what all workers of a crawl have found, and what they have learned."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from scrapy.settings import Settings

from focused.arrays import load_arrays
from focused.frontier.store import NewLink, Outcome, PageRecord
from focused.lab.redis.server import RedisServer
from focused.redis.reading.reader import open_readers
from focused.redis.store import RedisStore
from focused.visits.training import MODEL
from tests.frontier.frontiers import Plain, lease

Scrapy = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def workers(redis: RedisServer) -> Iterator[list[RedisStore]]:
    """Two of one crawl, and one of another."""
    names = (("birds", "one"), ("birds", "two"), ("ships", "one"))
    stores = [RedisStore(redis.client(), crawl, worker, Plain()) for crawl, worker in names]
    yield stores
    for store in stores:
        store.abandon()


def fetch(store: RedisStore, url: str, relevance: float, *, outcome: Outcome = Outcome.PAGE, digest: int = 0) -> None:
    store.admit(None, [NewLink(url, "h")])
    leased = lease(store)
    assert leased is not None
    item = {"url": url, "title": "Möwe", "relevance": relevance}
    store.record(leased, PageRecord(0, url, relevance, digest or leased.link, item=item))
    store.acknowledge(leased, outcome)
    store.commit()


def test_the_items_of_all_workers_in_the_order_of_fetching(
    redis: RedisServer, workers: list[RedisStore], scrapy: Scrapy, tmp_path: Path
) -> None:
    one, two, other = workers
    for n in range(1_500):
        fetch((one, two)[n % 2], f"http://h/{n}", (n % 10) / 10)
    fetch(one, "http://h/copy", 0.9, digest=1)
    fetch(other, "http://ship/", 1.0)
    run = scrapy("export", redis.url, "--crawl", "birds", "-o", tmp_path / "all.jsonl")
    assert run.returncode == 0, run.stderr
    items = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text("utf-8").splitlines()]
    assert [item["url"] for item in items] == [f"http://h/{n}" for n in range(1_500)]
    assert {item["title"] for item in items} == {"Möwe"}
    assert f"{len(items)} items" in run.stdout
    some = scrapy("export", redis.url, "--crawl", "birds", "-o", "-:csv", "--relevant", "0.9").stdout.splitlines()
    assert len(some) == 1 + 150
    (ships,) = open_readers(redis.url, "ships", Settings())
    with ships:
        assert [item["url"] for item in ships.items()] == ["http://ship/"]


def test_what_was_learned(redis: RedisServer, workers: list[RedisStore], scrapy: Scrapy, tmp_path: Path) -> None:
    one = workers[0]
    with redis.client() as client:
        pool = one.pool_over(client)
        assert scrapy("export", redis.url, "--crawl", "birds", "--learned", tmp_path / "a.npz").returncode == 2
        pool.publish(MODEL, {"factor": np.array([2.5])}, 0)
    run = scrapy("export", redis.url, "--crawl", "birds", "--learned", tmp_path / "a.npz")
    assert run.returncode == 0, run.stderr
    assert load_arrays((tmp_path / "a.npz").read_bytes())["factor"].tolist() == [2.5]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "-"), "there are 2 crawls at"),
        (("-o", "-", "--crawl", "fish"), "there is no crawl 'fish' at"),
        (("--crawl", "birds", "--learned", "a.npz", "--train"), "it is not recorded how this crawl was made"),
    ],
)
def test_what_cannot_be_written_is_told_clearly(
    redis: RedisServer, workers: list[RedisStore], scrapy: Scrapy, arguments: tuple[str, ...], words: str
) -> None:
    run = scrapy("export", redis.url, *arguments)
    assert run.returncode == 2
    assert words in run.stderr + run.stdout
    job = scrapy("export", "nowhere", "-o", "-", "--crawl", "birds")
    assert "a job folder holds one crawl only" in job.stderr + job.stdout
