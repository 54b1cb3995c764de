"""The built wheel in a project of somebody else's: a CrawlSpider with dataclass items learns where its topic is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focused.lab.demo.web import GeneratedWeb
from focused.lab.demo.webs import make_web
from focused.lab.site.server import SiteServer
from tests.installed import Environment, build, clone
from tests.project.foreign import ForeignProject, Ran

PAGES = 200
OURS = "focused.scheduling.scheduler.FrontierScheduler"
SCRAPYS = "scrapy.core.scheduler.Scheduler"
SCHEDULERS = pytest.mark.parametrize("scheduler", [OURS, SCRAPYS], ids=["our frontier", "Scrapy's scheduler"])

Done = tuple[ForeignProject, Ran]


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return make_web("demo", pages=1_500)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel, from which nothing points at this project."""
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = build(clone(folder / "clone")).glob("*.whl")
    environment = Environment(folder / "env")
    environment.install(wheel)
    return environment


@pytest.fixture(scope="module")
def crawl(web: GeneratedWeb, installed: Environment, tmp_path_factory: pytest.TempPathFactory):
    """Crawl the web in a project of its own, made anew."""

    def run(*options: object) -> Done:
        folder = tmp_path_factory.mktemp("news")
        python = str(installed.bin / "python")
        project = ForeignProject.make(folder, web.seeds["root"], python=python, path="")
        with SiteServer(web.pages) as site:
            ran = project.scrapy("crawl", "articles", "-O", "items.jsonl", *options, site=site)
        assert ran.code == 0, ran.log[-3_000:]
        assert "Traceback" not in ran.log
        return project, ran

    return run


@pytest.fixture(scope="module")
def topic(web: GeneratedWeb) -> list[object]:
    return ["-a", f"topic={', '.join(web.keywords)}", "-s", "JOBDIR=job", "-s", "FOCUSED_STATS_FILE=stats.json"]


@pytest.fixture(scope="module")
def crawls(crawl, topic: list[object]) -> dict[str, Done]:
    """The same spider without a topic, and with one under either scheduler."""
    limit = ["-s", f"FOCUSED_STOP_PAGES={PAGES}"]
    with_topic = {name: crawl(*topic, *limit, "-s", f"SCHEDULER={name}") for name in (OURS, SCRAPYS)}
    # It counts error pages, too.
    return {"": crawl("-s", f"CLOSESPIDER_PAGECOUNT={PAGES + 40}"), **with_topic}


def found(web: GeneratedWeb, ran: Ran) -> int:
    """How many of the first pages that it fetched are on the topic, by the labels of the web."""
    return len(set(ran.fetched[:PAGES]) & set(web.targets))


@SCHEDULERS
def test_it_finds_twice_what_the_spider_finds_by_itself(web: GeneratedWeb, crawls: dict[str, Done], scheduler: str):
    alone, ours = found(web, crawls[""][1]), found(web, crawls[scheduler][1])
    assert alone >= 5
    assert ours >= 15
    assert ours >= 2 * alone


@SCHEDULERS
def test_it_learns_and_stops_at_its_limit(crawls: dict[str, Done], scheduler: str):
    project, ran = crawls[scheduler]
    stats = project.stats(ran)
    assert stats["focused/lesson/count"] > 0
    assert stats["focused/training/batches"] > 0
    assert stats["focused/stopped_by"] == f"{PAGES} pages fetched"
    assert PAGES <= stats["focused/job/pages"] <= PAGES + 10, "those under way are finished"


@SCHEDULERS
def test_items_are_the_spiders_own_with_the_verdict_where_they_have_a_field_for_it(
    crawls: dict[str, Done], scheduler: str
):
    project, _ = crawls[scheduler]
    items = [json.loads(line) for line in (project.folder / "items.jsonl").read_text().splitlines()]
    assert {frozenset(item) for item in items} == {frozenset({"url", "heading", "relevance"})}
    assert all(0 <= item["relevance"] <= 1 for item in items)


def test_it_stops_when_enough_is_found(crawl, topic: list[object]):
    project, ran = crawl(*topic, "-s", "FOCUSED_STOP_FOUND=12")
    stats = project.stats(ran)
    assert stats["focused/stopped_by"] == "12 relevant pages found"
    assert stats["focused/job/found"] >= 12
    assert stats["focused/job/pages"] < PAGES


@SCHEDULERS
def test_status_report_and_why_tell_of_it(crawls: dict[str, Done], scheduler: str, tmp_path: Path):
    project, ran = crawls[scheduler]
    status = project.scrapy("status", "job", "--json")
    assert status.code == 0, status.log
    figures = json.loads(status.output)
    assert figures["pages"] >= PAGES
    assert figures["state"] == "ended"
    assert project.stats(ran)["focused/report/path"].endswith("report.html"), "written when the crawl ended"
    why = project.scrapy("why", ran.fetched[100], "--job", "job")
    assert why.code == 0, why.log
    assert ran.fetched[100] in why.output
    report = project.scrapy("report", "job", "--out", tmp_path / "report.html")
    assert report.code == 0, report.log
    assert "astronomy" in (tmp_path / "report.html").read_text("utf-8")
