"""What somebody said of pages: how often, in `scrapy status`, the report and `scrapy why`."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from pathlib import Path

import pytest
from lxml import html

from focused.report.html import render_report
from focused.report.job_reader import JobReader
from focused.report.status import status_lines, wilson
from focused.report.why import explain_link

TIME = "2026-01-01T00:00:00+00:00"


def answered(copy: sqlite3.Connection, job: Path, *answers: tuple[str, float]) -> JobReader:
    """The job, when somebody has said something of its pages, one after the other."""
    links = [row["link"] for row in copy.execute("SELECT link FROM pages WHERE outcome = 1 ORDER BY seq")]
    rows = [(link, said, "me", TIME, before) for link, (said, before) in zip(links, answers, strict=False)]
    copy.executemany("INSERT INTO answers(link, said, who, time, relevance) VALUES (?, ?, ?, ?, ?)", rows)
    return JobReader(copy, job)


def test_nothing_is_shown_where_nobody_said_anything(reader: JobReader) -> None:
    assert reader.status().answers is None
    assert not any(line.startswith("  answers") for line in status_lines(reader.status()))
    assert "answered yes / no" not in render_report(reader)


def test_answers_are_counted_and_so_are_found_pages_that_are_wanted(copy: sqlite3.Connection, job: Path) -> None:
    reader = answered(copy, job, ("yes", 0.9), ("no", 0.7), ("yes", 0.2), ("unknown", 0.9), ("yes", 0.6))
    status = reader.status()
    assert status.answers is not None
    assert asdict(status.answers) == {"yes": 3, "no": 1, "unknown": 1, "found": 3, "found_wanted": 2}
    precision = "2 of 3 found ones are wanted (21% to 94% of all found, if these were drawn at random)"
    words = f"3 yes, 1 no, 1 unknown; {precision}"
    assert f"  answers      {words}" in list(status_lines(status))
    told = " ".join(" ".join(html.fromstring(render_report(reader)).itertext()).split())
    assert "3 / 1 answered yes / no, 1 unknown; 2 of 3 found ones are wanted (21% to 94% of all found" in told


def test_the_last_answer_about_a_page_counts(copy: sqlite3.Connection, job: Path) -> None:
    answered(copy, job, ("yes", 0.9), ("no", 0.7), ("no", 0.1))
    reader = answered(copy, job, ("nothing", 0.9), ("yes", 0.05))
    status = reader.status()
    assert status.answers is not None
    assert status.answers.in_words() == "1 yes, 1 no"
    answered(copy, job, *[("nothing", 0.5)] * 3)
    assert reader.status().answers is None


def test_the_story_of_a_page_has_what_was_said_of_it(copy: sqlite3.Connection, job: Path) -> None:
    reader = answered(copy, job, ("yes", 0.9), ("no", 0.7), ("unknown", 0.9), ("nothing", 0.4))
    links = [row["url"] for row in copy.execute("SELECT url FROM pages WHERE outcome = 1 ORDER BY seq LIMIT 4")]
    said = [[line for line in explain_link(reader, url) if line.startswith("me ")] for url in links]
    assert said == [
        ["me said that it is wanted."],
        ["me said that it is not wanted."],
        ["me did not know whether it is wanted."],
        [],
    ]


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (20, 27, 0.553, 0.868), (1, 1, 0.207, 1.0)],
)
def test_the_interval_of_a_share_is_wilsons(hits: int, count: int, low: float, high: float) -> None:
    assert wilson(hits, count) == pytest.approx((low, high), abs=0.001)
