"""`scrapy status` tells how a crawl stands while it runs, when it was killed, when it has ended; and disturbs none."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread, Timer
from time import sleep

import pytest

from focused.frontier.records import FILE, Lock, lock_holder, read_records
from focused.frontier.store import JobRefused
from focused.lab.demo.bulk import bulk_web
from focused.lab.process import crawl_environment
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.server import SiteServer
from focused.report.job_reader import JobReader
from focused.report.job_status import JobStatus, read_job_status
from focused.report.status import CUT_SHORT, ENDED, RUNNING, UNFOLLOWED, status_json, status_lines
from focused.report.watching import watch

PAGES, KILL_AFTER = 90, 60


@dataclass(frozen=True, slots=True)
class Story:
    """A crawl that is asked while it runs, is killed, and goes on to its end."""

    folder: Path
    running: list[JobStatus]
    killed: JobStatus
    watched: list[JobStatus]
    ended: JobStatus
    results: list[CrawlResult]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("status")
    web = bulk_web(PAGES, size=2_000, links=10, hosts=6)
    results: list[CrawlResult] = []

    def crawl(**how: int) -> Thread:
        arguments = {"topic": "star galaxy telescope", "seeds": next(iter(web.pages))}
        settings = {"CONCURRENT_REQUESTS": 4, "ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 0.3, "FOCUSED_SAVE_EVERY": 1}
        go = lambda: results.append(run_crawl(arguments, folder=folder, site=site, settings=settings, **how))  # noqa: E731
        thread = Thread(target=go)
        thread.start()
        return thread

    with SiteServer(web.pages) as site:
        first = crawl(kill_after=KILL_AFTER)
        running = list(while_it_runs(first, folder / "job"))
        first.join()
        killed = read_status(folder / "job")
        second = crawl()
        next(status for status in while_it_runs(second, folder / "job") if status.starts == 2)
        watched = list(watch(lambda: read_status(folder / "job"), 0.1))
        second.join()
    return Story(folder, running, killed, watched, read_status(folder / "job"), results)


def read_status(job: Path) -> JobStatus:
    with JobReader.open(job) as reader:
        return reader.status()


def while_it_runs(crawl: Thread, job: Path) -> Iterator[JobStatus]:
    """How a job stands, again and again, from its first page in this start on."""
    while crawl.is_alive():
        try:
            status = read_status(job)
        except JobRefused:
            # Too early.
            status = None
        if status is not None and status.is_running and status.pages:
            yield status
        sleep(0.05)


def text_of(status: JobStatus) -> str:
    return "\n".join(status_lines(status))


def test_a_crawl_that_runs(story: Story) -> None:
    assert len(story.running) > 5
    pages = [status.pages for status in story.running]
    assert pages == sorted(pages)
    # Killed when so many requests were seen; as many as were in progress then may still have been recorded.
    assert 0 < pages[0] < pages[-1] <= KILL_AFTER + 4
    last = story.running[-1]
    assert (last.topic, last.prioritizer, last.critic) == ("star galaxy telescope", "focused", "combined")
    assert last.pid not in {None, os.getpid()}
    assert last.outcomes["page"] == last.pages
    assert all(status.leased <= 4 for status in story.running)
    assert f"running (process {last.pid}) since" in text_of(last)


def test_what_was_learned_and_saved(story: Story) -> None:
    models = [status.model for status in story.running if status.model is not None]
    # While it is taught anew it is of no page.
    pages = [model.page for model in models if model.page]
    assert pages[0] < pages[-1]
    assert models[0].version < models[-1].version
    lessons = [status.lessons for status in story.running if status.lessons is not None]
    assert 0 < lessons[0] < lessons[-1]
    assert story.ended.lessons is not None
    assert story.killed.lessons is not None
    assert story.ended.lessons > story.killed.lessons, "they are counted over all starts"


def test_a_crawl_that_was_killed_does_not_run_and_says_how_to_go_on(story: Story) -> None:
    killed = story.killed
    assert story.results[0].exit_code == -9
    assert (killed.state, killed.pid, killed.ended) == (CUT_SHORT, None, None)
    text = text_of(killed)
    assert "not running; it was cut short" in text
    assert f"To continue, run the same command again (-s JOBDIR={story.folder / 'job'})" in text
    assert "3 were in progress" in text_of(replace(killed, leased=3))


def test_a_crawl_that_was_asked_all_the_time_goes_on_to_its_end(story: Story) -> None:
    ended = story.ended
    assert story.results[1].exit_code == 0
    assert not any("locked" in result.log for result in story.results)
    assert (ended.state, ended.pid, ended.starts) == (ENDED, None, 2)
    assert (ended.pages, ended.waiting, ended.leased) == (PAGES, 0, 0)
    assert ended.why == "no link is left to follow"
    assert text_of(ended).endswith("No link is left to follow.")


def test_watching_ends_with_the_crawl(story: Story) -> None:
    assert [status.state for status in story.watched[:-1]] == [RUNNING] * (len(story.watched) - 1)
    assert len(story.watched) > 3
    assert replace(story.watched[-1], read="") == replace(story.ended, read="")


def test_hosts_are_those_with_the_most_waiting_links(story: Story) -> None:
    for status in story.running:
        links = [line.links for line in status.waiting_by_host]
        assert links == sorted(links, reverse=True)
        assert sum(links) == status.waiting, "there are six hosts, fewer than are shown"
        assert len(links) == status.hosts_waiting <= 6


def test_figures_are_those_of_the_crawl(job: Path, crawl: CrawlResult) -> None:
    status = read_status(job)
    assert (status.pages, status.state) == (16, ENDED)
    assert status.relevant == sum(item["relevance"] >= 0.5 for item in crawl.items)
    assert status.harvest == pytest.approx(sum(item["relevance"] for item in crawl.items) / 15, abs=1e-4)
    assert status.harvest_now == status.harvest, "there are less than a hundred"
    assert status.waiting == crawl.stats["focused/job/waiting"] > 0
    assert (status.outcomes["page"], status.outcomes["duplicate"]) == (15, 1)
    assert min(status.outcomes[name] for name in ("dead", "denied", "not_html", "redirect")) > 0
    # Late lessons are counted where they are given.
    assert status.lessons is not None
    assert status.lessons >= crawl.stats["focused/lesson/count"] > 0
    text = text_of(status)
    assert "16 pages fetched" in text
    assert "raise the limit if it ended at one" in text


def test_links_of_duplicates_that_were_not_followed_are_counted(copy: sqlite3.Connection, copied: JobReader) -> None:
    assert copied.status().unfollowed == 1
    copy.execute("INSERT OR REPLACE INTO meta VALUES (?, '7')", (UNFOLLOWED,))
    assert "7 links of duplicates not followed" in text_of(copied.status())


def test_harvest_now_is_that_of_the_last_hundred(job: Path, crawl: CrawlResult, tmp_path: Path) -> None:
    folder = copy_of(job, tmp_path)
    with closing(sqlite3.connect(folder / FILE)) as copy, copy:
        copy.execute("DELETE FROM pages")
        item = json.dumps({"time": "2026-01-01T00:00:00+00:00"})
        rows = [(n, n, 1.0 if n > 50 else 0.0, 1, item) for n in range(1, 151)]
        copy.executemany("INSERT INTO pages(link, seq, relevance, outcome, item) VALUES (?, ?, ?, ?, ?)", rows)
    with closing(read_records(folder)) as records:
        status = read_job_status(records, str(folder), None, 5)
    assert (status.pages, status.relevant, status.harvest_now) == (150, 100, 1.0)
    assert status.harvest == pytest.approx(2 / 3, abs=1e-3)


def paces(job: Path, folder: Path, *, seconds: int) -> tuple[float | None, float | None]:
    """The paces overall and lately of two starts an hour apart, so long each: of 10 pages, and of 6, one a second."""
    first = datetime(2026, 1, 1, tzinfo=UTC)
    second = first + timedelta(hours=1)
    starts = [
        {"began": str(began), "ended": str(began + timedelta(seconds=seconds)), "pages_before": before}
        for began, before in ((first, 0), (second, 10))
    ]
    times = [first + timedelta(seconds=n) for n in range(10)] + [second + timedelta(seconds=n + 1) for n in range(6)]
    with closing(sqlite3.connect(copy_of(job, folder) / FILE)) as copy, copy:
        copy.execute("UPDATE meta SET value = ? WHERE key = 'starts'", (json.dumps(starts),))
        rows = [(json.dumps({"time": str(time)}), number) for number, time in enumerate(times, start=1)]
        copy.executemany("UPDATE pages SET item = ? WHERE seq = ?", rows)
    status = read_status(folder)
    return status.pace, status.pace_now


def test_pace_leaves_out_the_time_between_two_starts(job: Path, tmp_path: Path) -> None:
    assert paces(job, tmp_path, seconds=20) == (16 / 40 * 60, 6 / 6 * 60)


def test_a_time_too_short_gives_no_pace(job: Path, tmp_path: Path) -> None:
    assert paces(job, tmp_path, seconds=2)[0] is None


def test_how_to_go_on_is_said_once(job: Path) -> None:
    why = "it was interrupted; run the same command again to resume it"
    text = text_of(replace(read_status(job), why=why))
    assert "UTC: it was interrupted\n" in text
    assert text.count("run the same command again") == 1


def copy_of(job: Path, folder: Path) -> Path:
    with closing(read_records(job)) as records, closing(sqlite3.connect(folder / FILE)) as copy:
        records.backup(copy)
    return folder


def test_a_job_without_pages(empty_job: Path) -> None:
    status = read_status(empty_job)
    assert (status.pages, status.harvest, status.harvest_now, status.pace) == (0, None, None, None)
    assert status.outcomes["dead"] == 1
    text = text_of(status)
    assert "harvest      not known yet" in text
    assert "No link is left to follow." in text


def test_a_job_that_does_not_know_how_it_was_made(job: Path, tmp_path: Path) -> None:
    folder = copy_of(job, tmp_path)
    with closing(sqlite3.connect(folder / FILE)) as copy, copy:
        copy.execute("DELETE FROM meta WHERE key IN ('about', 'starts')")
    status = read_status(folder)
    assert (status.topic, status.starts, status.pace) == ("", 0, None)
    assert "not recorded" in text_of(status)


def test_a_strangers_host_does_nothing_to_a_terminal(job: Path, tmp_path: Path) -> None:
    folder = copy_of(job, tmp_path)
    with closing(sqlite3.connect(folder / FILE)) as copy, copy:
        copy.execute("UPDATE hosts SET name = '\x1b[2J\u202e' || name")
    status = read_status(folder)
    assert "\x1b" in status.waiting_by_host[0].host
    assert not set(text_of(status) + status_json(status)) & {"\x1b", "\u202e"}


# --- nothing is disturbed ----------------------------------------------------------------------------------------


def test_asking_changes_nothing(job: Path, scrapy: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    before = {name: (job / name).read_bytes() for name in (FILE, "lock", "report.html")}
    assert scrapy("status", job).returncode == 0
    assert {name: (job / name).read_bytes() for name in before} == before


def test_asking_does_not_wait_for_who_writes(job: Path, tmp_path: Path) -> None:
    folder = copy_of(job, tmp_path)
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM pages")
        writer.execute("UPDATE links SET outcome = 8 WHERE outcome IN (1, 2)")
        # Nobody else would ever end this transaction.
        assert read_status(folder).pages == 16
        writer.execute("COMMIT")
    assert read_status(folder).pages == 0


def test_a_job_of_somebody_else_is_read_as_it_was_written_last(
    job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_of(job, tmp_path)
    with closing(sqlite3.connect(folder / FILE)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        with writer:
            writer.execute("DELETE FROM pages WHERE seq > 10")
            writer.execute(
                "UPDATE links SET outcome = 8 WHERE outcome IN (1, 2) AND id NOT IN (SELECT link FROM pages)"
            )
        # Whoever runs the tests may write everywhere, perhaps.
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert read_status(folder).pages == 10


def test_who_has_a_job_is_known_by_its_lock(tmp_path: Path) -> None:
    assert lock_holder(tmp_path) is None
    lock = Lock(tmp_path)
    try:
        assert lock_holder(tmp_path) == os.getpid()
        with pytest.raises(JobRefused, match="in use"):
            Lock(tmp_path)
        assert lock_holder(tmp_path) == os.getpid(), "one that was refused has not written over it"
    finally:
        lock.release()
    assert lock_holder(tmp_path) is None


def test_a_crawl_that_begins_while_somebody_asks_is_not_refused(tmp_path: Path) -> None:
    Lock(tmp_path).release()
    asking = (tmp_path / "lock").open("rb")
    fcntl.flock(asking, fcntl.LOCK_SH)
    Timer(0.03, asking.close).start()
    Lock(tmp_path).release()


# --- the command -------------------------------------------------------------------------------------------------

KEYS = {
    "unread",
    *("job", "state", "running", "pid", "topic", "prioritizer", "critic", "starts", "began", "ended", "why"),
    *(
        "pages",
        "relevant",
        "relevant_now",
        "wanted",
        "harvest",
        "harvest_now",
        "pace",
        "pace_now",
        "last_page",
        "outcomes",
        "waiting",
        "leased",
    ),
    *(
        "hosts_waiting",
        "waiting_by_host",
        "unfollowed",
        "answers",
        "paused",
        "orders",
        "not_done",
        "unread_orders",
        "model",
        "lessons",
        "read",
        "seconds",
    ),
}


def test_json_has_the_same_figures(job: Path, scrapy: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    (line,) = scrapy("status", job, "--json").stdout.splitlines()
    told = json.loads(line)
    assert set(told) == KEYS
    status = read_status(job)
    assert told["running"] is False
    assert (told["pages"], told["harvest"], told["outcomes"]) == (16, status.harvest, status.outcomes)
    assert set(told["waiting_by_host"][0]) == {"host", "links"}
    assert set(told["model"]) == {"version", "page"}


def test_the_keys_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "output.md").read_text("utf-8")
    section = page.partition("## Status of a crawl\n")[2].partition("\n## ")[0]
    table = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {key.strip("` ") for cell in table for key in cell.split(",")} == KEYS


def test_watching_a_crawl_that_has_ended_shows_it_once(
    job: Path, scrapy: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    once = scrapy("status", job).stdout
    assert once.count("harvest") == 1
    assert scrapy("status", "--watch", job).stdout.rstrip() == once.rstrip()
    assert scrapy("status", job, "--watch", "0.5").stdout.rstrip() == once.rstrip()
    assert scrapy("status", job, "--watch", "--json").stdout.count("\n") == 1


@pytest.mark.parametrize("options", [("--json",), ()])
def test_ctrl_c_ends_watching_quietly(job: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    lock = Lock(copy_of(job, tmp_path))
    command = [sys.executable, "-m", "scrapy", "status", str(tmp_path), "--watch", "0.2", *options]
    try:
        with subprocess.Popen(
            command, env=crawl_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as watching:
            assert watching.stdout is not None
            assert "running" in watching.stdout.readline()
            watching.send_signal(signal.SIGINT)
            _, error = watching.communicate(timeout=280)
    finally:
        lock.release()
    assert (watching.returncode, error) == (0, "")


def test_on_a_terminal_it_is_shown_in_place(job: Path, tmp_path: Path) -> None:
    lock = Lock(copy_of(job, tmp_path))
    ours, its = os.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "scrapy", "status", str(tmp_path), "--watch", "0.2"],
            env={**crawl_environment(), "TERM": "xterm", "COLUMNS": "100", "LINES": "40"},
            stdout=its,
            stderr=its,
        ) as watching:
            os.close(its)
            shown = b""
            # Where the other end is closed, that is an error on Linux, and an end elsewhere.
            with suppress(OSError):
                while more := os.read(ours, 10_000):
                    shown += more
                    if b"birds" in shown:
                        lock.release()
    finally:
        lock.release()
        os.close(ours)
    assert watching.returncode == 0
    assert b"running (process" in shown
    assert b"\x1b[1A" in shown, "the cursor goes up, to write over what stands there"


def test_what_is_no_job_is_told_clearly(
    tmp_path: Path, scrapy: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    for arguments, told in (
        ([tmp_path], "there is no job in"),
        ([tmp_path / "nowhere", "--watch"], "there is no job in"),
        (["127.0.0.1:6391"], "there is no job in '127.0.0.1:6391' (for a crawl in Redis: redis://127.0.0.1:6391)"),
        ([], "give one crawl"),
        ([tmp_path, tmp_path], "give one crawl"),
        ([tmp_path, "--watch", "0"], "give a number of seconds above 0"),
    ):
        run = scrapy("status", *arguments)
        assert (run.returncode, told in run.stderr) == (2, True), run.stderr


def test_a_file_that_is_no_job_file_is_told_clearly(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(JobRefused, match="is not a readable job file"):
        read_status(tmp_path)
    (tmp_path / FILE).unlink()
    sqlite3.connect(tmp_path / FILE).close()
    with pytest.raises(JobRefused, match="is not a readable job file"):
        read_status(tmp_path)
    (tmp_path / FILE).unlink()
    lock = Lock(tmp_path)
    try:
        with pytest.raises(JobRefused, match="is just starting"):
            read_status(tmp_path)
    finally:
        lock.release()
    shutil.rmtree(tmp_path)
