"""A comparison that was interrupted, or that gets more entrants, goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focused.lab.jobs import JobFailed
from focused.lab.plan import read_results
from focused.lab.present import tables
from focused.lab.process import STATS
from tests.lab.test_compare import compare

WRONG = "apprentice:no_such_option=1"


@pytest.fixture(scope="module")
def interrupted(small_web, tmp_path_factory):
    """A comparison in which the second crawl failed."""
    out = tmp_path_factory.mktemp("interrupted")
    with pytest.raises(JobFailed):
        compare(small_web, out, prioritizers=["best-first", WRONG, "random"], fast=True, limits=("bound",), workers=1)
    return out


def stats(out, crawl):
    return (out / "crawls/stars" / crawl / STATS).stat().st_mtime_ns


def test_only_what_is_missing_is_done(small_web, interrupted):
    before = stats(interrupted, "best-first-0")
    results = compare(
        small_web, interrupted, prioritizers=["best-first", "random"], fast=True, limits=("bound",), resume=True
    )
    assert sorted(run.row for run in results.runs) == ["best-first", "bound", "random"]
    assert stats(interrupted, "best-first-0") == before
    assert all(run.share for run in results.runs)
    again = compare(small_web, interrupted, prioritizers=["random"], fast=True, limits=(), resume=True)
    assert again.runs == results.runs == read_results(interrupted).runs


def test_more_entrants_and_topics_join_those_that_are_there(small_web, tmp_path):
    compare(small_web, tmp_path, prioritizers=["best-first"], fast=True, limits=())
    results = compare(
        small_web, tmp_path, topics=["stars@east"], prioritizers=["random"], fast=True, limits=(), resume=True
    )
    assert [run.key for run in results.runs] == [("stars", "best-first", 0), ("stars@east", "random", 0)]
    assert results.plan.prioritizers == ["best-first", "random"]
    *_, (title, _, rows) = tables(results)
    assert title == "mean of 2 topics"
    assert [cells[0] for cells in rows] == ["best-first (1 of 2 crawls)", "random (1 of 2 crawls)"]


def test_a_limit_that_joins_others_is_judged_as_they_were(small_web, tmp_path):
    compare(small_web, tmp_path, prioritizers=[], limits=("foresight",))
    results = compare(small_web, tmp_path, prioritizers=[], limits=("foresight", "bound"), resume=True)
    assert [run.row for run in results.runs] == ["foresight", "bound"]
    assert all(run.figures.loss is not None for run in results.runs)


def test_without_resume_all_is_done_anew(small_web, tmp_path):
    compare(small_web, tmp_path, prioritizers=["best-first", "random"], fast=True, limits=())
    results = compare(small_web, tmp_path, prioritizers=["random"], fast=True, limits=())
    assert [run.row for run in results.runs] == ["random"]


def test_with_nothing_there_resume_is_a_beginning(small_web, tmp_path):
    results = compare(small_web, tmp_path, prioritizers=["random"], fast=True, limits=(), resume=True)
    assert [run.row for run in results.runs] == ["random"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pages": 30}, "it was made with pages 60, not 30; give another --out"),
        ({"start": "on"}, "it was made with start 'root', not 'on'"),
        ({"gammas": (0.3,)}, "it was made with gammas"),
    ],
)
def test_another_plan_is_refused(small_web, interrupted, change, words):
    with pytest.raises(ValueError, match=words):
        compare(small_web, interrupted, prioritizers=["random"], fast=True, limits=(), resume=True, **change)


def test_other_starting_pages_are_refused(small_web, interrupted, tmp_path):
    topics = json.loads(small_web.topics.read_text())
    topics["stars"]["seeds_root"] = small_web.targets[:1]
    file = Path(small_web.topics)
    kept = file.read_bytes()
    try:
        file.write_text(json.dumps(topics))
        with pytest.raises(ValueError, match="topic 'stars' has other starts now"):
            compare(small_web, interrupted, prioritizers=["random"], fast=True, limits=(), resume=True)
    finally:
        file.write_bytes(kept)


def test_results_that_cannot_be_read_are_named(small_web, tmp_path):
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(ValueError, match=r"results\.json: cannot be read as the results"):
        compare(small_web, tmp_path, resume=True)
