"""The project on a real scrapyd: deploy, schedule, logs, items, cancel, go on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from focused.lab.demo.web import GeneratedWeb
from focused.lab.site.server import SiteServer
from tests.scrapyd.daemon import Scrapyd, documented_conf

WORDS = "star galaxy telescope"
# Seconds between two pages of a host: a crawl that is to be stopped half way takes most of a minute.
SLOW = 3


def first(web: GeneratedWeb) -> str:
    return next(iter(web.pages))


def items(scrapyd: Scrapyd, jobid: str) -> list[dict[str, Any]]:
    url = f"/items/focused/focused/{jobid}.jl"
    return [json.loads(line) for line in scrapyd.text(url).splitlines()]


def read_items(folder: Path, jobid: str) -> list[dict[str, Any]]:
    text = (folder / "items" / "focused" / "focused" / f"{jobid}.jl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_the_egg_is_taken_and_its_spider_listed(scrapyd: Scrapyd, egg: Path):
    assert scrapyd.deploy(egg)["spiders"] == 1
    assert scrapyd.get("listspiders", project="focused")["spiders"] == ["focused"]
    assert scrapyd.get("listversions", project="focused")["versions"] == ["1"]


def test_a_shipped_topic_with_arguments_and_settings(scrapyd: Scrapyd, site: SiteServer, web: GeneratedWeb):
    seen = len(site.visits)
    agent = "focused (+mailto:webmaster@focused.example)"
    scrapyd.schedule(
        "shipped",
        topic="astronomy", seeds=first(web), pages="20", depth="3", settings={"USER_AGENT": agent},
    )  # fmt: skip
    job = scrapyd.finish("shipped")
    log = scrapyd.text(job["log_url"])
    assert "The crawl ended: 20 pages fetched" in log
    assert "Traceback" not in log
    found = items(scrapyd, "shipped")
    assert job["items_url"] == "/items/focused/focused/shipped.jl"
    assert len(found) >= 20
    assert max(item["depth"] for item in found) <= 3
    assert {visit.headers["user-agent"] for visit in site.visits[seen:]} == {agent}
    assert (scrapyd.folder / "jobs" / "focused" / "focused" / "shipped" / "report.html").exists()


def test_a_cancelled_job_ends_in_order_and_goes_on_under_its_id(scrapyd: Scrapyd, site: SiteServer, web: GeneratedWeb):
    seen = len(site.visits)
    settings = {"CONCURRENT_REQUESTS": 4, "ROBOTSTXT_OBEY": False}

    def start(delay: float) -> None:
        scrapyd.schedule("twice", topic=WORDS, seeds=first(web), settings={**settings, "DOWNLOAD_DELAY": delay})

    start(SLOW)
    scrapyd.wait(lambda: len(site.visits) > seen + 12, "nothing is fetched")
    [running] = scrapyd.jobs("running", "twice")
    assert running["pid"]
    # The same id once more, while it runs: the second is refused and leaves the first alone.
    start(0)
    assert "is in use by another crawl" in scrapyd.text(scrapyd.finish("twice")["log_url"])
    assert scrapyd.cancel("twice")["prevstate"] == "running"
    log = scrapyd.text(scrapyd.finish("twice", times=2)["log_url"])
    assert "it was interrupted; run the same command again to resume it" in log
    before = site.fetched(since=seen)
    # Requests that came in when it was told to end are answered, and their items are written.
    assert Counter(before) == Counter(item["url"] for item in items(scrapyd, "twice"))
    assert 12 < len(before) < len(web.pages)

    start(0)
    log = scrapyd.text(scrapyd.finish("twice", times=3)["log_url"])
    assert "The crawl ended: no link is left to follow" in log
    assert "Traceback" not in log
    everything = Counter(site.fetched(since=seen))
    assert everything == Counter(web.pages.keys())
    assert Counter(item["url"] for item in items(scrapyd, "twice")) == everything

    # Log and items may be deleted by scrapyd: the job has them all.
    scrapyd.run("export", scrapyd.path("jobs", "focused", "focused", "twice"), "-o", scrapyd.path("all.jsonl"))
    exported = (scrapyd.folder / "all.jsonl").read_text(encoding="utf-8").splitlines()
    assert Counter(json.loads(line)["url"] for line in exported) == everything


@pytest.mark.parametrize(
    ("jobid", "arguments", "reason"),
    [
        ("no-topic", {"topic": "nosuch.toml"}, "nosuch.toml"),
        ("bad-limit", {"topic": "chess", "pages": "many"}, "'many' is not a whole number above 0"),
        (
            "dead-seed",
            {"topic": "chess", "seeds": "http://nowhere.example/"},
            "the seed http://nowhere.example/ was not crawled",
        ),
    ],
)
def test_why_a_job_failed_stands_in_its_log(scrapyd: Scrapyd, jobid: str, arguments: dict[str, str], reason: str):
    scrapyd.schedule(jobid, **arguments)
    log = scrapyd.text(scrapyd.finish(jobid)["log_url"])
    assert reason in log
    assert " ERROR: " in log
    assert "Traceback" not in log


def test_jobs_end_with_the_service_and_go_on_when_it_is_back(
    tmp_path: Path, site: SiteServer, web: GeneratedWeb, egg: Path
):
    """``systemctl stop`` sends one SIGTERM to scrapyd and to its crawls. The eggs, and what waits, stay."""
    seen = len(site.visits)
    settings = {"CONCURRENT_REQUESTS": 4, "ROBOTSTXT_OBEY": False}
    conf = documented_conf().replace("max_proc = 2", "max_proc = 1")
    with Scrapyd(tmp_path, site.url, conf=conf) as first_life:
        first_life.deploy(egg)
        first_life.schedule("long", topic=WORDS, seeds=first(web), settings={**settings, "DOWNLOAD_DELAY": SLOW})
        first_life.schedule("waits", topic=WORDS, seeds=first(web), pages="5", settings=settings)
        first_life.schedule("dropped", topic=WORDS, seeds=first(web), settings=settings)
        first_life.wait(lambda: len(site.visits) > seen + 12, "nothing is fetched")
        assert first_life.jobs("pending", "waits")
        assert first_life.cancel("dropped")["prevstate"] == "pending"
    log = (tmp_path / "logs" / "focused" / "focused" / "long.log").read_text(encoding="utf-8")
    assert "it was interrupted; run the same command again to resume it" in log
    assert Counter(site.fetched(since=seen)) == Counter(item["url"] for item in read_items(tmp_path, "long"))

    with Scrapyd(tmp_path, site.url, conf=conf) as second_life:
        second_life.finish("waits")
        marker = len(site.visits)
        second_life.schedule("long", topic=WORDS, seeds=first(web), settings=settings)
        log = second_life.text(second_life.finish("long")["log_url"])
        assert not second_life.jobs("finished", "dropped")
    assert "The crawl ended: no link is left to follow" in log
    assert Counter(item["url"] for item in read_items(tmp_path, "long")) == Counter(web.pages.keys())
    assert 0 < len(site.fetched(since=marker)) < len(web.pages)
