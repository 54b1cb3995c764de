"""What is counted for the report agrees with the items and with the crawl's own statistics."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

from focused.frontier.store import Outcome
from focused.lab.site.crawl import CrawlResult
from focused.report.figures import PageFigures
from focused.report.job_reader import JobReader
from focused.report.reader import PageTable


@pytest.fixture
def figures(reader: JobReader) -> PageFigures:
    return PageFigures(reader.page_table())


def test_pages_and_duplicates_are_those_of_the_crawl(reader: JobReader, crawl: CrawlResult) -> None:
    table = reader.page_table()
    assert len(table.link) == crawl.stats["focused/page/judged"] == 16
    assert (~table.is_new).sum() == crawl.stats["focused/page/duplicates"] == 1


def test_a_duplicate_counts_in_nothing() -> None:
    table = PageTable(
        link=np.array([1, 2, 3]),
        relevance=np.array([1.0, 1.0, 0.0]),
        is_new=np.array([True, False, True]),
        host=["a", "a", "b"],
        best_class=["bird", "bird", "stone"],
    )
    counted = PageFigures(table)
    assert counted.curve()[1][-1] == (2, 0.5)
    assert [(line.name, line.pages, line.mean) for line in counted.classes(5)] == [("bird", 1, 1.0), ("stone", 1, 0.0)]
    assert [(line.name, line.pages, line.found) for line in counted.hosts({}, 5)[0]] == [("a", 1, 1), ("b", 1, 0)]
    assert sum(count for _, count in counted.histogram()) == 2
    assert counted.latest(5) == [3, 1]


def test_every_way_to_end_is_counted(reader: JobReader) -> None:
    outcomes = reader.status().outcomes
    assert min(outcomes[name] for name in ("page", "duplicate", "dead", "denied", "not_html", "redirect")) > 0
    assert dict(reader.details(Outcome.DEAD, 5))["404"] == outcomes["dead"]


def test_the_curve_ends_at_the_harvest_of_all_pages(figures: PageFigures, crawl: CrawlResult) -> None:
    now, so_far = figures.curve()
    assert so_far[-1] == pytest.approx((15, sum(item["relevance"] for item in crawl.items) / 15), abs=1e-4)
    assert now[-1] == so_far[-1]  # fewer pages than "now" looks back on


def test_a_long_crawl_is_drawn_with_some_hundred_points(figures: PageFigures) -> None:
    figures.relevance = figures.relevance.repeat(1_000)
    now, so_far = figures.curve()
    assert len(now) == len(so_far) <= 400
    assert now[-1][1] == pytest.approx(figures.relevance[-100:].mean(), abs=1e-4)


def test_every_page_stands_in_the_histogram_once(figures: PageFigures) -> None:
    histogram = figures.histogram()
    assert len(histogram) == 20
    assert sum(count for _, count in histogram) == 15


def test_hosts_have_their_pages_and_what_waits(figures: PageFigures, reader: JobReader) -> None:
    waiting = {line.host: line.links for line in reader.status(most_hosts=0).waiting_by_host}
    hosts, total = figures.hosts(waiting, 10)
    assert total == 2
    assert {line.name for line in hosts} == {"a.example", "b.example"}
    assert sum(line.pages for line in hosts) == 15
    assert sum(line.waiting for line in hosts) == reader.status().waiting > 0
    assert figures.hosts(waiting, 1)[0] == hosts[:1]


def test_samples_are_of_pages_that_are_new(figures: PageFigures, reader: JobReader, crawl: CrawlResult) -> None:
    items = sorted(crawl.items, key=itemgetter("order"))
    best, latest = reader.pages(figures.best(3)), reader.pages(figures.latest(3))
    expected = sorted((item["relevance"] for item in items), reverse=True)[:3]
    assert [line.relevance for line in best] == pytest.approx(expected, abs=1e-6)
    assert [line.url for line in latest] == [item["url"] for item in items[:-4:-1]]
    assert figures.some(3) == figures.some(3)
    assert len(set(figures.some(100))) == len(items)
    relevant = sum(item["relevance"] >= 0.5 for item in items)
    assert len(figures.best(100, least=0.5)) == relevant < len(items)


def test_a_job_without_pages_has_figures_too(empty_job: Path) -> None:
    with JobReader.open(empty_job) as reader:
        figures = PageFigures(reader.page_table())
    assert figures.hosts({}, 3) == ([], 0)
    assert figures.curve() == ([], [])
    assert figures.best(3) == figures.latest(3) == figures.some(3) == []
    assert figures.classes(3) == []
