"""A crawl says while it runs which hosts it leaves alone, and its last warnings; whatever becomes of that file."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from focused.extensions.now import _LastWarnings
from focused.lab.site.crawl import run_crawl
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer
from focused.report.job_reader import JobReader
from focused.report.now import MOST_WARNINGS, HostLeftAlone, Now, Warned, read_now, write_now
from focused.safety.politeness import HostHealth, Patience

PATIENCE = Patience(failures=2, first=10.0, longest=60.0, times=3, longest_asked=100.0)


def test_hosts_in_trouble_are_named_with_time_and_reason_the_latest_first() -> None:
    clock = [0.0]
    health = HostHealth(PATIENCE, lambda: clock[0])
    health.asked_for_time("slow.example", 40.0)
    health.asked_for_time("greedy.example", 1_000.0)
    for _ in range(2):
        health.failed("dead.example")
    clock[0] = 10.0
    assert health.troubles(9) == [
        ("dead.example", 3_590.0, "given up: it never answered"),
        ("greedy.example", 990.0, "given up: it asked for too much time"),
        ("slow.example", 30.0, "it asked for time"),
    ]
    assert len(health.troubles(2)) == 2
    clock[0] = 41.0
    assert "slow.example" not in [host for host, *_ in health.troubles(9)]
    health.answered("greedy.example")
    assert [host for host, *_ in health.troubles(9)] == ["dead.example"]


def test_the_last_warnings_are_kept_and_a_broken_one_does_no_harm() -> None:
    handler, logger = _LastWarnings(), logging.getLogger("focused.test_now")
    logger.addHandler(handler)
    logger.propagate = False
    logger.info("nothing")
    for number in range(MOST_WARNINGS + 5):
        logger.warning("number %d\n%s", number, "x" * 999)
    logger.error("%d", "no number")
    assert len(handler.lines) == MOST_WARNINGS
    assert handler.lines[-1].words.startswith(f"number {MOST_WARNINGS + 4} xxx")
    assert max(len(line.words) for line in handler.lines) == 500


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"warnings": 1}', b"[" * 10**5, b"\xff", b" " * 10**7])
def test_a_file_that_cannot_be_read_says_nothing(tmp_path: Path, content: bytes) -> None:
    now = Now([Warned("2026-01-01T00:00:00+00:00", "ERROR", "it hurts")], [HostLeftAlone("a.example", 3.0, "it rests")])
    write_now(tmp_path, now)
    assert read_now(tmp_path) == now
    (tmp_path / "now.json").write_bytes(content)
    assert read_now(tmp_path) == Now()


def test_a_file_that_cannot_be_written_or_is_no_file_does_no_harm(tmp_path: Path) -> None:
    write_now(tmp_path / "gone", Now())
    assert read_now(tmp_path / "gone") == Now()
    (tmp_path / "now.json").mkdir()
    write_now(tmp_path, Now())
    assert read_now(tmp_path) == Now()


def test_a_crawl_leaves_its_warnings_with_its_job(tmp_path: Path) -> None:
    pages = {
        "http://hub.example/": "<title>Hub</title><p>A star and a galaxy.</p><a href=/x>star</a>",
        "http://hub.example/x": Reply(status=500),
    }
    with SiteServer(pages) as site:
        arguments = {"topic": "star galaxy", "seeds": "http://hub.example/ http://hub.example/missing"}
        crawl = run_crawl(arguments, folder=tmp_path, site=site, settings={"RETRY_TIMES": 0})
    with JobReader.open(tmp_path / "job") as reader:
        now = reader.now()
    said = [line for line in now.warnings if "The seed http://hub.example/missing was not crawled" in line.words]
    assert [line.level for line in said] == ["WARNING"], crawl.log
    assert now.hosts == []
