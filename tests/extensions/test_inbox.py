"""The extension that looks into the inbox: when a crawl must not end, and when it cannot go on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Spider
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.test import get_crawler

from focused.extensions import inbox as room
from focused.extensions.inbox import InboxExtension
from focused.frontier.inbox import FileInbox, Order
from focused.frontier.steering import STEERING, Steering
from focused.frontier.store import StoreBroken
from focused.frontier.store_sqlite import SqliteStore
from focused.job import OpenJob
from focused.parts import parts_of
from focused.prioritizers.breadth_first import BreadthFirst
from focused.visits.marks import Marks


class Frontier:
    """What the extension needs of a scheduler."""

    def __init__(self, store: SqliteStore) -> None:
        self.store, self.is_broken = store, False
        self.paused: list[bool] = []
        self.errors: list[Exception] = []

    def cannot(self, order: Order) -> str:
        return ""

    def pause(self, is_paused: bool) -> None:
        self.paused.append(is_paused)

    def give_up(self, error: Exception) -> None:
        self.is_broken = True
        self.errors.append(error)


class Crawl:
    """A crawl with a job, of which nothing runs but the extension."""

    def __init__(self, folder: Path, patched: pytest.MonkeyPatch) -> None:
        patched.setattr(room, "EngineAccess", lambda _: SimpleNamespace(wake=lambda: None))
        patched.setattr(room, "create_looping_call", lambda _: SimpleNamespace(start=lambda *_, **__: None))
        folder.mkdir()
        self.store, self.inbox = SqliteStore(folder, BreadthFirst()), FileInbox(folder)
        crawler = get_crawler(settings_dict={"FOCUSED_TOPIC": "star galaxy"})
        crawler.spider = Spider("theirs")
        self.parts = parts = cast("Any", parts_of(crawler))
        nobody = cast("Any", SimpleNamespace())
        parts.job = OpenJob(self.store, nobody, nobody, inbox=self.inbox, name="jobs/x")
        parts.frontier = self.frontier = Frontier(self.store)
        parts.learning = SimpleNamespace(catch_up=lambda: None, is_waited_for=False)
        self.extension = InboxExtension(crawler)


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crawl]:
    made = Crawl(tmp_path / "job", monkeypatch)
    yield made
    with suppress(StoreBroken):
        made.store.close()


def test_a_crawl_does_not_end_when_it_or_another_worker_has_just_taken_orders_in(crawl: Crawl) -> None:
    crawl.extension.spider_opened()
    crawl.extension.spider_idle()
    crawl.inbox.append([Order(verb="limit", value="pages=9")])
    with pytest.raises(DontCloseSpider):
        crawl.extension.spider_idle()
    assert crawl.parts.stops.pages == 9
    crawl.inbox.append([Order(verb="pause")])
    assert Marks(crawl.store, crawl.inbox, lambda _: None).take_in() is not None
    with pytest.raises(DontCloseSpider):
        crawl.extension.spider_idle()
    assert crawl.frontier.paused == [False, True]
    crawl.extension.spider_idle()


def test_an_order_to_end_is_void_for_a_start_that_comes_after_it(crawl: Crawl) -> None:
    crawl.inbox.append([Order(verb="pause"), Order(verb="end")])
    crawl.extension.spider_opened()
    assert crawl.parts.steering == Steering(ends=1)
    assert crawl.frontier.paused == [False], "nothing else was done"


def test_a_damaged_note_ends_the_crawl_in_a_sentence(crawl: Crawl) -> None:
    crawl.store.note(STEERING, '{"is_paused": 7}')
    crawl.extension.spider_opened()
    (error,) = crawl.frontier.errors
    assert str(error).startswith("the job jobs/x is damaged: the note 'steering' cannot be read: ")


def test_a_paused_crawl_notices_that_its_job_is_gone(crawl: Crawl, tmp_path: Path) -> None:
    crawl.inbox.append([Order(verb="pause")])
    crawl.extension.spider_opened()
    shutil.move(tmp_path / "job", tmp_path / "elsewhere")
    crawl.extension._look()
    (error,) = crawl.frontier.errors
    assert "is gone (deleted, moved, replaced or unmounted)" in str(error)
