"""Spiders of somebody else's: any spider, any item, our scheduler and Scrapy's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

import focused
from focused.frontier.records import read_records
from focused.frontier.store import Outcome
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer
from focused.report.job_reader import JobReader

SCRIPT = Path(__file__).with_name("foreign_crawls.py")
SCHEDULERS = {"ours": "focused.scheduling.scheduler.FrontierScheduler", "stock": "scrapy.core.scheduler.Scheduler"}
SPIDERS = ("plain", "rules", "map")
KINDS = ("dict", "item", "dataclass", "frozen", "attrs", "pydantic")
HUB = "http://hub.example/"
PAGES = 12
ON = "A star is seen through a telescope, and a galaxy is seen as many stars. "
OFF = "Simmer the onions in butter until they are soft, then add flour and milk to make a smooth sauce. "
SETTINGS: dict[str, Any] = {
    "ADDONS": {"focused.Addon": 500},
    "FOCUSED_TRAIN_EVERY": 2,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": True,
}


def page(*links: str, text: str) -> str:
    """A page with links; their addresses are not among its words."""
    anchors = "".join(f'<p><a href="{link}">next</a></p>' for link in links)
    return f"<html><head><title>A page</title></head><body><p>{text}</p>{anchors}</body></html>"


def site() -> dict[str, Any]:
    """A hub that links to all pages; half of them are on the topic; one is gone, three have moved, one is a copy."""
    pages = [f"http://h.example/{n}" for n in range(PAGES)]
    texts = {url: f"{ON if n % 2 else OFF} Number w{n}. " * 3 for n, url in enumerate(pages)}
    linked = {url: page(HUB, pages[(n + 1) % PAGES], text=texts[url]) for n, url in enumerate(pages)}
    others = {
        "http://h.example/gone": Reply(status=404),
        "http://h.example/old": Reply(status=301, headers={"Location": "http://h.example/new"}),
        "http://h.example/again": Reply(status=301, headers={"Location": "http://h.example/3"}),
        "http://h.example/itself": Reply(status=301, headers={"Location": "http://h.example/itself"}),
        "http://h.example/copy": page(HUB, "http://h.example/behind", text=texts[pages[1]]),
    }
    every = [*pages, *others]
    others["http://h.example/new"] = page(HUB, text=f"{OFF} It is new. ")
    places = "".join(f"<url><loc>{url}</loc></url>" for url in [HUB, *pages])
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    return {
        HUB: page(*every, text=f"{ON} {OFF}"),
        f"{HUB}sitemap.xml": Reply(body=sitemap.encode(), headers={"Content-Type": "application/xml"}),
        **linked,
        **others,
    }


class Crawled:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        lines = (folder / "items.jsonl").read_text().splitlines()
        self.items = [json.loads(line) for line in lines]
        self.stats = json.loads((folder / "stats.json").read_text())

    def status_pages(self) -> int:
        """What `scrapy status` says."""
        with JobReader.open(self.folder / "job") as reader:
            return reader.status().pages

    def exported(self) -> list[dict[str, Any]]:
        """What `scrapy export` writes."""
        with JobReader.open(self.folder / "job") as reader:
            return list(reader.items())

    def rows(self, sql: str) -> list[Any]:
        with closing(read_records(self.folder / "job")) as records:
            return [tuple(row) for row in records.execute(sql)]


@pytest.fixture
def crawl_all(tmp_path: Path):
    """Crawl by several foreign spiders in one process; requests that wait for the next start know their proxy."""
    with SiteServer(site()) as server:
        yield partial(_crawl_all, tmp_path, server)


def _crawl_all(
    tmp_path: Path, server: SiteServer, crawls: dict[str, tuple[str, str]], *, kill_after: int = 0, **settings: Any
) -> dict[str, Crawled]:
    topic = tmp_path / "stars.toml"
    topic.write_text(f'name = "stars"\nkeywords = ["star", "galaxy", "telescope"]\nseeds = ["{HUB}"]\n')
    orders = {
        "settings": {**SETTINGS, "FOCUSED_TOPIC": str(topic), **settings},
        "crawls": {str(tmp_path / name): what for name, what in crawls.items()},
    }
    (tmp_path / "orders.json").write_text(json.dumps(orders))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(tmp_path / "orders.json")],
        cwd=tmp_path,
        env={**environment, "http_proxy": server.url, "PYTHONPATH": str(Path(focused.__file__).parents[1])},
        stderr=subprocess.PIPE,
        text=True,
    )
    if kill_after:
        _kill(process, server, kill_after)
        return {}
    _, log = process.communicate(timeout=300)
    assert process.returncode == 0, log[-3000:]
    # Scrapy gives its open connections a second to close; on a busy machine the end and the time limit come at once.
    ours = "".join(record for record in re.split(r"(?m)^(?=\d{4}-)", log) if "AlreadyCalledError" not in record)
    assert "Traceback" not in ours, ours.partition("Traceback")[2][:3000]
    return {name: Crawled(tmp_path / name) for name in crawls}


def _kill(process: subprocess.Popen[str], server: SiteServer, fetches: int) -> None:
    """Kill a crawl, without a warning, after so many fetches."""
    deadline = monotonic() + 120
    while len(server.fetched()) < fetches and monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1][-3000:]
        sleep(0.005)
    process.kill()
    process.communicate()
    assert len(server.fetched()) >= fetches


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_pages_of_any_spider_with_any_item_are_judged_and_teach(crawl_all, scheduler: str) -> None:
    kinds = {f"{spider} {kind}": (spider, kind) for spider, kind in product(SPIDERS, KINDS)}
    for name, crawled in crawl_all(kinds, SCHEDULER=SCHEDULERS[scheduler]).items():
        pages = crawled.rows("SELECT url, relevance, outcome FROM pages")
        assert len(pages) >= PAGES + 1, name
        assert crawled.stats["focused/page/judged"] == len(pages) == crawled.status_pages(), name
        assert crawled.stats["focused/lesson/count"] > 0, name
        assert crawled.stats["focused/training/batches"] > 0, name
        relevance = {url: value for url, value, _ in pages}
        assert min(relevance[f"http://h.example/{n}"] for n in range(1, PAGES, 2)) > 0.5, name
        filled = [item for item in crawled.items if item["relevance"] is not None]
        if name.endswith("frozen"):
            assert not filled, "a frozen item is left alone"
        else:
            assert len(filled) == len(crawled.items), name
            assert all(abs(item["relevance"] - relevance[item["url"]]) < 1e-5 for item in filled), name
        assert "http://h.example/3" in (crawled.folder / "job" / "report.html").read_text(), name
        assert {item["url"] for item in crawled.exported()} == {url for url, _, outcome in pages if outcome == 1}, name


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_dead_links_redirects_and_copies_are_told_apart(crawl_all, scheduler: str) -> None:
    [crawled] = crawl_all({"one": ("plain", "dict")}, SCHEDULER=SCHEDULERS[scheduler]).values()
    outcomes = dict(crawled.rows("SELECT url, outcome FROM links WHERE url LIKE 'http://h.example/%'"))
    assert (outcomes["http://h.example/gone"], outcomes["http://h.example/old"]) == (Outcome.DEAD, Outcome.REDIRECT)
    assert (outcomes["http://h.example/again"], outcomes["http://h.example/3"]) == (Outcome.REDIRECT, Outcome.PAGE)
    assert outcomes["http://h.example/itself"] in {Outcome.OTHER, Outcome.DEAD}
    one, copy = outcomes["http://h.example/1"], outcomes["http://h.example/copy"]
    assert {one, copy} == {Outcome.PAGE, Outcome.DUPLICATE}
    assert ("http://h.example/behind" in outcomes) == (copy == Outcome.PAGE), "a duplicate's links are not followed"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize(("limit", "reason"), [("FOCUSED_STOP_PAGES", "5 pages"), ("FOCUSED_STOP_FOUND", "5 relevant")])
def test_limits_count_the_pages_of_any_spider(crawl_all, scheduler: str, limit: str, reason: str) -> None:
    settings = {limit: 5, "CONCURRENT_REQUESTS": 1, "SCHEDULER": SCHEDULERS[scheduler]}
    [crawled] = crawl_all({"one": ("rules", "dataclass")}, **settings).values()
    assert crawled.stats["focused/stopped_by"].startswith(reason)
    counted = crawled.rows("SELECT count(*), sum(relevance >= 0.5 AND outcome = 1) FROM pages")[0]
    assert 5 <= counted[limit == "FOCUSED_STOP_FOUND"] <= 6


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_crawl_goes_on_with_what_it_has_learned(crawl_all, scheduler: str) -> None:
    settings = {"SCHEDULER": SCHEDULERS[scheduler], "CONCURRENT_REQUESTS": 1}
    [first] = crawl_all({"one": ("plain", "dict")}, FOCUSED_STOP_PAGES=4, **settings).values()
    before = first.rows("SELECT seq, url FROM pages ORDER BY seq")
    [second] = crawl_all({"one": ("plain", "dict")}, **settings).values()
    pages = second.rows("SELECT seq, url FROM pages ORDER BY seq")
    assert 4 <= len(before) < len(pages)
    assert pages[: len(before)] == before
    assert [seq for seq, _ in pages] == list(range(1, len(pages) + 1))
    assert {url for _, url in pages} >= {HUB, *(f"http://h.example/{n}" for n in range(PAGES))}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_crawl_of_any_spider_ends_when_nothing_is_found_any_more(crawl_all, scheduler: str) -> None:
    settings = {"FOCUSED_STOP_DRY": "0.9/3", "CONCURRENT_REQUESTS": 1, "SCHEDULER": SCHEDULERS[scheduler]}
    [crawled] = crawl_all({"one": ("plain", "dict")}, **settings).values()
    assert crawled.stats["focused/stopped_by"].startswith("dried up")
    relevance = [value for (value,) in crawled.rows("SELECT relevance FROM pages WHERE outcome = 1 ORDER BY seq")]
    dry = next(i for i in range(3, PAGES) if sum(relevance[i - 3 : i]) / 3 < 0.9)
    assert dry <= len(relevance) <= dry + 1


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("kill_after", [5, 11])
def test_killed_without_a_warning_it_goes_on_with_what_was_recorded(crawl_all, scheduler: str, kill_after: int) -> None:
    settings = {"SCHEDULER": SCHEDULERS[scheduler], "CONCURRENT_REQUESTS": 2}
    crawl_all({"one": ("plain", "dataclass")}, kill_after=kill_after, **settings)
    if scheduler == "stock":
        # Scrapy's queue may have been cut off within a request. What is fetched again is not recorded again.
        shutil.rmtree(crawl_all.args[0] / "one" / "job" / "requests.queue", ignore_errors=True)
    [again] = crawl_all({"one": ("plain", "dataclass")}, **settings).values()
    pages = again.rows("SELECT url, seq, outcome FROM pages ORDER BY seq")
    assert {url for url, _, _ in pages} >= {HUB, *(f"http://h.example/{n}" for n in range(PAGES))}
    first = [url for url, _, outcome in pages if outcome == Outcome.PAGE]
    assert len(set(first)) == len(first), "start requests are not filtered: a seed that is fetched again is a duplicate"
    assert len({seq for _, seq, _ in pages}) == len(pages)
    assert again.stats["focused/job/pages"] == len(pages) == again.status_pages()
