"""Crawls in Redis, by real processes on a real server: one worker, several, and what may happen to them."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from focused.lab.demo.bulk import bulk_web
from focused.lab.demo.web import GeneratedWeb
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Worker, Workers
from focused.lab.site.crawl import run_crawl
from focused.lab.site.reply import Reply, linking, redirect
from focused.lab.site.server import SitePage, SiteServer
from focused.redis.reading.reader import open_readers
from focused.redis.reading.status import RedisStatus
from focused.report.figures import PageFigures
from focused.report.job_reader import JobReader
from focused.report.reader import CrawlReader

CONCURRENT = 4
TOPIC = "star galaxy telescope"
SETTINGS = {"ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": CONCURRENT}
# For tests in which a worker is taken for dead; elsewhere leases last so long that a busy machine takes none for that.
SHORT = 4
# Of 240 pages, as many are answered until what is to happen in the middle of a crawl has happened.
MIDDLE = 200


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return bulk_web(240, size=3_000, links=12, hosts=12)


@pytest.fixture
def crawl(tmp_path: Path, redis: RedisServer) -> Iterator[Any]:
    """Workers of one crawl over some pages, and the site that serves them."""
    opened: list[Any] = []

    def open_crawl(
        pages: Mapping[str, SitePage], server: RedisServer = redis, **settings: Any
    ) -> tuple[Workers, SiteServer]:
        site = SiteServer(pages).__enter__()
        arguments = {"topic": TOPIC, "seeds": next(iter(pages))}
        workers = Workers(tmp_path, server, site.url, arguments, {**SETTINGS, **settings})
        opened.extend([workers, site])
        return workers, site

    yield open_crawl
    for each in opened:
        each.__exit__(None, None, None)


def slow(web: GeneratedWeb, seconds: float = 0.05) -> dict[str, SitePage]:
    """The pages of a web, each after a while: so that there is a middle for things to happen in."""
    return {url: Reply(body=page.body, wait=seconds) for url, page in web.pages.items()}


def together(workers: Workers, site: SiteServer, answered: float = inf, **arguments: Any) -> list[Worker]:
    """Two workers that have both joined before the first page is answered."""
    site.answer(0)
    started = workers.start(2, **arguments)
    workers.until(lambda: all(worker.name for worker in started))
    site.answer(answered)
    return started


def fetched_again(site: SiteServer) -> int:
    times = Counter(site.fetched())
    return sum(times.values()) - len(times)


def lost(*workers: Worker) -> int:
    """The links of which workers lost their lease, as they came to nothing for so long on a busy machine."""
    return sum(worker.stats.get("focused/lease/lost", 0) for worker in workers)


# --- one worker, several ---------------------------------------------------------------------------------------------


def reader_of(workers: Workers) -> CrawlReader:
    (reader,) = open_readers(workers.redis.url, CRAWL, Settings())
    return reader


def test_one_worker_finds_what_a_crawl_in_a_file_finds(crawl, web: GeneratedWeb, tmp_path: Path):
    # One that does not learn on the job: when a critic does in a shared crawl depends on the machine.
    critic = {"FOCUSED_CRITIC": "keywords"}
    workers, site = crawl(web.pages, CONCURRENT_REQUESTS=1, **critic)
    (worker,) = workers.start()
    assert workers.wait() == [0], worker.log[-2_000:]
    (tmp_path / "file").mkdir()
    arguments, settings = (
        {"topic": TOPIC, "seeds": next(iter(web.pages))},
        {**SETTINGS, "CONCURRENT_REQUESTS": 1, **critic},
    )
    in_file = run_crawl(arguments, folder=tmp_path / "file", site=site, settings=settings)
    told = ("url", "title", "class", "depth")
    found = [
        sorted(tuple(item[name] for name in told[:3]) for item in items) for items in (worker.items, in_file.items)
    ]
    assert found[0] == found[1]
    assert len(found[0]) == len(web.pages)
    assert worker.stats["focused/job/harvest"] == pytest.approx(in_file.stats["focused/job/harvest"], abs=1e-3)
    assert worker.stats["finish_reason"] == "finished"
    with JobReader.open(tmp_path / "file" / "job") as job, reader_of(workers) as shared:
        one, other = (PageFigures(reader.page_table()) for reader in (shared, job))
        alike = [replace(line, mean=pytest.approx(line.mean)) for line in other.hosts({}, 99)[0]]
        assert one.hosts({}, 99)[0] == alike
        assert one.histogram() == other.histogram()
        assert [(line.name, line.pages) for line in one.classes(9)] == [
            (line.name, line.pages) for line in other.classes(9)
        ]
        standing, expected = shared.status(), job.status()
        assert (standing.pages, standing.relevant) == (expected.pages, expected.relevant)
        assert standing.outcomes == expected.outcomes
        assert standing.waiting == expected.waiting == 0
        assert shared.about()["topic"]["name"] == job.about()["topic"]["name"] == TOPIC


@pytest.mark.parametrize("number", [2, 4])
def test_several_workers_fetch_every_page_once_and_all_end(crawl, web: GeneratedWeb, number: int):
    workers, site = crawl(web.pages)
    workers.start(number)
    assert workers.wait() == [0] * number
    assert Counter(site.fetched()) == Counter(web.pages.keys())
    written = [item["url"] for worker in workers.started for item in worker.items]
    assert sorted(written) == sorted(web.pages)
    orders = sorted(item["order"] for worker in workers.started for item in worker.items)
    assert orders == list(range(1, len(web.pages) + 1))
    assert {worker.stats["finish_reason"] for worker in workers.started} == {"finished"}
    assert (workers.count("waiting"), workers.count("leased")) == (0, 0)


def test_workers_stop_together_when_there_are_pages_enough(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web))
    together(workers, site, pages=100)
    assert workers.wait() == [0, 0]
    assert 100 <= workers.count("pages") <= 100 + CONCURRENT
    assert {worker.stats["finish_reason"] for worker in workers.started} == {"pages"}
    assert len(site.fetched()) <= 100 + CONCURRENT


def test_a_worker_of_a_crawl_that_has_all_it_may_have_leaves_at_once_and_in_order(crawl, web: GeneratedWeb):
    workers, site = crawl(web.pages)
    workers.start(pages=20)
    assert workers.wait() == [0]
    fetched = len(site.fetched())
    for _ in range(2):
        (late,) = workers.start(pages=20)
        assert late.wait() == 0
        assert "the job has 2" in late.log.splitlines()[-1]
        assert "Traceback" not in late.log
        with reader_of(workers) as reader:
            status = reader.status()
        assert isinstance(status, RedisStatus)
        assert (status.state, status.workers) == ("ended", [])
    assert len(site.fetched()) == fetched


def test_workers_stop_together_when_there_are_relevant_pages_enough(crawl):
    good = {f"http://good.example/{n}": linking(text=f"{'star galaxy telescope ' * 20} {n} w{n}") for n in range(4)}
    gone = [f"http://h{n % 20}.example/gone{n}" for n in range(600)]
    hub = linking(*good, *gone, text="soup")
    missing = Reply(status=404, wait=0.1)
    workers, site = crawl({"http://hub.example/": hub, **good, **dict.fromkeys(gone, missing)}, RETRY_ENABLED=False)
    started = together(workers, site, found=4)
    assert workers.wait() == [0, 0]
    assert {worker.stats["finish_reason"] for worker in started} == {"found"}
    assert workers.count("waiting") > 0, "one that finds nothing itself stops, too"


def test_a_crawl_that_was_ended_goes_on_and_one_that_is_done_has_nothing_left(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web))
    site.answer(MIDDLE)
    (first,) = workers.start()
    workers.until(lambda: workers.count("pages") > 40)
    first.signal(signal.SIGINT)
    site.answer()
    assert first.wait() == 0
    assert "run the same command again to resume it" in first.log
    assert workers.count("leased") == 0, "its leases went back at once"
    workers.start()
    assert workers.wait() == [0]
    assert Counter(site.fetched()) == Counter(web.pages.keys())
    workers.start()
    assert workers.wait() == [0]
    assert fetched_again(site) == 0


def test_begins_anew_when_told_to_and_joins_when_others_are_at_work(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web), SCHEDULER_FLUSH_ON_START=True)
    site.answer(MIDDLE)
    workers.start()
    workers.until(lambda: workers.count("pages") > 20)
    (second,) = workers.start()
    workers.until(lambda: second.name)
    site.answer()
    assert workers.wait() == [0, 0]
    assert Counter(site.fetched()) == Counter(web.pages.keys())
    workers.redis.client().delete(f"{{focused:{CRAWL}}}:workers")
    workers.start(pages=30)
    assert workers.wait() == [0]
    assert fetched_again(site) >= 30


# --- what may happen to a worker -------------------------------------------------------------------------------------


def test_a_worker_is_killed_and_nothing_is_lost(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web), FOCUSED_LEASE_SECONDS=SHORT)
    killed, left = together(workers, site, MIDDLE)
    workers.until(lambda: workers.count("pages") > 60)
    killed.kill()
    site.answer()
    assert workers.wait() == [0]
    assert set(site.fetched()) == set(web.pages)
    assert fetched_again(site) <= CONCURRENT + lost(left)
    assert workers.count("pages") == len(web.pages)


def test_all_workers_are_killed_and_the_crawl_is_gone_on_with(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web), FOCUSED_LEASE_SECONDS=SHORT)
    together(workers, site, MIDDLE)
    workers.until(lambda: workers.count("pages") > 60)
    for worker in workers.running:
        worker.kill()
    site.answer()
    (third,) = workers.start()
    assert workers.wait() == [0]
    assert set(site.fetched()) == set(web.pages)
    assert fetched_again(site) <= 2 * CONCURRENT + lost(third)


def test_a_frozen_worker_loses_its_links_to_others_and_harms_nothing_when_it_thaws(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web), FOCUSED_LEASE_SECONDS=SHORT)
    frozen, other = together(workers, site, 60)
    workers.until(lambda: workers.count("leased") == 2 * CONCURRENT)
    frozen.signal(signal.SIGSTOP)
    site.answer(MIDDLE)
    workers.until(lambda: workers.count("taken_back") > 0)
    frozen.signal(signal.SIGCONT)
    site.answer()
    assert workers.wait() == [0, 0]
    assert set(site.fetched()) == set(web.pages)
    assert fetched_again(site) <= lost(frozen, other)
    assert workers.count("pages") == len(web.pages)
    written = Counter(item["url"] for worker in workers.started for item in worker.items)
    assert written.total() - len(written) <= lost(frozen, other), "what it had written, but not told yet"
    with reader_of(workers) as reader:
        items = list(reader.items())
    assert Counter(item["url"] for item in items) == Counter(web.pages.keys())
    assert lost(frozen) > 0
    assert "Links taken back from a worker of which nothing was heard: " in other.log


# --- what may happen to Redis ----------------------------------------------------------------------------------------


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that the test may stop; it loses nothing that it has answered."""
    folder = tmp_path / "redis"
    folder.mkdir()
    with RedisServer(folder, "--appendonly", "yes", "--appendfsync", "always") as server:
        yield server


