"""A damaged job is refused in one line, or goes on: never with a traceback, for ever, in all memory, or anew."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from focused.arrays import Damaged
from focused.critics.base import LearningCritic
from focused.critics.choose import critic_for
from focused.frontier.layout import SCHEMA
from focused.frontier.records import FILE
from focused.frontier.store import JobRefused, Outcome, StoreBroken
from focused.parts import Parts, make_prioritizer
from focused.prioritizers.trainer import Trainer
from focused.report import repair
from focused.report.html import write_report
from focused.report.inspection import inspect_job
from focused.report.job_reader import JobReader
from focused.report.lessons import NothingLearned
from focused.report.repair import repair_job
from focused.report.status import status_json, status_lines
from focused.report.waiting import list_next
from focused.report.why import UnknownLink, explain_link
from focused.scheduling.requests import BadRequest, request_from_bytes
from focused.scheduling.resume import open_folder
from focused.topics.topic import load_topic
from tests.attacks import some
from tests.full_disk import no_file_over
from tests.report.conftest import PAGES
from tests.report.damage import DAMAGES, bounded, copy_of

URL = "http://a.example/bird3"
REFUSALS = (JobRefused, StoreBroken, NothingLearned, UnknownLink)


def go_on(topic: Path, folder: Path) -> int:
    """Go on with a job as a crawl does, as far as its records go; how many pages there were."""
    settings = Settings({"JOBDIR": str(folder)})
    wanted = load_topic(str(topic))
    critic = critic_for(wanted, Path("none"))
    prioritizer = make_prioritizer(wanted, settings, critic)
    parts = Parts(wanted, critic, prioritizer, Trainer(1_000), scope=None, limits=None)
    store = open_folder(parts, folder, settings)
    try:
        standing = store.standing()
        while (lease := store.lease(0.0, lambda host: 0.0)) is not None:
            if lease.request is not None:
                with suppress(BadRequest):
                    request_from_bytes(lease.request, Spider("any"))
            store.lessons_of(lease)
            store.acknowledge(lease, Outcome.DENIED)
        assert isinstance(parts.critic, LearningCritic)
        # Said in one line by the crawl that would have it learn.
        with suppress(Damaged):
            for pages in store.kept_pages()():
                parts.critic.judge_again(pages.gists)
        list(store.lessons_anew(1_000)())
        store.answers()
        return standing.pages
    finally:
        store.close()


def read(folder: Path, out: Path) -> int:
    """Ask all that can be asked of a job; how many pages there were."""
    with JobReader.open(folder) as reader:
        status = reader.status()
        list(status_lines(status))
        status_json(status)
    with JobReader.open(folder) as reader:
        list(reader.items())
        reader.learned_state()
    for ask in (list_next, lambda reader: explain_link(reader, URL)):
        with JobReader.open(folder) as reader, suppress(UnknownLink):
            list(ask(reader))
    with JobReader.open(folder) as reader:
        write_report(reader, out)
    return status.pages


def pages_or_refused(work: Callable[[], int], folder: Path) -> int | None:
    """The pages that there were; None if it was refused, in one line that names the job and a way out."""
    try:
        return work()
    except REFUSALS as error:
        line = str(error)
        assert "\n" not in line
        assert str(folder) in line
        assert any(way in line for way in ("give another JOBDIR", "give the JOBDIR", "scrapy inspect")), line
        return None


@dataclass(frozen=True)
class Job:
    folder: Path
    topic: Path


@pytest.fixture(scope="module")
def whole(job: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Job:
    return Job(copy_of(job, tmp_path_factory.mktemp("whole") / "job"), folder / "birds.toml")


# Whoever only reads is refused by the same checks.
CASES = some(list(DAMAGES), 17)


@pytest.fixture
def damaged(request: pytest.FixtureRequest, whole: Job, tmp_path: Path) -> Path:
    """A copy of the job, damaged in the way that is asked for."""
    shutil.copytree(whole.folder, tmp_path / "job")
    DAMAGES[request.param](tmp_path / "job")
    return tmp_path / "job"


@pytest.mark.parametrize("damaged", CASES[1::2], indirect=True)
def test_whoever_reads_a_damaged_job(damaged: Path, tmp_path: Path) -> None:
    with bounded():
        assert pages_or_refused(lambda: read(damaged, tmp_path / "r.html"), damaged) in {None, PAGES}


@pytest.mark.parametrize("damaged", CASES, indirect=True)
def test_a_crawl_that_goes_on_with_a_damaged_job(damaged: Path, whole: Job) -> None:
    with bounded():
        assert pages_or_refused(lambda: go_on(whole.topic, damaged), damaged) in {None, PAGES}


@pytest.mark.parametrize("damaged", CASES[::5], indirect=True)
def test_what_is_left_of_a_damaged_job_is_a_whole_one(damaged: Path, whole: Job, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    with bounded():
        with suppress(JobRefused):
            # Of another format.
            assert (
                pages_or_refused(lambda: read(damaged, tmp_path / "r.html"), damaged) or inspect_job(damaged).problems
            )
        try:
            lost = repair_job(damaged, saved).lost
        except JobRefused as error:
            assert_one_line(error)
            assert not saved.exists() or not any(saved.iterdir())
            return
        assert inspect_job(saved).problems == []
        assert read_or_lost(saved, tmp_path / "r.html", lost) is not None
        assert pages_or_refused(lambda: go_on(whole.topic, saved), saved) != 0 or lost


def assert_one_line(error: Exception) -> None:
    assert "\n" not in str(error)
    assert ": " in str(error)


def read_or_lost(saved: Path, out: Path, lost: list[str]) -> int | None:
    """The pages of a saved job; 0 if the note without which nothing is explained was lost, and this was said."""
    try:
        return read(saved, out)
    except JobRefused as error:
        return 0 if "not recorded how" in str(error) and any("'about'" in one for one in lost) else None


def test_a_job_is_whole_before_it_is_damaged(whole: Job, tmp_path: Path) -> None:
    assert inspect_job(whole.folder).problems == []
    assert read(whole.folder, tmp_path / "r.html") == PAGES
    assert repair_job(whole.folder, tmp_path / "saved").lost == []
    found, saved = inspect_job(whole.folder), inspect_job(tmp_path / "saved")
    assert saved.rows == {**found.rows, "meta": (found.rows["meta"] or 0) + 1}
    assert saved.problems == []
    shutil.copytree(whole.folder, tmp_path / "again")
    assert go_on(whole.topic, tmp_path / "again") == go_on(whole.topic, tmp_path / "saved") == PAGES


def test_damage_that_shows_when_something_is_read_names_the_file(whole: Job, tmp_path: Path) -> None:
    shutil.copytree(whole.folder, tmp_path / "job")
    with closing(sqlite3.connect(tmp_path / "job" / FILE)) as job, job:
        job.execute("UPDATE words SET word = CAST(x'ff' AS TEXT)")
    with (
        pytest.raises(JobRefused, match=r"job\.db' is damaged \(Could not decode") as refused,
        JobReader.open(tmp_path / "job") as reader,
    ):
        reader.words()
    assert_one_line(refused.value)


def test_a_repair_on_a_full_disk_counts_nothing_as_lost(
    whole: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in (100, 20_000):
        with pytest.raises(JobRefused, match=r"cannot be written.*make room"), no_file_over(size):
            repair_job(whole.folder, tmp_path / "new")
        assert list((tmp_path / "new").iterdir()) == []
    with monkeypatch.context() as patch:
        patch.setattr(repair, "SCHEMA", f"{SCHEMA}; PRAGMA max_page_count = 1;")
        with pytest.raises(JobRefused, match=r"full.*make room"):
            repair_job(whole.folder, tmp_path / "new")
    assert repair_job(whole.folder, tmp_path / "new").lost == []


def test_no_room_to_read_a_damaged_job_is_no_damage() -> None:
    with closing(sqlite3.connect(":memory:")) as job:
        with repair._until_damage():
            job.execute("SELECT * FROM nothing")
        job.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError, match="full"), repair._until_damage():
            job.execute("CREATE TABLE t (x)")
