"""The job of a crawl under Scrapy's scheduler, where it cannot be opened."""

from __future__ import annotations

from typing import NoReturn

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from focused.frontier.store import JobRefused, StoreAway
from focused.parts import parts_of
from focused.scheduling.beside import open_job_beside

REASONS = [(JobRefused("in use"), "job_refused"), (StoreAway("away"), "store_broken")]


@pytest.mark.parametrize(("error", "reason"), REASONS)
def test_a_job_that_cannot_be_opened_ends_its_crawl_once_and_as_any_scrapy_can(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def cannot(*_: object) -> NoReturn:
        raise error

    closed: list[str] = []
    monkeypatch.setattr("focused.scheduling.beside.open_job", cannot)
    monkeypatch.setattr("focused.scheduling.beside.close_before_start", lambda _, closing: closed.append(closing))
    crawler = get_crawler(settings_dict={"FOCUSED_TOPIC": "star galaxy"})
    crawler.spider = Spider("theirs")
    for _ in range(2):
        open_job_beside(crawler)
    assert parts_of(crawler).store is None
    assert closed == [reason]
    assert crawler.stats.get_value("focused/stopped_by") == str(error)