def test_redis_is_away_for_some_seconds_and_restarts_and_workers_go_on(
    crawl, web: GeneratedWeb, own_redis: RedisServer
):
    workers, site = crawl(slow(web), own_redis)
    started = together(workers, site, MIDDLE)
    workers.until(lambda: workers.count("pages") > 40)
    own_redis.kill()
    workers.until(lambda: all("Redis is away" in worker.log for worker in started))
    time.sleep(2)
    own_redis.start()
    site.answer()
    assert workers.wait() == [0, 0]
    assert Counter(site.fetched()) == Counter(web.pages.keys())
    for worker in workers.started:
        assert worker.log.count("Redis is away") == 1
        assert worker.log.count("Redis is back") == 1
        assert "Traceback" not in worker.log


def test_redis_stays_away_and_a_worker_ends_with_words(crawl, web: GeneratedWeb, own_redis: RedisServer):
    workers, site = crawl(slow(web), own_redis, FOCUSED_LEASE_SECONDS=SHORT, FOCUSED_REDIS_PATIENCE=1)
    site.answer(MIDDLE)
    (worker,) = workers.start()
    workers.until(lambda: workers.count("pages") > 40)
    own_redis.kill()
    site.answer()
    assert worker.wait() == 1
    assert "Redis did not come back within 1 seconds" in worker.log.splitlines()[-1]
    assert "Traceback" not in worker.log
    own_redis.start()
    workers.start()
    assert workers.wait() == [0]
    assert set(site.fetched()) == set(web.pages)
    assert workers.count("pages") == len(web.pages)


