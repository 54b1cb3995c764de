"""Promises of `run_crawl`: it returns all that came of a crawl, ends it when told to, and keeps to its folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from focused.lab import process
from focused.lab.process import CrawlTimeout
from focused.lab.site.crawl import run_crawl
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer

ARGUMENTS = {"topic": "star galaxy telescope", "seeds": "http://a.example/1"}
TEXT = "a star, a galaxy, a telescope " * 10


def chain(length: int) -> dict[str, str]:
    """Pages that link each to the next."""
    return {
        f"http://a.example/{n}": f'<html><body><p>{n} {TEXT}</p><a href="/{n + 1}">next</a></body></html>'
        for n in range(1, length + 1)
    }


def test_returns_what_came_of_it(tmp_path: Path):
    with SiteServer(chain(5)) as site:
        result = run_crawl(ARGUMENTS, folder=tmp_path, site=site)
    assert result.exit_code == 0, result.log
    assert result.fetched == [f"http://a.example/{n}" for n in range(1, 6)]
    assert [item["url"] for item in result.items] == result.fetched
    assert result.reason() == "finished"
    assert result.stats["downloader/response_status_count/200"] == 5
    assert result.last_line
    assert result.seconds > 0
    assert result.cpu_seconds > 0
    assert result.peak_mb > 10


def test_writes_into_its_folder_only(tmp_path: Path):
    with SiteServer(chain(1)) as site:
        run_crawl(ARGUMENTS, folder=tmp_path, site=site)
    assert {"crawl.log", "items.jsonl", "stats.json", "job"} <= {path.name for path in tmp_path.iterdir()}


def test_kills_the_crawl_after_so_many_requests(tmp_path: Path):
    with SiteServer(chain(2_000)) as site:
        result = run_crawl(ARGUMENTS, folder=tmp_path, site=site, kill_after=10)
    assert result.exit_code == -9
    assert result.stats == {}
    assert 10 <= len(result.visits) < 2_000


def test_a_crawl_that_does_not_end_is_an_error_with_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with SiteServer({}, missing=Reply(hang=True)) as site:
        # An hour is over as soon as the crawl has asked for a page that never comes.
        monkeypatch.setattr(process, "monotonic", lambda: 3_600.0 * len(site.visits))
        with pytest.raises(CrawlTimeout, match="INFO"):
            run_crawl(ARGUMENTS, folder=tmp_path, site=site)


def test_settings_and_options_reach_the_crawl(tmp_path: Path):
    with SiteServer(chain(9)) as site:
        result = run_crawl(
            ARGUMENTS | {"pages": 3}, folder=tmp_path, site=site, settings={"USER_AGENT": "me"}, options=["-L", "ERROR"]
        )
    assert {visit.headers["user-agent"] for visit in result.visits} == {"me"}
    assert "INFO" not in result.log
    assert len(result.items) == 3


def test_the_example_of_the_docs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "webs.md").read_text("utf-8")
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {"tmp_path": tmp_path}
    exec(example, names)
    assert "focused/link/postponed" not in names["result"].stats, "nobody has to wait for it"
