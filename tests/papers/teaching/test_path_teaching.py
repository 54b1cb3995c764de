"""``scrapy teach --prioritizer … --paths …``: what it says of paths that are few, or whose pages are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as File

import pytest

from focused.lab.replay.write import write_web
from focused.pages.fetched import Fetched
from focused.pages.page import page_from_html
from focused.papers.paths.path import FAIL, GOAL, Path, Step, write_paths
from focused.papers.teaching.paths import FEW_PATHS, PathTeaching, addresses_of
from focused.prioritizers.options import build
from focused.registry import find
from focused.teaching.plan import CannotTeach
from focused.topics.topic import Topic
from tests.prioritizers.prioritizer_cases import WAY, OneWordCritic

ROOT = File(__file__).parents[3]


def url(site: int, page: str) -> str:
    return f"http://u{site}.example/{page}"


def page_of(way: tuple[str, ...]) -> str:
    _, _, text, anchor, leads_to = (part.format(name="ann") for part in way)
    return f"<h1>{text}</h1><a href='/{leads_to}'>{anchor}</a> <a href='/news'>news</a>"


def site_of(number: int) -> dict[str, str]:
    """The pages of a site: a way to a goal, and one to a failure."""
    return {url(number, way[0].format(name="ann")): page_of(way) for way in WAY} | {url(number, "news"): "<p>sports"}


def paths_of(number: int) -> list[Path]:
    """A path to the goal of a site, and one that fails."""
    way = [Step(address) for address in list(site_of(number))[:-1]]
    goal = Step(way[-1].url, GOAL)
    return [Path([*way[:-1], goal]), Path([way[0], Step(url(number, "news"), FAIL)])]


@pytest.fixture
def taught(tmp_path: File):
    """Runs the command on the paths of some sites, with the pages that are in a recorded web."""

    def run(sites: int, gone: str = "", prioritizer: str = "crf") -> subprocess.CompletedProcess[str]:
        pages = {address: page for n in range(sites) for address, page in site_of(n).items() if address != gone}
        write_web(tmp_path / "web.warc.gz", pages)
        write_paths(tmp_path / "paths.jsonl", [path for n in range(sites) for path in paths_of(n)])
        (tmp_path / "topic.toml").write_text('name = "courses"\nkeywords = ["course"]\n')
        given = ["--paths", str(tmp_path / "paths.jsonl"), "--web", str(tmp_path / "web.warc.gz")]
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "teach",
            str(tmp_path / "topic.toml"),
            "--prioritizer",
            prioritizer,
            *given,
        ]
        environment = os.environ | {"FOCUSED_MODELS": str(tmp_path / "models")}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    return run


def test_few_paths_are_warned_of(taught) -> None:
    done = taught(2)
    assert done.returncode == 0, done.stderr
    assert "warning: only 4 paths with 12 pages: the model will hardly generalise" in done.stdout
    assert taught(FEW_PATHS // 2).stdout.count("warning") == 0


def test_ways_shown_to_the_default_prioritizer_are_counted_and_a_crawl_is_told_of_them(taught, tmp_path: File) -> None:
    done = taught(3, prioritizer="focused")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "models/courses/focused.npz"
    told = f"15 steps of 6 ways shown: written to {file}; crawl with -a learned={file}"
    assert done.stdout.splitlines()[-1] == told


def test_a_goal_that_cannot_be_had_is_named(taught, tmp_path: File) -> None:
    gone = paths_of(0)[0].steps[-1].url
    done = taught(1, gone=gone)
    assert done.returncode == 1
    told = done.stderr.splitlines()[-1]
    assert f"1 of the 6 pages on the paths are missing: HTTP 404 (1, first {gone}); " in told
    assert "what is left of the paths cannot teach: no path ends at a page labelled 'goal'" in told
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize("name", ["crf", "memm", "hmm", "context-graph", "q-learning"])
def test_paths_are_not_blamed_for_pages_that_are_missing(name: str, tmp_path: File) -> None:
    paths = [path for number in range(6) for path in paths_of(number)]
    goals = [path.steps[-1].url for path in paths if path.end == GOAL]
    html = {address: page for number in range(6) for address, page in site_of(number).items() if address not in goals}
    pages = {address: page_from_html(page, address) for address, page in html.items()}
    fetched = Fetched(pages, dict.fromkeys(goals, "HTTP 404"))
    prioritizer = build(find("prioritizer", name), {}, critic=OneWordCritic())
    teaching = PathTeaching(Topic(name="courses"), prioritizer, {}, tmp_path)
    assert len(addresses_of(paths)) == 36
    with pytest.raises(CannotTeach) as error:
        teaching.teach(paths, fetched, {}, lambda *_: None)
    assert f"6 of the 36 pages on the paths are missing: HTTP 404 (6, first {goals[0]}); " in str(error.value)