def test_a_worker_can_be_ended_while_redis_is_away(crawl, web: GeneratedWeb, own_redis: RedisServer):
    workers, site = crawl(slow(web), own_redis, FOCUSED_LEASE_SECONDS=SHORT)
    site.answer(MIDDLE)
    (worker,) = workers.start()
    workers.until(lambda: workers.count("pages") > 40)
    own_redis.freeze()
    site.answer()
    time.sleep(1)
    worker.signal(signal.SIGINT)
    assert worker.wait() == 1
    assert "ended while Redis was away" in worker.log.splitlines()[-1]
    own_redis.thaw()
    workers.start()
    assert workers.wait() == [0]
    assert set(site.fetched()) == set(web.pages)
    assert workers.count("pages") == len(web.pages)


# --- learning --------------------------------------------------------------------------------------------------------


def test_what_one_learns_all_know_and_when_it_dies_another_learns_on(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web), FOCUSED_LEASE_SECONDS=SHORT)

    def learns_on(answered: float) -> None:
        version = workers.count("model")
        site.answer(answered)
        workers.until(lambda: workers.trainer() and workers.count("model") > version)

    together(workers, site, 0)
    for answered in (40, 80, 120):
        learns_on(answered)
    workers.trainer().kill()
    learns_on(MIDDLE)
    (left,) = workers.running
    site.answer()
    assert workers.wait() == [0]
    assert set(site.fetched()) == set(web.pages)
    assert "This worker is the trainer" in left.log
    assert left.stats["focused/training/loaded"] > 0
    assert left.stats["focused/training/batches"] > 0
    assert left.stats["focused/rescore/count"] > 0


