"""Clicks are on disk at once, and the paths follow from all of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from focused.papers.paths.path import FAIL, GOAL
from focused.papers.paths.reading import read_paths
from focused.papers.paths.visited import NOT
from focused.watch.recording import clicks as module
from focused.watch.recording.clicks import ShownClicks
from tests.watch.recording.pages import U

TO_THE_COURSE = [("", ""), ("cs", "department"), ("cs1", GOAL)]
TO_THE_NEWS = [("", ""), ("news", FAIL)]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "paths.jsonl"


def visit(clicks: ShownClicks, name: str, before: int = -1) -> int:
    return clicks.visit([f"{U}/{name}"], before, name)


def browse(clicks: ShownClicks) -> None:
    """A course, by the department; and news, which are not it."""
    home = visit(clicks, "")
    department = visit(clicks, "cs", home)
    clicks.label(department, "department")
    clicks.label(visit(clicks, "cs1", department), GOAL)
    clicks.label(visit(clicks, "news", home), NOT)
    visit(clicks, "jobs", home)


def written(out: Path) -> list[list[tuple[str, str]]]:
    return [[(step.url.removeprefix(f"{U}/"), step.label) for step in path.steps] for path in read_paths(out)]


def test_what_was_said_is_written_and_nothing_else(out: Path) -> None:
    with closing(ShownClicks(out)) as clicks:
        browse(clicks)
        assert clicks.milestones() == ["department"]
        # Jobs were left, too; but nobody said that they are not wanted.
        visit(clicks, "")
    assert written(out) == [TO_THE_COURSE, TO_THE_NEWS]


def test_whoever_was_killed_goes_on(out: Path) -> None:
    with closing(ShownClicks(out)) as clicks:
        browse(clicks)
    with closing(ShownClicks(out)) as clicks:
        assert not clicks.was_cut
        clicks.label(visit(clicks, "cs2", 1), GOAL)
    assert written(out) == [TO_THE_COURSE, [("", ""), ("cs", "department"), ("cs2", GOAL)], TO_THE_NEWS]


def test_a_click_that_was_half_written_is_left_out_and_the_next_one_is_whole(out: Path) -> None:
    with closing(ShownClicks(out)) as clicks:
        browse(clicks)
        journal = clicks.journal
    whole = journal.read_bytes()
    for end in range(whole.rindex(b"\n", 0, -1) + 2, len(whole)):
        journal.write_bytes(whole[:end])
        with closing(ShownClicks(out)) as clicks:
            assert clicks.was_cut
            visit(clicks, "jobs", 0)
        assert journal.read_bytes() == whole


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"type":"other"}',
        b"\xff",
        b"[" * 100_000,
        b'{"type":"undo"}',
        b'{"type":"label","page":0,"label":"goal"}',
        b'{"type":"visit","urls":[],"before":-1,"title":""}',
        b'{"type":"visit","urls":["http://u.example/"],"before":0,"title":""}',
        b'{"type":"visit","urls":["http://u.example/"],"before":-2,"title":""}',
    ],
)
def test_clicks_that_are_none_are_refused_with_their_line_and_stay(out: Path, line: bytes) -> None:
    journal = out.with_suffix(".clicks.jsonl")
    journal.write_bytes(line + b"\n")
    with pytest.raises(ValueError, match=r"clicks.jsonl:1: is no click that was recorded here .*: give another --out"):
        ShownClicks(out)
    assert journal.read_bytes() == line + b"\n"


def test_paths_from_elsewhere_are_not_written_over(out: Path) -> None:
    out.write_text("{}")
    with pytest.raises(ValueError, match="were not recorded here: give another file"):
        ShownClicks(out)
    assert [one.name for one in out.parent.iterdir()] == [out.name]


def test_two_do_not_record_into_one_file(out: Path) -> None:
    with closing(ShownClicks(out)), pytest.raises(ValueError, match="is being written by another `paths record`"):
        ShownClicks(out)


def test_without_a_click_no_file_is_left(out: Path) -> None:
    with closing(ShownClicks(out)) as clicks:
        clicks.write()
    assert list(out.parent.iterdir()) == []


def test_labels_are_taken_back_the_last_one_first(out: Path) -> None:
    with closing(ShownClicks(out)) as clicks:
        browse(clicks)
        clicks.label(1, "faculty")
        pages = []
        while clicks.can_undo:
            pages.append(clicks.undo())
            if pages == [1]:
                assert written(out) == [TO_THE_COURSE, TO_THE_NEWS]
            elif pages == [1, 3]:
                assert written(out) == [TO_THE_COURSE]
        assert (pages, clicks.labels, out.read_bytes()) == ([1, 3, 2, 1], {}, b"")
        with pytest.raises(ValueError, match="nothing to undo"):
            clicks.undo()
    with closing(ShownClicks(out)) as clicks:
        assert (clicks.labels, len(clicks.tour.pages)) == ({}, 5)


@pytest.mark.parametrize("name", [" ", "fail", "Goal", "to goal", "a\nb", " department", "x" * 101, "\u202eab"])
def test_names_that_milestones_cannot_have_are_refused_before_they_are_written(out: Path, name: str) -> None:
    with closing(ShownClicks(out)) as clicks:
        page = visit(clicks, "")
        before = clicks.journal.read_bytes()
        with pytest.raises(ValueError, match=r"name|write|stand|begins"):
            clicks.label(page, name)
        assert (clicks.labels, clicks.journal.read_bytes()) == ({}, before)


def test_what_cannot_be_kept_did_not_happen(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with closing(ShownClicks(out)) as clicks:
        browse(clicks)
        was = dict(clicks.labels), len(clicks.tour.pages), clicks.journal.read_bytes()
        monkeypatch.setattr(module, "append_whole", full)
        for click in (lambda: clicks.label(0, GOAL), clicks.undo, lambda: visit(clicks, "more")):
            with pytest.raises(OSError, match="No space"):
                click()
        assert (clicks.labels, len(clicks.tour.pages), clicks.journal.read_bytes()) == was
