"""The demonstration runs real crawls, counts at the server, and fails when it shows nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from focused.lab.demo import __main__ as command
from focused.lab.demo.run import DemoCrawl, DemonstrationFailed, Stage, prepare

PAGES = 30


def crawl_of(
    folder: Path, prioritizer: str = "random", fetched: tuple[str, ...] = (), targets: frozenset[str] = frozenset()
) -> DemoCrawl:
    """A crawl as `run` tells it, in a folder with a report."""
    (folder / "report.html").touch()
    figures = {"pages": len(fetched), "harvest": 0.5, "requests": len(fetched)}
    return DemoCrawl(prioritizer, folder, **figures, fetched=fetched, targets=targets)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return prepare(tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def crawl(stage: Stage) -> DemoCrawl:
    return stage.crawl("breadth-first", pages=PAGES)


def test_a_crawl_begins_anew_where_another_one_was(stage: Stage, crawl: DemoCrawl) -> None:
    (crawl.folder / "old").touch()
    assert stage.crawl("breadth-first", pages=PAGES // 2).pages == PAGES // 2
    assert not (crawl.folder / "old").exists()


def test_a_crawl_of_the_demonstration_fetches_what_it_was_asked_for(crawl: DemoCrawl) -> None:
    assert crawl.pages == PAGES
    assert PAGES == len(set(crawl.fetched)) <= crawl.requests
    assert 0 < crawl.harvest < 1


def test_its_folder_may_be_given_relative_to_where_it_is_started(
    stage: Stage, crawl: DemoCrawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    topic = Path(os.path.relpath(stage.topic, tmp_path))
    assert replace(stage, folder=Path("here"), topic=topic).crawl("breadth-first", pages=3).pages == 3
    assert (tmp_path / "here" / "breadth-first" / "report.html").exists()


def test_it_leaves_a_report_and_a_log(crawl: DemoCrawl) -> None:
    assert "<svg" in crawl.report.read_text("utf-8")
    assert "Spider closed" in (crawl.folder / "crawl.log").read_text("utf-8")


def test_a_folder_with_the_users_own_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    with pytest.raises(DemonstrationFailed, match="name another with --out"):
        prepare(tmp_path)
    assert (tmp_path / "models").exists()


def test_targets_are_counted_by_their_labels_not_by_the_critic(tmp_path: Path) -> None:
    urls = frozenset({"http://a/1", "http://a/2", "http://a/3"})
    fetched = ("http://a/1", "http://b/", "http://a/1", "http://a/3")
    assert crawl_of(tmp_path, fetched=fetched, targets=urls).found == 2


def test_a_crawl_that_fails_is_told_with_its_log(stage: Stage) -> None:
    with pytest.raises(DemonstrationFailed, match=r"crawl no-such-prioritizer ended with \d+: see .*crawl\.log"):
        stage.crawl("no-such-prioritizer", pages=PAGES)


@pytest.mark.parametrize(("found", "code"), [(3, 0), (1, 1), (0, 1)])
def test_the_exit_code_tells_whether_the_default_prioritizer_was_better(
    found: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = [f"http://a/{i}" for i in range(5)]

    counts = {"breadth-first": 1, "focused": found}

    class Told:
        def crawl(self, prioritizer: str, *, pages: int) -> DemoCrawl:
            return crawl_of(tmp_path, prioritizer, tuple(urls[: counts[prioritizer]]), frozenset(urls))

    monkeypatch.setattr(command, "prepare", lambda *_: Told())
    assert command.main([]) == code
    shown = capsys.readouterr()
    assert str(tmp_path / "report.html") in shown.out
    assert ("should find more than 1 targets" in shown.err) == bool(code)