@pytest.mark.parametrize("prioritizer", ["focused", "best-first"])
def test_no_more_links_wait_than_may_and_that_is_told_before(crawl, web: GeneratedWeb, prioritizer: str):
    workers, site = crawl(slow(web), FOCUSED_MOST_WAITING=60)
    together(workers, site, prioritizer=prioritizer)
    most = 0.0

    def has_ended() -> bool:
        nonlocal most
        most = max(most, workers.count("waiting"))
        return not workers.running

    workers.until(has_ended)
    assert 0 < most <= 1.05 * 60 + 1
    assert {worker.code for worker in workers.started} == {0}
    assert workers.count("dropped") > 0
    told = [worker.stats for worker in workers.started if worker.stats.get("focused/crawl/crowded")]
    assert told
    assert max(stats["focused/crawl/dropped"] for stats in told) == workers.count("dropped")
    assert any("FOCUSED_MOST_WAITING=60" in worker.log for worker in workers.started)


# --- seeds -----------------------------------------------------------------------------------------------------------


def test_seeds_that_are_pushed_while_the_crawl_runs_are_fetched(crawl, redis: RedisServer):
    apart = {f"http://apart{n}.example/": linking(text=f"apart {n}") for n in range(4)}
    form = {"http://form.example/find?q=a&q=b": linking(text="found")}
    pages = {f"http://h{n}.example/": linking(f"http://h{n + 1}.example/", text=f"page {n}") for n in range(20)}
    workers, site = crawl({**{url: _after(page, 0.2) for url, page in pages.items()}, **apart, **form})
    together(workers, site, 10)
    workers.until(lambda: workers.count("pages") > 2)
    one, two, three, four = apart
    with redis.client() as client:
        client.rpush("focused:start_urls", one, "no address", "{broken", json.dumps({"title": "no url"}))
        client.rpush("focused:start_urls", json.dumps({"url": two, "meta": {"depth": 1}}), one, three)
        client.rpush(
            "focused:start_urls", json.dumps({"url": "http://form.example/find", "q": ["a", "b"], "method": "get"})
        )
        workers.until(lambda: not client.exists("focused:start_urls"))
        client.rpush("focused:start_urls", four)
    site.answer()
    assert workers.wait() == [0, 0]
    fetched = Counter(site.fetched())
    assert [fetched[url] for url in (*apart, *form)] == [1] * 5
    assert set(pages) - {"http://h20.example/"} <= set(fetched)


