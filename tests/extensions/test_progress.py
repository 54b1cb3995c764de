"""How a crawl is told of while it runs, and what is said at its end."""

from __future__ import annotations

import io
import logging
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import Settings

from focused.extensions.progress import LiveLine, summary, terminal_for
from focused.lab.site.crawl import run_crawl
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer

ROOT = Path(__file__).parents[2]
LINE = re.compile(
    r"[\d,]+ pages · harvest \d\.\d\d now, \d\.\d\d so far · [\d.]+ pages/s · [\d,]+ links? waiting · \d+ in progress"
    r" · \d+ hosts?( · \d+ lessons?)?"
)
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """Twenty pages, each a moment late."""
    links = "".join(f"<a href=/{i}>bird {i}</a> " for i in range(1, 20))
    body = f"<title>b</title><p>bird wing nest %d</p>{links}"
    pages = {f"http://a.example/{i or ''}": Reply(body=(body % i).encode(), wait=0.05) for i in range(20)}
    with SiteServer(pages) as server:
        yield server


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "birds.toml"
    path.write_text('name = "b"\nkeywords = ["bird"]\nseeds = ["http://a.example/"]\n')
    return path


def test_a_log_gets_plain_lines_and_the_reason_is_the_last(site: SiteServer, topic: Path, tmp_path: Path) -> None:
    settings = {"FOCUSED_PROGRESS_EVERY": 0.2}
    result = run_crawl({"topic": topic, "pages": 15}, folder=tmp_path, site=site, settings=settings)
    lines = [line for line in result.log.splitlines() if "[focused.extensions.progress]" in line]
    assert lines
    assert LINE.search(lines[-1])
    assert "\x1b" not in result.log
    assert result.last_line == "The crawl ended: 15 pages fetched"
    told = result.log.splitlines()[-6:]
    assert told[0].startswith("15 found of 15 pages (")
    assert f"items: {tmp_path / 'items.jsonl'}" in told
    assert f"job: {tmp_path / 'job'}" in told
    assert f"report: {tmp_path / 'job' / 'report.html'}" in told


def test_a_second_start_counts_the_pages_of_the_first(site: SiteServer, topic: Path, tmp_path: Path) -> None:
    run_crawl({"topic": topic, "pages": 5}, folder=tmp_path, site=site)
    result = run_crawl({"topic": topic, "pages": 9}, folder=tmp_path, site=site)
    assert result.stats["focused/page/judged"] == 4
    assert result.stats["focused/job/pages"] == 9
    assert " found of 9 pages (" in result.log


def test_nothing_is_told_when_nothing_is_asked_for(site: SiteServer, topic: Path, tmp_path: Path) -> None:
    settings = {"FOCUSED_PROGRESS_EVERY": 0}
    result = run_crawl({"topic": topic, "pages": 3}, folder=tmp_path, site=site, settings=settings)
    assert "pages/s" not in result.log
    assert " found of 3 pages (" in result.log, "the summary is as ever"
    assert result.last_line == "The crawl ended: 3 pages fetched"
    assert result.stats["focused/job/pages"] == 3


def test_on_a_terminal_a_line_stands_below_a_log_that_stays_whole(
    site: SiteServer, topic: Path, tmp_path: Path
) -> None:
    shown = ESCAPES.sub("", crawl_on_a_terminal(site, topic, tmp_path))
    pieces = re.split(r"[\r\n]+", shown)
    assert LINE.search(shown)
    logged = [piece for piece in pieces if re.search(r"\[(scrapy|focused)\.[a-z.]+\] [A-Z]+:", piece)]
    assert len(logged) > 5
    assert all(re.match(r"\d{4}-\d\d-\d\d ", line) for line in logged)
    assert not [line for line in logged if "[focused.extensions.progress]" in line]
    assert [piece for piece in pieces if piece.strip()][-1] == "The crawl ended: 15 pages fetched"


def crawl_on_a_terminal(site: SiteServer, topic: Path, folder: Path) -> str:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "focused.settings", "PYTHONPATH": str(ROOT)}
    more = {"http_proxy": site.url, "TERM": "xterm", "COLUMNS": "250", "no_proxy": ""}
    command = [sys.executable, "-m", "scrapy", "crawl", "focused", "-a", f"topic={topic}", "-a", "pages=15"]
    process = subprocess.Popen(
        [*command, "-s", "DOWNLOAD_DELAY=0"],
        cwd=folder,
        env={**environment, **more},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        shown += piece
    os.close(ours)
    assert process.wait(60) == 0, shown.decode()
    return shown.decode()


def test_a_live_line_lets_go_of_the_log() -> None:
    terminal = Terminal()
    handler = logging.StreamHandler(terminal)
    logger = logging.getLogger("test_a_live_line")
    logging.root.addHandler(handler)
    try:
        line = LiveLine(terminal)
        line.show("12 pages")
        logger.warning("a line of the log")
        assert handler.stream is not terminal
        line.stop()
        line.stop()
        assert handler.stream is terminal
    finally:
        logging.root.removeHandler(handler)
    shown = terminal.getvalue()
    assert "12 pages" in shown
    assert re.search(r"^.*a line of the log$", ESCAPES.sub("", shown).replace("\r", "\n"), re.M)
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back


@pytest.mark.parametrize(
    ("error", "out", "feeds", "expected"),
    [
        (True, True, {}, "error"),
        (False, True, {}, "out"),
        (False, True, {"-": {"format": "json"}}, None),
        (False, True, {"stdout:": {"format": "json"}}, None),
        (False, False, {}, None),
    ],
)
def test_where_the_line_may_stand(
    monkeypatch: pytest.MonkeyPatch, error: bool, out: bool, feeds: dict[str, object], expected: str | None
) -> None:
    streams = {"error": Terminal() if error else io.StringIO(), "out": Terminal() if out else io.StringIO()}
    monkeypatch.setattr(sys, "stderr", streams["error"])
    monkeypatch.setattr(sys, "stdout", streams["out"])
    assert terminal_for(Settings({"FEEDS": feeds})) is streams.get(expected or "")


def test_the_summary_says_what_came_of_it() -> None:
    stats = {
        "focused/job/pages": 1_300,
        "focused/job/found": 12,
        "focused/job/wanted": 81,
        "focused/job/harvest": 0.0625,
        "downloader/request_count": 1_400,
        "focused/outcome/page": 1_290,
        "focused/outcome/duplicate": 1,
        "focused/outcome/dead": 100,
        "focused/outcome/redirect": 14,
        "focused/job/folder": "jobs/b",
        "focused/stopped_by": "dried up",
    }
    assert summary(stats).splitlines() == [
        "12 found of 1,300 pages (about 81 wanted), harvest 0.062",
        "1,400 requests, 14 of them redirected; links: 1,290 pages, 1 duplicate, 100 dead",
        "job: jobs/b",
        "The crawl ended: dried up",
    ]


def test_a_crawl_that_did_not_begin_has_a_summary() -> None:
    assert summary({"finish_reason": "shutdown"}).splitlines()[-1] == "The crawl ended: shutdown"
