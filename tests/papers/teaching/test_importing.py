"""``scrapy paths import``: what it writes, asks, and says."""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path

import pytest

from focused.papers.paths.path import FAIL, GOAL, Step, write_paths
from focused.papers.paths.path import Path as Way
from focused.papers.paths.reading import read_paths
from tests.papers.paths.har_cases import U, entry, links, tour_of_a_university, write_har


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """A topic file."""
    file = tmp_path / "courses.toml"
    file.write_text('name = "courses"\nkeywords = ["course"]\n')
    return file


@pytest.fixture
def importing(scrapy, tmp_path: Path, topic: Path):
    """Runs the command on a recorded tour, or on other files."""

    def run(*arguments: object, files: tuple[object, ...] = ()):
        given = files or (write_har(tmp_path / "tour.har", tour_of_a_university()),)
        return scrapy("paths", "import", *given, "--topic", topic, "-o", tmp_path / "paths.jsonl", *arguments)

    return run


def written(tmp_path: Path) -> list[list[tuple[str, str]]]:
    paths = read_paths(tmp_path / "paths.jsonl")
    return [[(step.url.removeprefix(U), step.label) for step in path.steps] for path in paths]


TO_THE_COURSE = [("/", ""), ("/cs", "department"), ("/ann", ""), ("/cs1", GOAL)]
TO_THE_NEWS = [("/", ""), ("/news", FAIL)]


def test_options_label_pages(importing, tmp_path: Path, topic: Path) -> None:
    done = importing("--goal", f"{U}/cs1", "--milestone", "department=*/cs")
    assert done.returncode == 0, done.stderr
    assert written(tmp_path) == [TO_THE_COURSE, TO_THE_NEWS]
    file = tmp_path / "paths.jsonl"
    assert done.stdout.splitlines() == [
        f"2 paths (1 to goal, 1 to fail) of 2 to 4 steps, over 5 different pages: {file}",
        f"teach a prioritizer with them: scrapy teach {topic} --prioritizer crf --paths {file}",
    ]


def test_several_files_are_several_tours(importing, tmp_path: Path) -> None:
    other = [entry(f"{U}/a", html=links("/b")), entry(f"{U}/b", dest=None, _resourceType="document")]
    files = (write_har(tmp_path / "1.har", tour_of_a_university()), write_har(tmp_path / "2.har", other))
    assert importing("--goal", "*/cs1", "*/b", files=files).returncode == 0
    assert [path[-1] for path in written(tmp_path)] == [("/cs1", GOAL), ("/news", FAIL), ("/b", GOAL)]


def test_labels_may_be_in_a_table(importing, tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text(f"url\tlabels\n{U}/cs1\tgoal\n*/cs\tdepartment\n*/elsewhere\tnot\n")
    assert importing("--labels", tmp_path / "labels.tsv").returncode == 0
    assert written(tmp_path) == [TO_THE_COURSE, TO_THE_NEWS]


def test_wanted_examples_of_the_topic_are_goals_unless_something_else_is_said(importing, tmp_path, topic) -> None:
    (tmp_path / "examples.tsv").write_text(f"url\tclass\n{U}/cs1\tcourse\n{U}/ann\tstaff\n{U}/news\tcourse\n")
    topic.write_text('name = "courses"\nfocus = ["course"]\nexamples = "examples.tsv"\n')
    assert importing("--not", "*/news", "--milestone", "department=*/cs").returncode == 0
    assert written(tmp_path) == [TO_THE_COURSE, TO_THE_NEWS]


def test_without_labels_and_terminal_it_shows_the_pages_and_how_to_label_them(importing, tmp_path: Path) -> None:
    done = importing()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"   1. {U}/  Home",
        f"   2. {U}/news  News  (from 1)",
        f"   3. {U}/cs  CS  (from 1)",
        f"   4. {U}/ann  Ann  (from 3)",
        f"   5. {U}/cs1  Course 1  (from 4)",
        "Nothing was written: say which pages are goals, by their addresses (* stands for any characters), such as",
        f"  --goal {U}/cs1 --milestone department='*/cs/' --not '*/news/*'",
        "or with --labels FILE.tsv (columns url and labels), or run this on a terminal to be asked.",
    ]
    assert not (tmp_path / "paths.jsonl").exists()


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (["s", "n", "m department", "", "g"], [TO_THE_COURSE, TO_THE_NEWS]),
        (
            ["", "", "m", "what?", "m goal", "goal x", "milestone department", "skip", "goal"],
            [TO_THE_COURSE, TO_THE_NEWS],
        ),
        (["", "", "g", "q"], [[("/", ""), ("/cs", GOAL)], TO_THE_NEWS]),
        (["", "", "g"], [[("/", ""), ("/cs", GOAL)], TO_THE_NEWS]),
    ],
)
def test_on_a_terminal_it_asks(importing, tmp_path: Path, monkeypatch, answers: list[str], found) -> None:
    coming = iter(answers)

    def answer(_: str) -> str:
        try:
            return next(coming)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(builtins, "input", answer)
    assert importing().returncode == 0
    assert written(tmp_path) == found
    assert not list(coming)


