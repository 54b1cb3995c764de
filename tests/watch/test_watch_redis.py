"""Crawls in Redis are watched like those in a folder: figures, pages, marks, and one that is deleted meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from scrapy.settings import Settings

from focused.frontier.inbox import Mark
from focused.frontier.store import NewLink, Outcome, PageRecord
from focused.lab.redis.server import RedisServer
from focused.redis.inbox import RedisInbox
from focused.redis.store import RedisStore
from focused.scheduling.starts import ABOUT
from focused.watch.app import make_app
from focused.watch.crawls import WatchedCrawls
from tests.frontier.frontiers import Plain, lease
from tests.watch.asking import Asker

PAGES = 8


def fetch(store: RedisStore, number: int) -> None:
    url = f"http://h{number % 2}/{number}"
    store.admit(None, [NewLink(url, url.split("/")[2])])
    leased = lease(store)
    item = {"url": url, "title": f"<b>Page {number}", "relevance": number / PAGES}
    store.record(leased, PageRecord(0, url, number / PAGES, number + 1, item=item))
    store.acknowledge(leased, Outcome.PAGE)
    store.commit()


@pytest.fixture
def store(redis: RedisServer) -> Iterator[RedisStore]:
    for name in ("soups", "stars"):
        made = RedisStore(redis.client(), name, "one", Plain())
        about = {"topic": {"name": name}, "critic": "keywords", "prioritizer": {"name": "breadth-first", "options": {}}}
        made.note(ABOUT, json.dumps(about))
        for number in range(PAGES):
            fetch(made, number)
    yield made
    made.abandon()


@pytest.fixture
def asker(redis: RedisServer, store: RedisStore) -> Iterator[Asker]:
    crawls = WatchedCrawls(redis.url, None, Settings())
    crawls.find()
    asking = Asker(make_app(crawls))
    yield asking
    asking.close()


def test_all_crawls_of_a_server_are_shown_with_their_pages(asker: Asker) -> None:
    crawls = asker.get("/api/crawls").json["crawls"]
    assert [(crawl["id"], crawl["pages"], crawl["state"]) for crawl in crawls] == [
        ("soups", PAGES, "running"),
        ("stars", PAGES, "running"),
    ]
    pages = asker.get("/api/crawls/stars/pages?sort=order").json["pages"]
    assert [(page["url"], page["title"]) for page in pages] == [
        (f"http://h{n % 2}/{n}", f"<b>Page {n}") for n in range(PAGES)
    ]
    figures = asker.get("/api/crawls/stars").json
    assert any(label == "memory" for label, _ in figures["lines"])
    assert [host["pages"] for host in figures["hosts"]] == [PAGES / 2, PAGES / 2]


def test_marks_go_to_the_inbox_of_the_crawl(asker: Asker, redis: RedisServer) -> None:
    asked = {"marks": [{"url": "http://h1/1", "said": "no"}]}
    assert asker.post("/api/crawls/stars/marks", asked).json == {"noted": 1}
    with redis.client() as client:
        (mark,) = RedisInbox(client, "stars").read_from(0, 9).letters
        assert isinstance(mark, Mark)
        assert (mark.url, str(mark.said)) == ("http://h1/1", "no")
        assert RedisInbox(client, "soups").end() == 0
    assert [page["url"] for page in asker.get("/api/crawls/stars/pages?said=no").json["pages"]] == [mark.url]


def test_a_crawl_that_is_deleted_is_named_and_the_others_go_on(asker: Asker, redis: RedisServer) -> None:
    asker.get("/api/crawls")
    with redis.client() as client:
        client.delete(*client.keys("{focused:stars}*"))
    answer = asker.post("/api/crawls/stars/marks", {"marks": [{"url": "http://h1/1", "said": "no"}]})
    assert (answer.status, answer.error) == (409, "there is no crawl 'stars' in Redis any more")
    assert asker.get("/api/crawls/soups").json["problem"] == ""
