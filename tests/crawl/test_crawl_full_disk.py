"""Full disks under real crawls: told in one line for each file, exit code 1, nothing lost.

/dev/full is a file on a full disk. The job is in test_crawl_killed.py, the archive in tests/warc, the parts are in
tests/running/test_full_disk.py.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from focused.frontier.records import read_items, read_records
from focused.lab.demo.bulk import bulk_web
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.server import SiteServer

WEB = bulk_web(pages=24, size=2_000, links=6, hosts=6)
WORDS = {"topic": "star galaxy telescope", "seeds": next(iter(WEB.pages))}
CONCURRENT = 4
OWN = '''
"""What a test adds to a crawl."""
import errno
import os
from pathlib import Path

from scrapy import signals
from scrapy.utils.log import get_scrapy_root_handler

from focused.frontier.store import StoreBroken
from focused.parts import parts_of


class FullStorage:
    """Of somebody's own; its disk is full."""

    def __init__(self, uri, *, feed_options=None):
        pass

    def open(self, spider):
        return open("/dev/full", "wb", buffering=0)

    def store(self, file):
        file.close()


class FullWhenItIsKept:
    """The disk of files that are written whole has no room when they are to be kept."""

    def __init__(self, crawler):
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def spider_opened(self):
        os.fsync = self.full

    @staticmethod
    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")


class FullLog:
    """The disk of the log is full when the crawl has begun."""

    def __init__(self, crawler):
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def spider_opened(self):
        get_scrapy_root_handler().setStream(open("/dev/full", "w"))


class MovedAway:
    """The job is moved away when the sixth item has come."""

    def __init__(self, crawler):
        self.job, self.items = Path(crawler.settings["JOBDIR"]), 0
        crawler.signals.connect(self.item_scraped, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def item_scraped(self):
        self.items += 1
        if self.items == 6:
            self.job.rename(self.job.with_name("elsewhere"))


class FullAtTheEnd:
    """The disk of the job is full when everything has been fetched."""

    def __init__(self, crawler):
        self.crawler = crawler
        crawler.signals.connect(self.spider_idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def spider_idle(self):
        file = parts_of(self.crawler).store._file
        file._broken = StoreBroken("the job's file cannot be written: start the same command again")
'''


@pytest.fixture
def crawl(tmp_path: Path):
    """Crawl a small web, in a folder of the test's own."""
    (tmp_path / "own.py").write_text(OWN)

    def run(*, options: tuple[str, ...] = (), **settings: Any) -> CrawlResult:
        own = {"CONCURRENT_REQUESTS": CONCURRENT, "ROBOTSTXT_OBEY": False, **settings}
        with SiteServer(WEB.pages) as site:
            return run_crawl(WORDS, folder=tmp_path, site=site, settings=own, options=options)

    return run


def told(result: CrawlResult, words: str) -> int:
    """How many lines say something, but for those of Scrapy's list of statistics and those at the very end."""
    lines = [line for line in result.log.splitlines() if " ERROR: " in line]
    return sum(words in line for line in lines)


def items_of(job: Path) -> list[str]:
    with read_records(job) as records:
        return [item["url"] for item in read_items(records)]


def test_what_the_job_has_is_written_again_when_there_is_room(crawl, tmp_path: Path, scrapy) -> None:
    job = tmp_path / "job"
    storages, full = json.dumps({"full": "own.FullStorage"}), json.dumps({"own.FullWhenItIsKept": 1})
    options = ("-o", "/dev/full:jsonlines", "-o", "full://somewhere:jsonlines")
    result = crawl(options=options, FEED_STORAGES=storages, EXTENSIONS=full)
    assert result.exit_code == 1
    assert "Traceback" not in result.log
    assert sorted(result.fetched) == sorted(WEB.pages), "the crawl went on"
    assert len(result.items) == len(WEB.pages), "files on other disks are whole"
    again = f"`scrapy export {job} -o FILE` writes all of them"
    for words in (
        f"items cannot be written to '/dev/full' (No space left on device): {again}",
        "items cannot be written: OSError: [Errno 28] No space left on device",
        f"the report: '{job}/report.html' cannot be written (No space left on device): make room and try again; then",
        f"the statistics: '{tmp_path}/stats.json' cannot be written (No space left on device)",
    ):
        assert told(result, words) == 1, words
        assert f"\nnot written: {words}" in result.log
    assert scrapy("export", job, "-o", tmp_path / "all.jsonl").returncode == 0
    exported = [json.loads(line)["url"] for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert sorted(exported) == sorted(WEB.pages)
    assert scrapy("report", job).returncode == 0


def test_without_a_job_nothing_else_has_the_items_and_the_crawl_ends(crawl) -> None:
    result = crawl(options=("-o", "/dev/full:jsonlines"), JOBDIR="")
    assert (result.exit_code, result.reason()) == (1, "output_broken")
    assert "Traceback" not in result.log
    assert len(result.fetched) <= 1 + 2 * CONCURRENT
    words = "items cannot be written to '/dev/full' (No space left on device), and this crawl keeps them nowhere else"
    assert told(result, words) == 1
    assert result.last_line.startswith(words)
    assert result.last_line.endswith("make room and start it again, best with a JOBDIR")


def test_a_log_on_a_full_disk_is_told_once_where_somebody_reads_it(crawl) -> None:
    result = crawl(LOG_FILE="own.log", EXTENSIONS=json.dumps({"own.FullLog": 1}))
    assert result.exit_code == 1
    assert "Traceback" not in result.log
    words = "the log cannot be written to 'own.log' (No space left on device)"
    assert result.log.startswith(words)
    assert [words in line for line in result.log.splitlines()].count(True) == 2, "at once, and at the end"
    assert result.stats["focused/log/lost"] > 1
    assert len(result.items) == len(WEB.pages)


def test_a_job_that_is_moved_away_ends_its_crawl_which_goes_on_when_it_is_back(crawl, tmp_path: Path) -> None:
    result = crawl(EXTENSIONS=json.dumps({"own.MovedAway": 1}))
    assert (result.exit_code, result.reason()) == (1, "store_broken")
    assert "Traceback" not in result.log
    assert "job/job.db' is gone (deleted, moved, replaced or unmounted): put back what was there" in result.last_line
    assert told(result, "job/job.db' is gone") == 1
    assert len(result.fetched) <= 6 + 2 * CONCURRENT
    assert not (tmp_path / "job").exists()
    (tmp_path / "elsewhere").rename(tmp_path / "job")
    again = crawl()
    assert again.exit_code == 0, again.log
    assert sorted(items_of(tmp_path / "job")) == sorted(WEB.pages)
    twice = Counter(result.fetched + again.fetched)
    assert sum(twice.values()) - len(WEB.pages) <= CONCURRENT


def test_a_job_that_cannot_be_closed_is_told_by_the_exit_code(crawl) -> None:
    """Scrapy's scheduler: with it our job is closed later, as signals are handled."""
    result = crawl(SCHEDULER="scrapy.core.scheduler.Scheduler", EXTENSIONS=json.dumps({"own.FullAtTheEnd": 1}))
    assert result.exit_code == 1
    assert "Traceback" not in result.log
    assert result.last_line == "the job's file cannot be written: start the same command again"
