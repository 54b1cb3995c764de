"""However many look, a crawl is read once, bit by bit, and no oftener than its pace allows; whatever happens to it."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from focused.frontier.inbox import FileInbox, Mark
from focused.frontier.records import Lock
from focused.frontier.store import Says
from focused.report.job_reader import JobReader
from focused.report.reader import PageLine
from focused.watch.app import make_app
from focused.watch.crawls import LastLook, ReadingPace, Watched, WatchedCrawls
from tests.watch.asking import Asker
from tests.watch.small_site import HUB, PAGES

MANY = 5_000


class Clock:
    """Time that passes when a test says so, and while something is read that is said to take long."""

    def __init__(self) -> None:
        self.now, self.cost = 0.0, 0.0

    def __call__(self) -> float:
        return self.now


class CountingReader(JobReader):
    """Counts what is read."""

    calls: Counter[str]
    clock: Clock

    def status(self, most_hosts: int = 10) -> Any:
        self.calls["status"] += 1
        self.clock.now += self.clock.cost
        return super().status(most_hosts)

    def pages_after(self, order: int) -> list[PageLine]:
        found = super().pages_after(order)
        self.calls["pages_after"] += 1
        self.calls["lines"] += len(found)
        return found


@contextmanager
def running(job: Path) -> Iterator[None]:
    """Meanwhile a crawl has the job in use."""
    lock = Lock(job)
    try:
        yield
    finally:
        lock.release()


class Scene:
    """A job that somebody watches."""

    def __init__(self, job: Path) -> None:
        self.job, self.calls, self.clock, self.opened = job, Counter[str](), Clock(), 0
        self.watched = Watched("stars", "stars", self._open, self.clock)
        self.loop = asyncio.new_event_loop()

    def _open(self) -> JobReader:
        reader = CountingReader.open(self.job)
        reader.calls, reader.clock = self.calls, self.clock
        self.opened += 1
        return reader

    def look(self, after: float = 0.0, times: int = 1) -> LastLook:
        """Somebody looks, or several do at once."""
        self.clock.now += after

        async def all_of_them() -> list[LastLook]:
            return await asyncio.gather(*(self.watched.look() for _ in range(times)))

        return self.loop.run_until_complete(all_of_them())[-1]

    def write(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.job / "job.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    def add_pages(self, first: int, count: int) -> None:
        """Pages as a crawl adds them."""
        item = json.dumps({"url": HUB, "time": "2026-01-01T00:00:00+00:00", "score": 0.5})
        with closing(sqlite3.connect(self.job / "job.db")) as connection, connection:
            (last,) = connection.execute("SELECT max(id) FROM links").fetchone()
            links = [(last + 1 + n, (first + n) * 7 + 10**12, f"{HUB}p{first + n}") for n in range(count)]
            connection.executemany(
                "INSERT INTO links(id, key, url, host, depth, source, state, outcome, base) "
                "VALUES (?, ?, ?, 1, 1, 1, 3, 1, 0)",
                links,
            )
            connection.executemany(
                "INSERT INTO pages VALUES (?, ?, ?, 'added', 0.75, '', 1, ?, 0, ?)",
                [(n, first + i, url, first + i, item) for i, (n, _, url) in enumerate(links)],
            )


@pytest.fixture
def scene(job: Path) -> Iterator[Scene]:
    made = Scene(job)
    yield made
    made.loop.run_until_complete(made.loop.shutdown_default_executor())
    made.loop.close()


def test_nothing_is_read_until_somebody_looks_and_once_for_all_who_do(scene: Scene) -> None:
    assert scene.opened == 0
    assert len(scene.look(times=5).pages) == PAGES
    assert scene.calls["status"] == 1
    for _ in range(9):
        scene.look(after=0.1, times=3)
    assert scene.calls["status"] == 1
    scene.look(after=0.2, times=3)
    assert scene.calls["status"] == 2
    assert scene.opened == 1, "checked once"


def test_a_reading_that_takes_long_is_made_less_often(scene: Scene) -> None:
    scene.clock.cost = 0.5
    for _ in range(200):
        scene.look(after=1.0)
    # Two hundredths of the time at most.
    assert scene.calls["status"] * scene.clock.cost <= 0.02 * scene.clock.now + scene.clock.cost


def test_of_a_large_job_only_what_is_new_is_read(scene: Scene) -> None:
    first = 10 * PAGES
    scene.add_pages(first, MANY)
    with running(scene.job):
        scene.look()
        assert len(scene.look(after=1).pages) == PAGES + MANY
        before = scene.calls["lines"]
        scene.add_pages(first + MANY, 3)
        seen = scene.look(after=1)
    assert [page.order for page in seen.pages[-4:]] == list(range(first + MANY - 1, first + MANY + 3))
    assert scene.calls["lines"] - before <= 300
    assert scene.watched.hosts["hub.example"].pages == PAGES + MANY + 3


def test_a_page_that_comes_in_late_is_not_missed(scene: Scene) -> None:
    scene.add_pages(1_000, 10)
    scene.add_pages(1_020, 1_000)
    scene.look()
    scene.add_pages(1_010, 5)
    seen = scene.look(after=1)
    seen = scene.look(after=60) if len(seen.pages) < PAGES + 1_015 else seen
    assert [page.order for page in seen.pages] == sorted(page.order for page in seen.pages)
    assert len(seen.pages) == PAGES + 1_015


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pages SET relevance = relevance / 2, version = 1 WHERE seq < 500",
        "INSERT INTO answers VALUES (1, (SELECT link FROM pages WHERE seq = 2), 'no', 'judge', '', 0.4)",
    ],
)
def test_what_is_said_and_judged_anew_is_read_again_and_nothing_else(scene: Scene, change: str) -> None:
    scene.add_pages(1_000, 300)
    scene.look()
    scene.look(after=1)
    before = scene.calls["pages_after"]
    scene.look(after=1)
    assert scene.calls["pages_after"] == before + 1
    scene.write(change)
    scene.look(after=1)
    seen = scene.look(after=60)
    with JobReader.open(scene.job) as reader:
        assert list(seen.pages) == reader.pages_after(0)


def test_marks_of_others_are_seen(scene: Scene) -> None:
    scene.look()
    FileInbox(scene.job).append([Mark(url=HUB, said=Says.YES)])
    assert scene.look(after=1).marks[HUB].said == Says.YES
    FileInbox(scene.job).append([Mark(url=HUB, said=Says.NO)])
    assert scene.look(after=1).marks[HUB].said == Says.NO


def test_nothing_new_is_no_news(scene: Scene) -> None:
    scene.look()
    number = scene.look(after=1).number
    assert scene.look(after=1).number == number
    scene.add_pages(2_000, 1)
    assert scene.look(after=1).number > number


def test_a_job_that_is_deleted_is_named_and_another_in_its_place_is_shown(scene: Scene, ended: Path) -> None:
    assert scene.look().problem == ""
    shutil.rmtree(scene.job)
    assert "is gone: it was deleted, moved or replaced meanwhile" in scene.look(after=1).problem
    assert "there is no job in" in scene.look(after=6).problem
    shutil.copytree(ended, scene.job)
    scene.write(
        "DELETE FROM pages WHERE seq > 20", "UPDATE links SET outcome = 3 WHERE id NOT IN (SELECT link FROM pages)"
    )
    assert scene.look(after=2).problem, "tried again after a while"
    seen = scene.look(after=6)
    assert (seen.problem, len(seen.pages)) == ("", 20)


def test_a_job_that_is_damaged_while_it_is_watched_is_named_and_the_page_goes_on(scene: Scene, ended: Path) -> None:
    scene.look()
    with (scene.job / "job.db").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 60_000)
    problem = scene.look(after=1).problem
    assert "job.db" in problem
    assert "\n" not in problem
    shutil.copy(ended / "job.db", scene.job / "job.db")
    assert scene.look(after=600).problem == ""


def test_a_crawl_that_ends_is_not_taken_for_one_that_was_cut_short(scene: Scene) -> None:
    """Between letting go of its job and noting why it has ended, it looks like that."""
    starts = [{"began": "2026-01-01T00:00:00+00:00", "pages_before": 0}]
    scene.write(f"INSERT OR REPLACE INTO meta VALUES ('starts', '{json.dumps(starts)}')")
    with running(scene.job):
        assert scene.look().status.is_running
    assert scene.look(after=1).status.is_running
    ended = [{**starts[0], "ended": "2026-01-01T00:09:00+00:00", "why": "enough"}]
    scene.write(f"INSERT OR REPLACE INTO meta VALUES ('starts', '{json.dumps(ended)}')")
    assert "enough" in scene.look(after=1).status.state_in_words()


def test_one_that_was_cut_short_is_told_so(scene: Scene) -> None:
    starts = [{"began": "2026-01-01T00:00:00+00:00", "pages_before": 0}]
    scene.write(f"INSERT OR REPLACE INTO meta VALUES ('starts', '{json.dumps(starts)}')")
    with running(scene.job):
        scene.look()
    scene.look(after=1)
    assert scene.look(after=1).status.state == "cut short"


def test_the_file_is_let_go_of_between_two_looks(scene: Scene) -> None:
    """A crawl that ends is the last to close its file, and tidies it up."""
    writer = sqlite3.connect(scene.job / "job.db")
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE pages SET title = 'changed'")
    writer.commit()
    scene.look()
    writer.close()
    assert not (scene.job / "job.db-wal").exists()


def find(place: Path) -> list[str]:
    crawls = WatchedCrawls(str(place), None, Settings())
    crawls.find()
    return sorted(crawl.name for crawl in asyncio.run(crawls.all()))


def test_a_folder_of_jobs_has_all_of_them_also_those_that_come_later(job: Path, tmp_path: Path) -> None:
    assert find(tmp_path / "jobs") == ["stars"]
    shutil.copytree(job, tmp_path / "jobs" / "deeper" / "soups & more")
    assert find(tmp_path / "jobs") == ["deeper/soups & more", "stars"]
    crawls = WatchedCrawls(str(tmp_path / "jobs"), None, Settings())
    crawls.find()
    asker = Asker(make_app(crawls))
    ids = [crawl["id"] for crawl in asker.get("/api/crawls").json["crawls"]]
    assert all(asker.get(f"/api/crawls/{one}").json["pages"] == PAGES for one in ids)
    assert all(asker.get(f"/crawls/{one}").status == 200 for one in ids)
    assert b"<h1>Crawls</h1>" in asker.get("/").body
    asker.close()


@pytest.mark.parametrize("make", [lambda folder: folder.mkdir(), lambda folder: None], ids=["empty", "not there"])
def test_a_folder_for_jobs_may_be_empty_or_new(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "jobs")
    assert find(tmp_path / "jobs") == []


@pytest.mark.parametrize("place", ["no/jobs", "file/jobs", "link"])
def test_a_place_where_no_job_can_be_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(ValueError, match=r"there is no job in|cannot be read"):
        find(tmp_path / place)


@pytest.mark.parametrize(("place", "can_begin"), [("jobs", True), ("jobs/stars", False), ("jobs/stars/job.db", False)])
def test_a_crawl_can_be_begun_in_a_folder_of_jobs_and_nowhere_else(
    job: Path, tmp_path: Path, place: str, can_begin: bool
) -> None:
    crawls = WatchedCrawls(str(tmp_path / place), None, Settings())
    crawls.find()
    assert job.exists()
    assert (crawls.folder == tmp_path / "jobs") is can_begin


def test_events_come_when_something_has_changed_and_end_with_the_process(job: Path) -> None:
    crawls, is_ending = WatchedCrawls(str(job), None, Settings()), False
    crawls.find()
    app = make_app(crawls, lambda: is_ending)
    sent: list[bytes] = []

    async def watch() -> None:
        nonlocal is_ending
        came = asyncio.Event()

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))
            came.set()

        async def receive() -> Any:
            await asyncio.Event().wait()

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/crawls/stars/events",
            "headers": [],
            "query_string": b"",
        }
        stream = asyncio.ensure_future(app({**scope, "http_version": "1.1", "root_path": ""}, receive, send))
        while not any(b"data: " in part for part in sent):
            await asyncio.wait_for(came.wait(), 60)
            came.clear()
        FileInbox(job).append([Mark(url=HUB, said=Says.NO)])
        while sum(b"data: " in part for part in sent) < 2:
            await asyncio.wait_for(came.wait(), 60)
            came.clear()
        is_ending = True
        await asyncio.wait_for(stream, 60)

    asyncio.run(watch())
    first, second = (json.loads(part.removeprefix(b"data: ")) for part in sent if part.startswith(b"data: "))
    assert (first["marked"], second["marked"]) == (0, 1)
    assert second["number"] > first["number"]


def test_paces_are_at_most_a_share() -> None:
    clock = Clock()
    pace = ReadingPace(0.1, 1.0, clock)
    pace.run(lambda: setattr(clock, "now", 5.0))
    clock.now = 54.9
    assert not pace.is_due()
    clock.now = 55.0
    assert pace.is_due()
