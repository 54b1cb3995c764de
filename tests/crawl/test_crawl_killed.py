"""Killed at any moment and started again with the same command, a crawl goes on with nothing lost."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from random import Random
from time import sleep

import pytest

from focused.frontier.records import read_records
from focused.lab.demo.bulk import bulk_web
from focused.lab.demo.web import GeneratedWeb
from focused.lab.process import OWN_SERVER, CrawlProcess
from focused.lab.site.crawl import run_crawl
from focused.lab.site.reply import Reply, linking
from focused.lab.site.server import SiteServer

KILLS = 4
CONCURRENT = 6


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return bulk_web(240, size=3_000, links=12, hosts=12)


def test_every_page_is_fetched_and_few_twice(web: GeneratedWeb, tmp_path: Path):
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
    assert sum(fetched.values()) - len(fetched) <= KILLS * CONCURRENT


def test_a_full_disk_ends_the_crawl_and_loses_nothing(tmp_path: Path):
    """A limit on the size of files stands in for the disk: writing fails in the same place."""
    web = bulk_web(pages=120, size=4_000, links=20)
    pages = web.pages
    arguments = {"topic": "star galaxy telescope", "seeds": next(iter(web.pages))}
    settings = {"CONCURRENT_REQUESTS": 4}
    with SiteServer(pages) as site:
        full = run_crawl(arguments, folder=tmp_path, site=site, settings=settings, largest_file=600_000)
        assert full.exit_code == 1
        assert "cannot be written" in full.last_line
        assert "start the same command again" in full.last_line
        assert "Traceback" not in full.log
        fetched = set(full.fetched)
        assert 0 < len(fetched) < len(pages)
        after = run_crawl(arguments, folder=tmp_path, site=site, settings=settings)
    assert after.exit_code == 0
    with read_records(tmp_path / "job") as records:
        assert {row["url"] for row in records.execute("SELECT url FROM pages")} == set(pages)
    assert len(full.fetched) + len(after.fetched) - len(pages) <= settings["CONCURRENT_REQUESTS"]


BREAKER = '''
"""The job's file fails for good just before one of the store's methods is called for the twelfth time."""
from itertools import count
from focused.frontier.store import StoreBroken
from focused.frontier.store_sqlite import SqliteStore

class Breaker:
    @classmethod
    def from_crawler(cls, crawler):
        name, calls = crawler.settings["BREAK_AT"], count(1)
        real = getattr(SqliteStore, name)

        def method(store, *arguments):
            if next(calls) == 12:
                store._file._broken = StoreBroken("the job's file cannot be written: start the same command again")
            return real(store, *arguments)

        setattr(SqliteStore, name, method)
        return cls()
'''
METHODS = (*("known", "admit", "lease", "begin_work", "record", "lessons_of", "acknowledge", "rescoring", "commit"),)


@pytest.mark.parametrize("method", METHODS)
def test_a_store_that_breaks_anywhere_is_told_once_and_loses_nothing(method: str, tmp_path: Path):
    (tmp_path / "breaker.py").write_text(BREAKER)
    web = bulk_web(pages=60, size=2_000, links=10)
    arguments = {"topic": "star galaxy telescope", "seeds": next(iter(web.pages))}
    settings = {"CONCURRENT_REQUESTS": 4}
    extensions = {"BREAK_AT": method, "EXTENSIONS": '{"breaker.Breaker": 1}'}
    with SiteServer(web.pages) as site:
        broken = run_crawl(arguments, folder=tmp_path, site=site, settings={**settings, **extensions})
        assert broken.exit_code == 1, broken.log[-2_000:]
        assert "start the same command again" in broken.last_line
        assert "Traceback" not in broken.log
        assert (
            broken.log.count("the job's file cannot be written") == 4
        )  # the error, the end, the statistics, the last line
        after = run_crawl(arguments, folder=tmp_path, site=site, settings=settings)
    assert after.exit_code == 0
    with read_records(tmp_path / "job") as records:
        assert {row["url"] for row in records.execute("SELECT url FROM pages")} == set(web.pages)


KILLER = '''
import os, signal
from focused.critics.keywords import KeywordsCritic

class KillerCritic(KeywordsCritic):
    """Dies on one page, as a fault in a C library would have it."""

    def judge(self, page):
        if page.url.endswith("/7.html"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().judge(page)
'''


def test_a_page_that_kills_its_crawl_is_met_four_times_and_no_more(tmp_path: Path):
    (tmp_path / "killer.py").write_text(KILLER)
    web = bulk_web(pages=40, size=2_000, links=8)
    killer = next(url for url in web.pages if url.endswith("/7.html"))
    arguments = {"topic": "star galaxy telescope", "seeds": next(iter(web.pages))}
    settings = {"FOCUSED_CRITIC": "killer.KillerCritic", "CONCURRENT_REQUESTS": 4}
    with SiteServer(web.pages) as site:
        codes = []
        while not codes or (codes[-1] == -9 and len(codes) < 8):
            codes.append(run_crawl(arguments, folder=tmp_path, site=site, settings=settings).exit_code)
        fetched = Counter(site.fetched())
    assert codes == [-9, -9, -9, -9, 0]
    assert fetched[killer] == 4
    with read_records(tmp_path / "job") as records:
        judged = {row["url"] for row in records.execute("SELECT url FROM pages")}
        given_up = [row["url"] for row in records.execute("SELECT url FROM links WHERE detail = 'never finished'")]
    assert given_up == [killer]
    assert judged == set(web.pages) - {killer}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_it_at_once_in_a_line_and_loses_nothing(tmp_path: Path, number: signal.Signals):
    hub, slow = "http://hub.example/", "http://slow.example/"
    pages = {hub: linking(slow, text="a star and a galaxy"), slow: Reply(hang=True)}
    arguments = {"topic": "star galaxy telescope", "seeds": hub}
    settings: dict[str, object] = {
        **{"JOBDIR": tmp_path / "job", "FOCUSED_MODELS": tmp_path / "models", "ROBOTSTXT_OBEY": False},
        # Longer than anybody waits: the first signal alone would wait for the page.
        "DOWNLOAD_TIMEOUT": 600,
    }
    with SiteServer(pages) as site:
        crawl = CrawlProcess(tmp_path, arguments, {**OWN_SERVER, **settings}, proxy=site.url)
        assert site.wait_for(2, timeout=280)
        crawl.signal(number)
        for _ in range(2_000):
            if "shutting down gracefully" in crawl.log:
                break
            sleep(0.1)
        crawl.signal(number)
        assert crawl.wait() == 1
        assert "Traceback" not in crawl.log
        *_, last = crawl.log.splitlines()
        assert last == "interrupted twice, before everything was written: run the same command again"
        site.pages = {**pages, slow: linking(text="another star")}
        after = run_crawl(arguments, folder=tmp_path, site=site, settings=settings)
    assert after.exit_code == 0
    with read_records(tmp_path / "job") as records:
        assert {row["url"] for row in records.execute("SELECT url FROM pages")} == set(pages)