def test_workers_wait_for_seeds_after_the_last_page_as_long_as_they_are_told_to(crawl, redis: RedisServer):
    pages = {f"http://h.example/{n}": linking(f"http://h.example/{n + 1}", text=f"page {n}") for n in range(25)}
    late = {"http://late.example/": linking(text="late")}
    slowly = {url: _after(page, 0.3) for url, page in pages.items()}
    workers, _ = crawl({**slowly, **late}, SCHEDULER_IDLE_BEFORE_CLOSE=15)
    (worker,) = workers.start()
    workers.until(lambda: workers.count("pages") == 25)
    with redis.client() as client:
        client.rpush("focused:start_urls", *late)
    assert worker.wait() == 0
    assert [item["url"] for item in worker.items][-1:] == [*late]


def _after(page: Reply, seconds: float) -> Reply:
    return Reply(body=page.body, wait=seconds)


# --- who may take part -----------------------------------------------------------------------------------------------


def test_a_worker_of_another_topic_or_prioritizer_is_refused(crawl, web: GeneratedWeb):
    workers, _ = crawl(slow(web))
    workers.start()
    workers.until(lambda: workers.count("pages") > 0)
    refused = workers.start(topic="soup and carrots") + workers.start(prioritizer="best-first")
    for worker, what in zip(refused, ("topic", "prioritizer"), strict=True):
        assert worker.wait() == 2
        assert f"in Redis was made with {what}" in worker.log.splitlines()[-1]
        assert "FOCUSED_CRAWL" in worker.log.splitlines()[-1]
    workers.start(topic="soup and carrots", FOCUSED_CRAWL="soup", pages=1)
    assert workers.started[-1].wait() == 0, "crawls lie beside one another"


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("FOCUSED_FRONTIER", "postgres", "'postgres' is not known (available: redis, sqlite, or a dotted path)"),
        ("FOCUSED_CRAWL", "a b", "'a b': give letters"),
        ("FOCUSED_LEASE_SECONDS", 0.5, "'0.5' is not a number from 2 to 1000000000"),
        ("FOCUSED_REDIS_PATIENCE", -1, "'-1' is not a number, 0 or more"),
        ("FOCUSED_MOST_WAITING", -1, "'-1' is not a whole number, 0 or more"),
        ("FOCUSED_MOST_WAITING", "many", "'many' is not a whole number"),
        ("REDIS_URL", "http://127.0.0.1", "REDIS_URL=redis://HOST:PORT/DB"),
        ("REDIS_START_URLS_KEY", "%(topic)s:urls", "%(crawl)s"),
    ],
)
def test_a_setting_that_makes_no_sense_is_told_before_anything_is_fetched(crawl, setting: str, value: Any, words: str):
    workers, site = crawl({"http://hub.example/": linking(text="hub")}, **{setting: value})
    (worker,) = workers.start()
    assert worker.wait() == 2
    assert words in worker.log.splitlines()[-1]
    assert setting in worker.log.splitlines()[-1]
    assert "secret" not in worker.log
    assert not site.visits


def test_a_redis_that_is_not_there_may_be_later_and_one_with_a_password_wants_it(
    crawl, web: GeneratedWeb, tmp_path: Path
):
    workers, site = crawl(web.pages)
    (alone,) = workers.start(REDIS_URL="redis://:secret@127.0.0.1:1/0")
    assert alone.wait() == 1, "a supervisor tries again"
    assert "Redis does not answer at redis://127.0.0.1:1/0" in alone.log.splitlines()[-1]
    assert "secret" not in alone.log
    (tmp_path / "locked").mkdir()
    with RedisServer(tmp_path / "locked") as locked, locked.client() as client:
        client.config_set("requirepass", "sesame")
        for url in (locked.url, locked.url.replace("//", "//:guess@")):
            (refused,) = workers.start(REDIS_URL=url)
            assert refused.wait() == 2
            assert "wants another name or password" in refused.log.splitlines()[-1]
    assert not site.visits


