"""What is counted for the report agrees with the items and with the crawl's own statistics."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from focused.frontier.records import read_records
from focused.frontier.store import Outcome
from focused.report.figures import Figures
from focused.report.job_source import JobSource
from focused.testing.crawl import CrawlResult


@pytest.fixture
def figures(records: sqlite3.Connection) -> Figures:
    return Figures(JobSource(records, Path("job")))


def test_pages_harvest_and_duplicates_are_those_of_the_crawl(figures: Figures, crawl: CrawlResult) -> None:
    assert figures.pages == crawl.stats["focused/page/judged"] == 16
    assert figures.harvest == pytest.approx(crawl.stats["focused/relevance/sum"] / 16)
    assert figures.duplicates == crawl.stats["focused/page/duplicates"] == 1
    assert figures.found == sum(item["relevance"] >= 0.5 for item in crawl.items)


def test_every_way_to_end_is_counted(figures: Figures, records: sqlite3.Connection) -> None:
    assert set(figures.outcomes) >= {
        Outcome.PAGE,
        Outcome.DUPLICATE,
        Outcome.DEAD,
        Outcome.DENIED,
        Outcome.NOT_HTML,
        Outcome.REDIRECT,
    }
    assert dict(JobSource(records, Path("job")).details(Outcome.DEAD, 5))["404"] == figures.outcomes[Outcome.DEAD]


def test_the_curve_ends_at_the_harvest_of_all_pages(figures: Figures) -> None:
    now, so_far = figures.curve()
    assert so_far[-1] == pytest.approx((16, figures.harvest), abs=1e-4)
    assert now[-1] == so_far[-1]  # fewer pages than "now" looks back on


def test_a_long_crawl_is_drawn_with_some_hundred_points(figures: Figures) -> None:
    figures.relevance = figures.relevance.repeat(1_000)
    now, so_far = figures.curve()
    assert len(now) == len(so_far) <= 400
    assert now[-1][1] == pytest.approx(figures.relevance[-100:].mean(), abs=1e-4)


def test_every_page_stands_in_the_histogram_once(figures: Figures) -> None:
    histogram = figures.histogram()
    assert len(histogram) == 20
    assert sum(count for _, count in histogram) == 16


def test_hosts_have_their_pages_and_what_waits(figures: Figures) -> None:
    hosts, total = figures.hosts(10)
    assert total == 2
    assert {line.name for line in hosts} == {"a.example", "b.example"}
    assert sum(line.pages for line in hosts) == 16
    assert sum(line.waiting for line in hosts) == figures.waiting > 0
    assert figures.hosts(1)[0] == hosts[:1]


def test_samples_are_of_pages_that_are_new(figures: Figures, crawl: CrawlResult) -> None:
    best, latest, some = figures.best(3), figures.latest(3), figures.some(3)
    expected = sorted((item["relevance"] for item in crawl.items), reverse=True)[:3]
    assert [line.relevance for line in best] == pytest.approx(expected, abs=1e-6)
    assert [line.url for line in latest] == [item["url"] for item in crawl.items[:-4:-1]]
    assert some == figures.some(3)
    assert len({line.order for line in figures.some(100)}) == len(crawl.items)


def test_a_job_without_pages_has_figures_too(empty_job: Path) -> None:
    figures = Figures(JobSource(read_records(empty_job), empty_job))
    assert (figures.pages, figures.found, figures.harvest) == (0, 0, 0.0)
    assert figures.curve() == ([], [])
    assert figures.best(3) == figures.latest(3) == figures.some(3) == []
