"""Killed at any moment and started again with the same command, a crawl goes on with nothing lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from focused.demo.bulk import bulk_web
from focused.demo.web import Web
from focused.testing.crawl import run_crawl
from focused.testing.site import SiteServer

KILLS = 4
CONCURRENT = 6
# Beside those at the downloader, there are pages in the hands of the critic and the learner.
UNDER_WAY = 3 * CONCURRENT


@pytest.fixture(scope="module")
def web() -> Web:
    return bulk_web(240, size=3_000, links=12, hosts=12)


def test_every_page_is_fetched_and_few_twice(web: Web, tmp_path: Path):
    random = Random(7)
    arguments = {"topic": "star galaxy telescope", "seeds": next(iter(web.pages))}
    settings = {"CONCURRENT_REQUESTS": CONCURRENT, "ROBOTSTXT_OBEY": False}
    with SiteServer(web.pages) as site:
        for _ in range(KILLS):
            result = run_crawl(
                arguments, folder=tmp_path, site=site, settings=settings, kill_after=random.randint(15, 45)
            )
            assert result.exit_code == -9, result.log[-2_000:]
        result = run_crawl(arguments, folder=tmp_path, site=site, settings=settings)
        assert result.exit_code == 0, result.log[-2_000:]
        fetched = Counter(site.fetched())
    assert set(fetched) == set(web.pages)
    assert sum(fetched.values()) - len(fetched) <= KILLS * UNDER_WAY
