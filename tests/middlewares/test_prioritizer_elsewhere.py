"""The prioritizer middleware in somebody else's project: their spider, with our scheduler and with Scrapy's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import focused
from focused.frontier.records import read_records
from focused.lab.site.reply import Reply, linking
from focused.lab.site.server import SiteServer

SPIDER = """
import scrapy


class TheirSpider(scrapy.Spider):
    name = "theirs"

    async def start(self):
        yield scrapy.Request("http://hub.example/", headers={"X-Own": "yes"})

    def parse(self, response):
        yield {"url": response.url}
        for anchor in response.css("a"):
            yield response.follow(anchor, callback=self.parse_page, cb_kwargs={"how": "followed"})
        if response.url.endswith("hub.example/"):
            yield scrapy.Request("http://own.example/first", callback=self.parse_page, priority=5000,
                                 meta={"kept": object()}, cb_kwargs={"how": "own"})

    def parse_page(self, response, how):
        yield {"url": response.url, "how": how, "priority": response.request.priority}
"""

HANDS_ON = """
import scrapy


class HandsOnSpider(scrapy.Spider):
    name = "hands on"
    start_urls = ["http://hub.example/"]

    def parse(self, response):
        yield {"url": response.url}
        if response.url.endswith("hub.example/"):
            for anchor in response.css("a"):
                yield response.follow(anchor, meta=response.meta)
"""

ON = "A star is seen through a telescope, and a galaxy is seen as many stars. "
OFF = "Simmer the onions in butter until they are soft, then add flour and milk to make a smooth sauce. "
STOCK = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}
OURS = {"SCHEDULER": "focused.scheduling.scheduler.FrontierScheduler"}


def site() -> dict[str, Reply]:
    anchors = {"a": "simmer the onions", "b": "a galaxy of stars", "c": "fold in the flour"}
    links = "".join(f"<p><a href='http://h.example/{name}'>{text}</a></p>" for name, text in anchors.items())
    hub = Reply(body=f"<p>{OFF * 10} One star.</p>{links}".encode(), headers={"Content-Type": "text/html"})
    pages = {f"http://h.example/{name}": linking(text=text * 5) for name, text in anchors.items()}
    return {"http://hub.example/": hub, "http://own.example/first": linking(text=ON), **pages}


def crawl(
    folder: Path, settings: dict[str, str], spider: str = SPIDER
) -> tuple[list[dict[str, object]], list[str], str]:
    (folder / "spider.py").write_text(spider)
    own = {
        "FOCUSED_TOPIC": str(topic(folder)),
        "FOCUSED_PRIORITIZER": "apprentice",
        "SPIDER_MIDDLEWARES": json.dumps({"focused.middlewares.prioritizer.PrioritizerMiddleware": 10}),
        "CONCURRENT_REQUESTS": "1",
        "REMOTE_CONTROL_ENABLED": "False",
        "COOKIES_ENABLED": "False",
        "TELNETCONSOLE_ENABLED": "False",
        **settings,
    }
    options = [part for name, value in own.items() for part in ("-s", f"{name}={value}")]
    # Reading our project's settings in this process, as other tests do, leaves SCRAPY_SETTINGS_MODULE behind.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
    with SiteServer(site()) as server:
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-o", "items.jsonl", *options],
            cwd=folder,
            env={**environment, "http_proxy": server.url, "PYTHONPATH": str(Path(focused.__file__).parents[1])},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        fetched = [visit.url for visit in server.visits]
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    return items, fetched, done.stderr


def topic(folder: Path) -> Path:
    path = folder / "stars.toml"
    path.write_text('name = "stars"\nkeywords = ["star", "galaxy", "telescope"]\nseeds = ["http://hub.example/"]\n')
    return path


@pytest.mark.parametrize("scheduler", [STOCK, OURS], ids=["stock scheduler", "our scheduler"])
def test_links_of_a_page_get_their_score_added_and_come_in_that_order(tmp_path, scheduler):
    items, fetched, _ = crawl(tmp_path, scheduler)
    assert len(items) == 5
    assert fetched[0] == "http://hub.example/"
    assert fetched[1] == "http://own.example/first", "their own priority of 5,000 stands above any score"
    assert fetched[2] == "http://h.example/b", "the anchor that speaks of the topic comes before those that do not"
    assert set(fetched[3:]) == {"http://h.example/a", "http://h.example/c"}


@pytest.mark.parametrize("frontier", ["sqlite", "redis"])
def test_their_callbacks_arguments_and_what_cannot_be_written_survive_our_scheduler(tmp_path, redis, frontier):
    own = {"JOBDIR": "job", "FOCUSED_FRONTIER": frontier, "REDIS_URL": redis.url}
    items, _, log = crawl(tmp_path, {**OURS, **own})
    assert {item["url"]: item.get("how") for item in items}["http://own.example/first"] == "own"
    assert {item.get("how") for item in items} == {None, "own", "followed"}
    assert "cannot be written to the job" in log, "an object in a request's meta is told, once"


@pytest.mark.parametrize("scheduler", [STOCK, OURS], ids=["stock scheduler", "our scheduler"])
def test_a_spider_that_hands_on_the_meta_of_a_response_loses_nothing(tmp_path, scheduler):
    items, fetched, _ = crawl(tmp_path, {**scheduler, "JOBDIR": "job"}, HANDS_ON)
    assert len(items) == 4
    assert fetched[0] == "http://hub.example/"
    assert sorted(fetched[1:]) == [f"http://h.example/{name}" for name in "abc"]
    if scheduler is OURS:
        with closing(read_records(tmp_path / "job")) as records:
            bases = dict(map(tuple, records.execute("SELECT url, base >= 4 FROM links")))
        assert bases == {url: url == "http://hub.example/" for url in fetched}, "seeds are those that were begun with"


def test_without_a_topic_the_middleware_steps_aside_without_a_word(tmp_path):
    _, fetched, log = crawl(tmp_path, {**STOCK, "FOCUSED_TOPIC": ""})
    assert len(fetched) == 5
    assert "Disabled" not in log
