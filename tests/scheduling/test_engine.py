"""What the frontier asks of Scrapy's engine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy.settings import Settings

from focused.pages.urls import url_to_host
from focused.scheduling.engine import EngineAccess, Pace


@pytest.mark.parametrize("url", ["http://h.example/", "http://[2001:db8::1]/", "http://[2001:db8::1]:8080/"])
def test_the_pace_of_a_host_is_that_of_its_slot_however_its_address_is_written(url: str) -> None:
    slot = SimpleNamespace(delay=30.0, concurrency=2, lastseen=7.0)
    slots = {"h.example": slot, "2001:db8::1": slot}
    downloader = SimpleNamespace(slots=slots, per_slot_settings={}, domain_concurrency=8)
    crawler = SimpleNamespace(engine=SimpleNamespace(downloader=downloader), settings=Settings())
    assert EngineAccess(crawler).pace(url_to_host(url)) == Pace(30.0, 2, 7.0)
