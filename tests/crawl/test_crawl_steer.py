"""A user steers a crawl that runs, rests or has ended, by the command; orders hold whatever dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest
from scrapy.settings import Settings

from focused.commands.mark import Command as Mark
from focused.commands.steer import Command as Steer
from focused.frontier.inbox import FileInbox
from focused.frontier.records import FILE
from focused.frontier.store_sqlite import SqliteStore
from focused.lab.process import LONGEST, OWN_SERVER, CrawlProcess
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Workers
from focused.lab.site.server import SiteServer
from focused.pages.urls import url_to_host
from focused.prioritizers.breadth_first import BreadthFirst
from focused.redis.reading.reader import open_readers
from focused.report.job_reader import JobReader
from focused.report.learned import saved_prioritizer
from focused.report.status import status_lines
from focused.report.why import explain_link
from tests.crawl.commands import run_here

HUB, FAR = "http://hub.example/", "http://far.example/x"
HOSTS, PAGES = ("a.example", "b.example", "c.example"), 27
STAR = "<title>Star {0}</title><p>A star of the galaxy, seen through a telescope. Number {0} w{0} v{1}.</p>"
TOPIC = "star galaxy telescope"
_STARTED: list[CrawlProcess] = []
STOCK = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}


def pages() -> dict[str, str]:
    links = [f"http://{HOSTS[n % 3]}/{n}" for n in range(PAGES)]
    hub = f"<p>Stars and galaxies.</p>{''.join(f'<li><a href={link}>number {n}</a>' for n, link in enumerate(links))}"
    return {HUB: hub, FAR: STAR.format(99, 1)} | {link: STAR.format(n, n % 5) for n, link in enumerate(links)}


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer(pages()) as server:
        yield server


@pytest.fixture(autouse=True)
def no_crawl_outlives_its_test() -> Iterator[None]:
    """One that is paused would."""
    yield
    while _STARTED:
        _STARTED.pop().kill()


def steer(place: object, *words: str) -> tuple[int, str]:
    return run_here(Steer(), place, *words)


def start(folder: Path, site: SiteServer, **settings: Any) -> CrawlProcess:
    one_by_one = {**OWN_SERVER, "CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False}
    own = {**one_by_one, "JOBDIR": folder / "job", "FOCUSED_MODELS": folder / "models", **settings}
    _STARTED.append(CrawlProcess(folder, {"topic": TOPIC, "seeds": HUB}, own, proxy=site.url))
    return _STARTED[-1]


def until(condition: Callable[[], Any], crawler: CrawlProcess) -> None:
    end = monotonic() + LONGEST
    while not condition():
        assert monotonic() < end, crawler.log[-2_000:]
        assert crawler.is_running, crawler.log[-2_000:]
        sleep(0.05)


def until_told(crawler: CrawlProcess, words: str) -> None:
    until(lambda: words in crawler.log, crawler)


def pause_and_kill(site: SiteServer, tmp_path: Path) -> list[str]:
    """Pause a crawl while the last page that it may fetch is under way, mark pages, and kill it; what was fetched."""
    job = tmp_path / "job"
    site.answer(6)
    crawler = start(tmp_path, site, FOCUSED_STOP_PAGES=7)
    until(lambda: len(site.visits) == 7, crawler)
    assert steer(job, "--pause") == (0, "1 order noted. The crawl is running and takes them in now.")
    until_told(crawler, f"The crawl is paused (to go on: scrapy steer {job} --go-on)")
    site.answer()
    until_told(crawler, "1 order taken in: pause")
    fetched = site.fetched(status=None)
    run_here(Mark(), job, "--yes", fetched[1], "--no", FAR)
    until_told(crawler, "2 marks taken in: 1 yes, 1 no, 1 to be fetched first")
    with JobReader.open(job) as reader:
        until(lambda: reader.page_count() == 7, crawler)
        assert reader.status().paused
    crawler.kill()
    return fetched


def test_a_crawl_is_paused_killed_steered_and_goes_on(site: SiteServer, tmp_path: Path) -> None:
    job, fetched = tmp_path / "job", pause_and_kill(site, tmp_path)

    # It begins as it was, and what it is told while it rests or is paused holds.
    steer(job, "--leave-out", "b.example", "--limit", "found=1000")
    crawler = start(tmp_path, site, FOCUSED_STOP_PAGES=7, FOCUSED_PROGRESS_EVERY=0.2)
    until_told(crawler, f"INFO: paused (to go on: scrapy steer {job} --go-on) · ")
    assert "Orders that count: pause; limit found=1000; leave-out b.example" in crawler.log
    steer(job, "--prefer", "http://c.example/*", "--limit", "pages=0", "--seed", HUB + "new", FAR)
    until_told(
        crawler, "Limits set by `scrapy steer`: found=1000 (the crawl's own: none), pages=0 (the crawl's own: 7)"
    )
    until_told(crawler, "prefer http://c.example/*")
    assert site.fetched(status=None) == fetched, "nothing was fetched since the first order"
    with JobReader.open(job) as reader:
        waiting = {url_to_host(url): url for url in pages() if url not in fetched}
        stories = {host: " ".join(explain_link(reader, waiting[host])) for host in HOSTS}
        assert "Left out by an order (b.example): it will not be fetched" in stories["b.example"]
        assert "Preferred by an order (http://c.example/*): a score s counts as (1 + s) / 2" in stories["c.example"]
        assert "order" not in stories["a.example"]
        lines = list(status_lines(reader.status()))
        assert lines[0].endswith("; paused")
        orders = "pause, limit found=1000, limit pages=0, leave-out b.example, prefer http://c.example/*"
        assert f"  {'orders':<12} {orders}" in lines
    assert steer(job, "--go-on")[0] == 0
    assert crawler.wait() == 0, crawler.log
    assert crawler.stats["finish_reason"] == "finished"
    later = site.fetched(status=None)[7:]
    assert set(later[:2]) == {HUB + "new", FAR}
    assert [url_to_host(url) for url in later[2:6]] == ["c.example"] * 4, "of links that are all alike"
    left_out = [url for url in pages() if "b.example" in url and url not in fetched]
    assert set(pages()) - set(site.fetched(status=None)) == set(left_out)
    assert crawler.stats["focused/steer/left_out"] == len(left_out)
    with JobReader.open(job) as reader:
        assert "It was not fetched: denied: left out by an order: b.example." in explain_link(reader, left_out[0])
        assert not reader.status().paused
    assert steer(job, "--drop", "http://c.example/*")[0] == 0
    assert steer(job, "--list")[1].splitlines() == [
        *("limit found=1000", "limit pages=0", "leave-out b.example", "prefer http://c.example/*"),
        "drop http://c.example/*\t(not taken in yet)",
    ]


def test_a_crawl_is_told_to_end_and_goes_on_when_it_is_started_again(site: SiteServer, tmp_path: Path) -> None:
    """Also when it is paused, and also under another scheduler, where not everything can be done."""
    job = tmp_path / "job"
    site.answer(3)
    crawler = start(tmp_path, site, **STOCK)
    until(lambda: len(site.visits) == 4, crawler)
    steer(job, "--pause", "--prefer", "c.example", "--leave-out", "b.example", "--limit", "per_host=1")
    until_told(crawler, "The crawl is paused")
    assert "prefer c.example is not done: which link is next, and which are left out, another scheduler" in crawler.log
    site.answer()
    steer(job, "--seed", FAR)
    until_told(crawler, f"seed {FAR}; 1 to be fetched first")
    assert len(site.visits) == 4
    assert steer(job, "--end")[0] == 0
    assert crawler.wait() == 0, crawler.log
    assert crawler.stats["finish_reason"] == "ended_by_user"
    assert crawler.log.rstrip().endswith("The crawl ended: an order ended it (`scrapy steer --end`)")
    assert len(site.visits) == 4
    why = "\t(not done: it cannot be, where this crawl runs)"
    assert steer(job, "--list")[1].splitlines() == [
        f"{order}{why}" for order in ("limit per_host=1", "leave-out b.example", "prefer c.example")
    ]
    with JobReader.open(job) as reader:
        status = reader.status()
        assert "an order ended it" in status.state_in_words()
        assert (status.orders, len(status.not_done)) == ([], 3)
    code, said = steer(job, "--end")
    assert (code, "is not running, so there is nothing to end" in said) == (2, True)
    # It would have reached its own limit.
    steer(job, "--limit", "pages=9")
    crawler = start(tmp_path, site, FOCUSED_STOP_PAGES=4, **STOCK)
    assert crawler.wait() == 0, crawler.log
    assert crawler.stats["finish_reason"] == "pages"
    assert 9 <= crawler.stats["focused/job/pages"] <= 10
    assert site.fetched()[4] == FAR, "before all others that wait"


def test_all_workers_of_a_crawl_in_redis_are_steered(redis: RedisServer, tmp_path: Path, site: SiteServer) -> None:
    arguments, settings = {"topic": TOPIC, "seeds": HUB}, {"ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 1}
    with Workers(tmp_path, redis, site.url, arguments, settings) as workers:
        site.answer(5)
        workers.start(1)
        workers.until(lambda: len(site.visits) == 6)
        assert steer(redis.url, "--pause")[0] == 0
        paused = f"The crawl is paused (to go on: scrapy steer {redis.url} --crawl {CRAWL} --go-on)"
        workers.until(lambda: paused in workers.started[0].log)
        site.answer()
        # Another one joins, and waits with it.
        workers.start(1)
        workers.until(lambda: paused in workers.started[1].log)
        steer(redis.url, "--prefer", "c.example", "--leave-out", "b.example", "--crawl", CRAWL)
        workers.until(lambda: workers.count("leased") == 0 and _ranks_by(redis) == "c.example")
        fetched = site.fetched(status=None)
        assert len(fetched) == 6
        (reader,) = open_readers(redis.url, CRAWL, Settings())
        with reader:
            assert list(reader.steering().in_words()) == ["pause", "leave-out b.example", "prefer c.example"]
            assert reader.status().paused
            # Which are fetched next is also a matter of which worker may ask which host.
            waiting = reader.waiting_links(saved_prioritizer(reader)[0])
            first = [reader.link(link) for link in waiting.link[np.argsort(-waiting.rank)][:4].tolist()]
            assert [link.host for link in first if link] == ["c.example"] * 4
        # Only one of them reads the order; both hear of it.
        site.answer(10)
        steer(redis.url, "--go-on")
        workers.until(lambda: all("The crawl goes on" in worker.log for worker in workers.started))
        steer(redis.url, "--end")
        workers.until(lambda: sum("1 order taken in: end" in worker.log for worker in workers.started) == 1)
        site.answer()
        assert workers.wait() == [0, 0]
        assert [worker.stats["finish_reason"] for worker in workers.started] == ["ended_by_user"] * 2
    later = site.fetched(status=None)[6:]
    assert later
    assert not any("b.example" in url for url in later)
    assert len(set(fetched + later)) == len(fetched + later)


def _ranks_by(redis: RedisServer) -> str:
    """What goes before others in the order that Redis has."""
    with redis.client() as client:
        return (client.hget(f"{{focused:{CRAWL}}}:notes", "preferred") or b"").decode()


@pytest.fixture
def rests(tmp_path: Path) -> Path:
    """A job at which nobody works."""
    job = tmp_path / "job"
    job.mkdir()
    SqliteStore(job, BreadthFirst()).close()
    return job


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pause", "--end"], "--pause --end: they contradict one another: give one of them"),
        (["--limit", "pags=4"], "--limit: 'pags' is not a limit; did you mean 'pages'?"),
        (["--limit", "pages=some"], "--limit: pages: 'some' is not a whole number, 0 or more"),
        (["--leave-out", "*"], "--leave-out: '*' fits every host"),
        (["--prefer", ""], "--prefer: an empty pattern fits nothing"),
        (["--seed", "example.org"], "--seed: 'example.org' is not an http(s) address; did you mean"),
        (["--drop", "a.example"], "--drop: 'a.example' does not count: no pattern counts"),
        (["--end"], "is not running, so there is nothing to end"),
        (["--seed", "x", "--limit", "y"], "2 mistakes:"),
        ([], "give an order (--pause, --go-on, --end, --limit, --seed, --drop, --leave-out, --prefer), or --list"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_noted(rests: Path, words: list[str], said: str) -> None:
    code, told = steer(rests, *words)
    assert code == 2
    assert said in told
    assert FileInbox(rests).end() == 0


def test_a_job_that_is_gone_is_told(rests: Path, tmp_path: Path) -> None:
    assert steer(tmp_path, "--pause") == (2, steer(tmp_path, "--list")[1])
    (tmp_path / FILE).write_bytes(b"no database" * 99)
    assert "is not a readable job file" in steer(tmp_path, "--pause")[1]
    assert not (tmp_path / "inbox.jsonl").exists()
    assert steer(rests, "--list") == (0, "No order counts")
