"""A whole crawl of the demonstration web: it finds its pages, and steps into none of the traps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from focused.lab.demo.web import GeneratedWeb
from focused.lab.demo.webs import make_web
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.server import SiteServer

PAGES = 250


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return make_web("demo", pages=1_500)


@pytest.fixture(scope="module")
def crawls(
    web: GeneratedWeb, topic_file, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[CrawlResult, SiteServer]]:
    """One crawl with each prioritizer, from pages far from the topic."""
    topic, models, done = topic_file(web), tmp_path_factory.mktemp("models"), {}
    for prioritizer in ("breadth-first", "focused"):
        seeds = ",".join(web.seeds["far"])
        arguments = {"topic": topic, "seeds": seeds, "pages": PAGES, "prioritizer": prioritizer}
        settings = {"FOCUSED_MODELS": models, "CONCURRENT_REQUESTS": 4}
        with SiteServer(web.pages) as site:
            folder: Path = tmp_path_factory.mktemp(prioritizer)
            result = run_crawl(arguments, folder=folder, site=site, settings=settings)
        assert result.exit_code == 0, result.log[-2_000:]
        done[prioritizer] = result, site
    return done


@pytest.fixture(params=["breadth-first", "focused"])
def crawled(crawls, request: pytest.FixtureRequest) -> tuple[CrawlResult, SiteServer]:
    return crawls[request.param]


def targets_found(web: GeneratedWeb, result: CrawlResult) -> int:
    return len(set(web.targets) & set(result.fetched))


def test_the_default_prioritizer_finds_more_than_breadth_first(web: GeneratedWeb, crawls):
    found = {name: targets_found(web, result) for name, (result, _) in crawls.items()}
    assert found["focused"] > 1.7 * found["breadth-first"]
    assert found["focused"] > 0.3 * len(web.targets)


def test_stops_after_the_pages_it_was_given(crawled):
    result, _ = crawled
    assert len(result.items) <= PAGES
    # What was under way when the last page came in, and what is fetched but is no page of its own, comes on top.
    assert len(result.items) > 0.9 * PAGES


def test_items_tell_what_was_promised(crawled):
    result, _ = crawled
    for item in result.items:
        assert {"url", "title", "relevance", "class", "depth", "parent", "order", "score", "time"} <= set(item)
        assert 0 <= item["relevance"] <= 1
    orders = [item["order"] for item in result.items]
    assert len(set(orders)) == len(orders)


def test_what_robots_txt_denies_is_never_fetched(crawled):
    _, site = crawled
    assert not [visit.url for visit in site.visits if visit.path.startswith(("/private/", "/search"))]
    asked = Counter(visit.host for visit in site.visits if visit.path == "/robots.txt")
    assert set(asked) == {visit.host for visit in site.visits}
    assert max(asked.values()) == 1


def test_hosts_are_asked_one_thing_at_a_time(crawled):
    _, site = crawled
    assert max(site.most_at_once(visit.host) for visit in site.visits) == 1


def test_nothing_is_fetched_twice_but_what_redirects_in_a_circle(crawled):
    _, site = crawled
    times = Counter(url for url in site.fetched(status=None) if "round" not in url)
    assert max(times.values()) == 1


def test_the_same_content_is_written_once(web: GeneratedWeb, crawled):
    result, _ = crawled
    bodies = Counter(web.pages[item["url"]].body for item in result.items)
    assert max(bodies.values()) == 1


def test_only_html_is_written(crawled):
    result, _ = crawled
    assert not [item["url"] for item in result.items if item["url"].endswith(".pdf")]


def test_redirects_lead_to_items_under_the_last_address(web: GeneratedWeb, crawled):
    result, site = crawled
    assert any(visit.status in {301, 302} for visit in site.visits)
    assert all(web.pages[item["url"]].status == 200 for item in result.items)


def test_circles_of_redirects_end(crawled):
    _, site = crawled
    circles = Counter(visit.host for visit in site.visits if "round" in visit.path)
    assert all(count <= 25 for count in circles.values())


def test_the_critic_is_right_about_most_pages(web: GeneratedWeb, crawled):
    result, _ = crawled
    right = [(item["relevance"] > 0.5) == (web.classes[item["url"]] == "stars") for item in result.items]
    assert sum(right) > 0.9 * len(right)
