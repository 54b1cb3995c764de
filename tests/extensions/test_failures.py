"""Requests that fail for what servers do are told in a line for each kind; somebody's mistakes with their traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import Reply, linking
from focused.lab.site.server import SiteServer

HUB = "http://hub.example/"
STARS = "A star is seen through a telescope, and a galaxy is seen as many stars. "
MISTAKEN = """
class Mistaken:
    def process_response(self, request, response):
        return response if "mistaken" not in request.url else open("what was never there")
"""


@pytest.fixture(params=["focused.scheduling.scheduler.FrontierScheduler", "scrapy.core.scheduler.Scheduler"])
def result(request: pytest.FixtureRequest, tmp_path: Path) -> CrawlResult:
    """Five hosts whose answers are cut short, and one at which a middleware of the user's own fails."""
    (tmp_path / "own.py").write_text(MISTAKEN)
    broken = [f"http://broken-{i}.example/" for i in range(5)]
    pages = {HUB: linking(*broken, "http://mistaken.example/", text=STARS), "http://mistaken.example/": linking()}
    pages |= dict.fromkeys(broken, Reply(body=b"<p>a star", length=1_000))
    settings = {
        "SCHEDULER": request.param,
        "RETRY_TIMES": 1,
        "ROBOTSTXT_OBEY": False,
        "DOWNLOADER_MIDDLEWARES": json.dumps({**_ours(), "own.Mistaken": 20}),
    }
    with SiteServer(pages) as site:
        arguments = {"topic": "star galaxy telescope", "seeds": HUB}
        return run_crawl(arguments, folder=tmp_path, site=site, settings=settings)


def _ours() -> dict[str, int | None]:
    from focused.settings import DOWNLOADER_MIDDLEWARES

    return dict(DOWNLOADER_MIDDLEWARES)


def test_what_servers_do_is_told_once_and_counted(result: CrawlResult):
    [told] = [line for line in result.log.splitlines() if "broken-" in line and " ERROR: " in line]
    assert told.endswith(". Further cases are only counted, in focused/failed/ResponseDataLossError")
    assert result.stats["focused/failed/ResponseDataLossError"] == 5


def test_a_mistake_is_told_with_its_traceback(result: CrawlResult):
    assert result.log.count("Traceback") == 1
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'what was never there'" in result.log
    assert "focused/failed/FileNotFoundError" not in result.stats