def test_a_crawl_of_others_is_not_begun_anew_while_they_are_at_work(crawl, web: GeneratedWeb):
    workers, site = crawl(slow(web))
    site.answer(MIDDLE)
    workers.start()
    workers.until(lambda: workers.count("pages") > 0)
    (refused,) = workers.start(topic="soup and carrots", SCHEDULER_FLUSH_ON_START=True)
    assert refused.wait() == 2
    assert "when nobody is at work on it" in refused.log.splitlines()[-1]
    assert "Traceback" not in refused.log


# --- pace ------------------------------------------------------------------------------------------------------------


def keeps(site: SiteServer, host: str, delay: float) -> bool:
    """Do a host's requests come with this delay? Any may be late, and the next one seem early; all together may not."""
    gaps = site.gaps(host)
    return sum(gaps) > delay * (len(gaps) - 2)


def many_of(hosts: int, pages: int, **replies: Reply) -> dict[str, SitePage]:
    """Hosts whose pages all link to one another."""
    urls = [f"http://h{n % hosts}.example/{n}" for n in range(pages)]
    return {url: linking(*urls, text=f"page {n}") for n, url in enumerate(urls)}


def in_turn(workers: Workers, site: SiteServer) -> None:
    """Two workers with one request at a time: both have one before any is answered."""
    together(workers, site, 0, seeds="http://h0.example/0 http://h1.example/3", CONCURRENT_REQUESTS=1)
    workers.until(lambda: workers.count("leased") == 2)
    site.answer()


def test_workers_keep_the_delay_of_a_host_together(crawl):
    pages = {url: _after(page, 0.5) for url, page in many_of(2, 16).items()}
    workers, site = crawl(pages, DOWNLOAD_DELAY=0.4)
    in_turn(workers, site)
    assert workers.wait() == [0, 0]
    assert len(site.fetched()) == 16
    assert all(worker.items for worker in workers.started)
    assert keeps(site, "h0.example", 0.4)
    assert keeps(site, "h1.example", 0.4)


def test_workers_keep_the_delay_of_a_host_that_answers_at_once_with_a_redirect_to_another(crawl):
    hosts, each, delay = 6, 8, 0.6
    there = {f"http://h{h}.example/t{n}": linking(text=f"page {h} {n}") for h in range(hosts) for n in range(each)}
    moved = {
        f"http://h{h}.example/r{n}": redirect(f"http://h{(h + 1) % hosts}.example/t{n}")
        for h in range(hosts)
        for n in range(each)
    }
    pages = {"http://hub.example/": linking(*moved, text="hub"), **moved, **there}
    workers, site = crawl(pages, DOWNLOAD_DELAY=delay)
    together(workers, site)
    assert workers.wait() == [0, 0]
    for host in (f"h{h}.example" for h in range(hosts)):
        assert len(site.gaps(host)) == 2 * each - 1
        assert keeps(site, host, delay)


def test_workers_keep_the_crawl_delay_of_robots_txt_together(crawl):
    robots = Reply(body=b"User-agent: *\nCrawl-delay: 0.5\nDisallow: /1", headers={"Content-Type": "text/plain"})
    pages = {url: _after(page, 0.6) for url, page in many_of(2, 16).items()}
    pages |= {f"http://h{n}.example/robots.txt": robots for n in range(2)}
    workers, site = crawl(pages, ROBOTSTXT_OBEY=True)
    in_turn(workers, site)
    assert workers.wait() == [0, 0]
    assert {visit.url for visit in site.visits} >= {
        f"http://h{n % 2}.example/{n}" for n in range(16) if str(n)[0] != "1"
    }
    assert not [visit.path for visit in site.visits if visit.path.startswith("/1")]
    assert all(worker.items for worker in workers.started)
    assert keeps(site, "h0.example", 0.5)
    assert keeps(site, "h1.example", 0.5)


def test_no_host_has_more_requests_at_a_time_than_it_may_have(crawl):
    pages = {url: _after(page, 0.1) for url, page in many_of(2, 24).items()}
    workers, site = crawl(pages, CONCURRENT_REQUESTS_PER_DOMAIN=2)
    together(workers, site)
    assert workers.wait() == [0, 0]
    assert site.most_at_once("h0.example") <= 2
    assert site.most_at_once("h1.example") <= 2