def test_what_was_left_out_is_said(importing, tmp_path: Path) -> None:
    more = [entry("http://10.0.0.1/"), entry(f"{U}/x", method="POST"), entry(f"{U}/alone"), entry("data:text/html,x")]
    file = tmp_path / "x.har"
    write_har(file, tour_of_a_university() + more)
    done = importing("--goal", "*/cs1", "*/alone", files=(file,))
    assert done.returncode == 0
    reasons = "1 inner addresses (FOCUSED_INNER_ALLOWED lets them in), 1 reached by a form, 1 not http addresses"
    assert done.stderr.splitlines() == [
        f"{file}: left out: {reasons}",
        f"no way leads to {U}/alone: it was opened without a link from a page before it",
    ]
    importing("--goal", "*10.0.0.1/", "-s", "FOCUSED_INNER_ALLOWED=10.0.0.1", files=(file,))
    allowed = importing("--goal", "*/cs1", "-s", "FOCUSED_INNER_ADDRESSES=allow", files=(file,))
    assert "inner" not in allowed.stderr


def test_a_file_that_is_cut_off_gives_what_is_whole(importing, tmp_path: Path) -> None:
    file = tmp_path / "cut.har"
    write_har(file, tour_of_a_university())
    file.write_bytes(file.read_bytes()[:-40])
    done = importing("--goal", "*/ann", files=(file,))
    assert done.returncode == 0
    assert done.stderr.splitlines() == [f"{file} is cut off: what it holds whole was read"]
    assert [path[-1] for path in written(tmp_path)] == [("/ann", GOAL), ("/news", FAIL)]


@pytest.mark.parametrize(
    ("text", "arguments", "why"),
    [
        ("", (), "x.har: empty: give a HAR file"),
        ("<html>", (), "x.har: not JSON: give a HAR file"),
        ('{"log": {}}', (), "x.har: no entries: give a HAR file"),
        ('{"log": {"entries": []}}', (), "x.har: no page in it: record the browsing with the Network panel open"),
        (json.dumps({"log": {"entries": [entry("http://10.0.0.1/")]}}), (), "no page in it (1 inner addresses"),
        ("", ("--goal", "x", "--milestone", "y"), "--milestone y: write NAME=URL"),
        (json.dumps({"log": {"entries": [entry(U)]}}), ("--goal", "*/x"), "--goal */x: no page that was visited has"),
        (json.dumps({"log": {"entries": [entry(U)]}}), ("--goal", "*"), "no path: none of the pages visited leads by"),
    ],
)
def test_what_cannot_become_paths_ends_with_a_sentence(importing, tmp_path: Path, text, arguments, why) -> None:
    file = tmp_path / "x.har"
    file.write_text(text)
    write_paths(tmp_path / "paths.jsonl", [before := Way([Step(f"{U}/before")])])
    done = importing(*arguments, files=(file,))
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert read_paths(tmp_path / "paths.jsonl") == [before]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("import", "-o", "x"), "give HAR files, the topic with --topic, and a file for the paths with --out"),
        (("import", "x.har", "-o", "x"), "give HAR files"),
        (
            ("stars", "--goal", "x", "--out", "x"),
            "--topic, --goal, --milestone and --not are for 'paths import FILE.har'",
        ),
    ],
)
def test_options_of_another_use_are_refused(scrapy, arguments, why: str) -> None:
    done = scrapy("paths", *arguments)
    assert done.returncode == 2
    assert why in done.stderr
