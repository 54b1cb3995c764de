"""`scrapy status redis://…` tells how a crawl in Redis stands, and neither helps nor disturbs it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from redis import RedisCluster
from scrapy.settings import Settings

from focused.frontier.store import Answer, JobRefused, NewLink, Outcome, PageRecord, Says
from focused.lab.process import crawl_environment
from focused.lab.redis.server import RedisServer
from focused.redis.reading.reader import open_readers
from focused.redis.reading.status import RedisStatus
from focused.redis.store import RedisStore
from focused.report.status import CUT_SHORT, ENDED, RUNNING, UNFOLLOWED, AnswerCounts, status_lines
from focused.visits.training import MODEL
from tests.frontier.frontiers import Plain, lease, rescore

Scrapy = Callable[..., subprocess.CompletedProcess[str]]
Workers = Callable[..., RedisStore]
IDENTITY = {"topic": "birds (1a2b)", "prioritizer": "plain", "critic": "keywords"}


def opened(server: RedisServer, name: str, crawl: str = "birds", **options: float) -> RedisStore:
    return RedisStore(server.client(), crawl, name, Plain(), identity=IDENTITY, **options)


@pytest.fixture
def worker(redis: RedisServer) -> Iterator[Workers]:
    """Opens workers, by their names."""
    stores: list[RedisStore] = []

    def open_worker(name: str, crawl: str = "birds", **options: float) -> RedisStore:
        stores.append(opened(redis, name, crawl, **options))
        stores[-1].beat()
        return stores[-1]

    yield open_worker
    for store in stores:
        store.abandon()


def add(store: RedisStore, host: str, links: int) -> None:
    for n in range(links):
        store.admit(None, [NewLink(f"http://{host}/{n}", host, base=n / 1_000)])


def fetch(store: RedisStore, relevance: float, outcome: Outcome = Outcome.PAGE) -> None:
    leased = lease(store)
    assert leased is not None
    if outcome is Outcome.PAGE:
        store.record(leased, PageRecord(0, leased.url, relevance, leased.link, item={"url": leased.url}))
        store.pool(leased, store.lessons_of(leased))
    store.acknowledge(leased, outcome)
    store.commit()


def read(
    server: RedisServer, crawl: str | None = "birds", *, url: str = "", settings: dict[str, object] | None = None
) -> RedisStatus:
    (reader,) = open_readers(url or server.url, crawl, Settings(settings))
    with reader:
        status = reader.status()
    assert isinstance(status, RedisStatus)
    return status


def text_of(status: RedisStatus) -> str:
    return "\n".join(status_lines(status))


def everything_in(server: RedisServer) -> dict[bytes, bytes | None]:
    with server.client() as client:
        return {key: client.dump(key) for key in client.scan_iter(count=1_000)}


# --- the figures -------------------------------------------------------------------------------------------------


def test_workers_their_leases_and_who_trains(redis: RedisServer, worker: Workers) -> None:
    one, other = worker("a:1"), worker("b:2")
    add(one, "x", 5)
    for store in (one, other, other):
        lease(store)
        store.commit()
    assert other.train(10)
    status = read(redis)
    assert (status.state, status.leased, status.trainer) == (RUNNING, 3, "b:2")
    assert [(at.name, at.leases, at.alive, at.trains) for at in status.workers] == [
        ("a:1", 1, True, False),
        ("b:2", 2, True, True),
    ]
    assert all(0 <= at.silent < 5 for at in status.workers)
    text = text_of(status)
    assert "birds: running on 2 workers, for " in text
    assert re.search(r"^ +1  a:1$", text, flags=re.M)
    assert re.search(r"^ +2  b:2, trains$", text, flags=re.M)


def test_a_role_that_was_not_kept_is_nobodys(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    store.train(0.05)
    time.sleep(0.1)
    store.beat()
    assert read(redis).trainer is None


def test_pages_harvest_and_outcomes(redis: RedisServer, worker: Workers) -> None:
    one, other = worker("a:1"), worker("b:2")
    add(one, "x", 10)
    for store, relevance in ((one, 1.0), (other, 0.75), (other, 0.0)):
        fetch(store, relevance)
    fetch(one, 0.0, Outcome.DEAD)
    status = read(redis)
    assert (status.topic, status.prioritizer, status.critic) == ("birds", "plain", "keywords")
    assert (status.pages, status.relevant) == (3, 2)
    assert status.harvest == status.harvest_now == pytest.approx(1.75 / 3, abs=1e-4)
    assert (status.outcomes["page"], status.outcomes["dead"], status.outcomes["failed"]) == (3, 1, 0)
    assert (status.waiting, status.leased) == (6, 0)
    assert "  links        3 pages, 1 dead" in text_of(status)


def test_a_duplicate_counts_in_no_harvest_and_its_links_are_named(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 2)
    fetch(store, 1.0)
    leased = lease(store)
    assert leased is not None
    store.record(leased, PageRecord(0, leased.url, 0.0, 1, outcome=Outcome.DUPLICATE))
    store.acknowledge(leased, Outcome.DUPLICATE)
    store.revise(UNFOLLOWED, lambda before: str(int(before or 0) + 7))
    store.commit()
    status = read(redis)
    assert (status.pages, status.relevant, status.harvest, status.harvest_now) == (2, 1, 1.0, 1.0)
    assert "links        1 page, 1 duplicate, 7 links of duplicates not followed" in text_of(status)


def test_who_is_sent_in_circles_is_counted_once(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 1)
    leased = lease(store)
    assert leased is not None
    for _ in range(5):
        assert store.redirect(leased, "http://x/there", "x")
        assert store.redirect(leased, "http://x/0", "x")
    store.acknowledge(leased, Outcome.OTHER)
    store.commit()
    outcomes = read(redis).outcomes
    assert {name: count for name, count in outcomes.items() if count} == {"redirect": 1, "other": 1}


def test_hosts_with_the_most_waiting_links_come_first(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    for n in range(1, 13):
        add(store, f"h{n}", n)
    status = read(redis)
    assert [(line.host, line.links) for line in status.waiting_by_host] == [(f"h{n}", n) for n in range(12, 2, -1)]
    assert (status.waiting, status.hosts_waiting) == (78, 12)
    text = text_of(status)
    assert "and 2 more hosts" in text
    assert "waiting      78 links on 12 hosts, 0 in progress" in text


def test_links_are_counted_by_host_whatever_becomes_of_them(redis: RedisServer, worker: Workers) -> None:
    store, dying = worker("a:1"), worker("b:2", lease_seconds=1.0)

    def waiting() -> dict[str, int]:
        rescore(store)
        status = read(redis)
        assert sum(line.links for line in status.waiting_by_host) == status.waiting
        return {line.host: line.links for line in status.waiting_by_host}

    add(store, "x", 9)
    add(store, "y", 3)
    assert waiting() == {"x": 9, "y": 3}
    first = lease(store)
    assert first is not None
    assert waiting() == {"x": 8, "y": 3}
    store.postpone(first)
    assert waiting() == {"x": 9, "y": 3}
    second = lease(store)
    assert second is not None
    store.redirect(second, "http://y/0", "y")
    assert waiting() == {"x": 8, "y": 2}
    for _ in range(2):
        assert lease(dying) is not None
    dying.commit()
    assert waiting() == {"x": 6, "y": 2}
    while read(redis).taken_back < 2:
        # Whoever calls next sees that the other is dead; its own patience with it counts.
        with redis.client() as client:
            client.zadd("{focused:birds}:workers", {"b:2": -100.0})
        store.beat()
    assert waiting() == {"x": 8, "y": 2}
    assert "2 taken back from dead workers" in text_of(read(redis))
    while leased := lease(store):
        store.acknowledge(leased, Outcome.DEAD)
    assert waiting() == {}
    assert read(redis).hosts_waiting == 0


def test_links_that_there_was_no_room_for(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1", most_waiting=100)
    for host in ("x", "y"):
        add(store, host, 80)
        rescore(store)
    store.beat()
    status = read(redis)
    assert status.dropped == 160 - status.waiting > 0
    assert sum(line.links for line in status.waiting_by_host) == status.waiting
    assert f"{status.dropped} dropped (no room)" in text_of(status)


def test_pace_is_over_the_time_in_which_anybody_was_at_work(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 50)
    for _ in range(15):
        fetch(store, 1.0)
    with redis.client() as client:
        # As if they had worked for a minute and a half before, and nobody for an hour now.
        client.hincrbyfloat("{focused:birds}:meta", "clock", 90)
        client.hincrbyfloat("{focused:birds}:meta", "heard", -3_600)
    store.beat()
    status = read(redis)
    assert status.ran == pytest.approx(90, abs=10)
    assert status.pace == status.pace_now == pytest.approx(10, rel=0.15)
    assert f"pace         {status.pace_now} pages per minute lately, {status.pace} overall" in text_of(status)


def test_lately_is_the_last_five_minutes(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 50)
    for _ in range(4):
        fetch(store, 0.0)
    with redis.client() as client:
        # As if that had been some time ago.
        client.hincrbyfloat("{focused:birds}:meta", "clock", 600)
    for _ in range(6):
        fetch(store, 1.0)
    status = read(redis)
    assert (status.harvest, status.harvest_now) == (0.6, 1.0)
    assert status.pace_now == pytest.approx(6 / 5, rel=0.05)
    assert status.pace == pytest.approx(1.0, rel=0.05)
    with redis.client() as client:
        assert client.hlen("{focused:birds}:recent") == 1, "what is older is forgotten"


def test_what_was_learned(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 5)
    assert "plain; no model is published" in text_of(read(redis))
    for _ in range(3):
        fetch(store, 1.0)
    store.save_model(MODEL, {"weights": np.ones(3)}, 2)
    fetch(store, 1.0)
    status = read(redis)
    assert (status.model, status.pooled, status.learned) == (1, 4, 2)
    assert "plain; model 1, learned from 2 of 4 links" in text_of(status)


def test_what_was_answered_is_counted_by_what_it_says_last(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    assert read(redis).answers is None
    said = [Says.YES, Says.NO, Says.UNKNOWN, Says.NOTHING, Says.YES]
    store.keep_answers(Answer(link, one, "Ω", "now", 0.5) for link, one in enumerate(said))
    store.keep_answers([Answer(4, Says.NO, "me", "now", 0.49)])
    status = read(redis)
    assert status.answers == AnswerCounts(1, 2, 1, 2, 1)
    assert "answers      1 yes, 2 no, 1 unknown; 1 of 2 found ones are wanted" in text_of(status)
    store.keep_answers([Answer(link, Says.NOTHING, "me", "now", 0.5) for link in range(5)])
    assert read(redis).answers is None


def test_memory_is_about_what_the_server_says(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    with redis.client() as client:
        before = client.info("memory")["used_memory_dataset"]
    for host in range(100):
        for n in range(50):
            store.admit(
                None, [NewLink(f"http://host-{host}.example/a/page/{n}", f"host-{host}.example", base=n / 1_000)]
            )
    store.commit()
    with redis.client() as client:
        taken = client.info("memory")["used_memory_dataset"] - before
    memory = read(redis).memory
    assert memory.crawl == pytest.approx(taken, rel=0.3)
    assert memory.link is not None
    assert memory.link == pytest.approx(taken / 5_000, rel=0.3)
    assert memory.server > taken
    status = read(redis)
    assert f"{memory.link} bytes per waiting link; the server " in text_of(status)
    capped = replace(status, memory=replace(memory, most_waiting=20_000, most=2_000_000_000))
    assert "25% of 20,000 links" in text_of(capped)
    assert "of 2.0 GB" in text_of(capped)


@pytest.mark.parametrize("push", ["lpush", "sadd"])
def test_seeds_that_were_pushed_are_counted(redis: RedisServer, worker: Workers, push: str) -> None:
    worker("a:1")
    assert "start list   focused:start_urls: empty" in text_of(read(redis))
    with redis.client() as client:
        getattr(client, push)("focused:start_urls", "http://x/1", "http://x/2")
    assert read(redis).start_urls.waiting == 2
    assert "focused:start_urls: 2 seeds waiting" in text_of(read(redis))


def test_a_key_of_seeds_may_be_the_crawls_own(redis: RedisServer, worker: Workers) -> None:
    worker("a:1")
    with redis.client() as client:
        client.lpush("seeds:birds", "http://x/1")
    assert read(redis, settings={"REDIS_START_URLS_KEY": "seeds:%(crawl)s"}).start_urls.waiting == 1


# --- it runs, it has ended, it was cut short ---------------------------------------------------------------------


def test_a_crawl_whose_workers_have_ended(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 2)
    fetch(store, 1.0)
    opened(redis, "b:2").close()
    assert read(redis).state == RUNNING
    store.close()
    status = read(redis)
    assert (status.state, status.workers) == (ENDED, [])
    assert "not running; its workers have ended" in text_of(status)
    assert "raise the limit if it ended at one" in text_of(status)
    assert text_of(replace(status, waiting=0)).endswith("No link is left to follow.")


def test_a_crawl_whose_workers_were_killed(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 2)
    lease(store)
    store.abandon()
    assert read(redis).state == RUNNING, "it may only be slow"
    with redis.client() as client:
        client.hincrbyfloat("{focused:birds}:meta", "heard", -3_000)
    status = read(redis)
    assert (status.state, status.leased) == (CUT_SHORT, 1)
    assert status.workers[0].silent == pytest.approx(3_000, abs=60)
    text = text_of(status)
    assert "none has given a sign of life for 50 minutes" in text
    assert "a:1, no sign of life for 50 minutes: taken for dead" in text
    assert "1 was in progress" in text
    assert "links that were in progress are fetched again" in text


def test_asking_changes_nothing_and_is_no_sign_of_life(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 20)
    fetch(store, 1.0)
    lease(store)
    store.beat()
    before = everything_in(redis)
    for _ in range(3):
        read(redis)
    assert everything_in(redis) == before


def test_a_node_of_a_cluster_and_its_client_are_asked_alike(redis_cluster: RedisServer) -> None:
    store = opened(redis_cluster, "a:1")
    add(store, "x", 5)
    store.commit()
    assert read(redis_cluster).waiting == 5
    url, settings = redis_cluster.url.removesuffix("/0"), {"REDIS_PARAMS": {"redis_cls": RedisCluster}}
    assert read(redis_cluster, url=url, settings=settings).waiting == 5
    assert read(redis_cluster, None, url=url, settings=settings).crawl == "birds"
    store.abandon()


# --- the command -------------------------------------------------------------------------------------------------

KEYS = {
    *("unread", "paused", "orders", "not_done", "unread_orders"),
    *("crawl", "server", "state", "running", "topic", "prioritizer", "critic", "ran", "workers", "trainer"),
    *(
        "pages",
        "relevant",
        "relevant_now",
        "wanted",
        "harvest",
        "harvest_now",
        "pace",
        "pace_now",
        "outcomes",
        "waiting",
        "leased",
    ),
    *("hosts_waiting", "waiting_by_host", "answers", "model", "pooled", "learned", "start_urls", "memory"),
    *("dropped", "taken_back", "refused", "unfollowed", "read", "seconds"),
}


def test_json_has_the_same_figures(redis: RedisServer, worker: Workers, scrapy: Scrapy) -> None:
    add(worker("a:1"), "x", 5)
    (line,) = scrapy("status", redis.url, "--json").stdout.splitlines()
    told = json.loads(line)
    assert set(told) == KEYS
    assert (told["running"], told["waiting"], told["crawl"], told["server"]) == (True, 5, "birds", redis.url)
    assert set(told["workers"][0]) == {"name", "leases", "silent", "alive", "trains"}
    assert set(told["memory"]) == {"crawl", "link", "most_waiting", "server", "most"}
    assert told["start_urls"] == {"key": "focused:start_urls", "waiting": 0}


def test_the_keys_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "output.md").read_text("utf-8")

    def documented(title: str) -> set[str]:
        section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
        table = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
        return {key.strip("` ") for cell in table for key in cell.split(",")}

    ours = documented("Status of a crawl in Redis")
    assert ours <= KEYS <= ours | documented("Status of a crawl")


def test_of_several_crawls_each_is_told_in_a_line_or_one_by_its_name(
    redis: RedisServer, worker: Workers, scrapy: Scrapy
) -> None:
    add(worker("a:1", "birds"), "x", 5)
    add(worker("b:2", "tea"), "x", 7)
    text = scrapy("status", redis.url).stdout
    assert f"2 crawls at {redis.url}; --crawl NAME shows one of them" in text
    assert re.search(r"^  birds: running on 1 worker, for \d seconds; 0 pages, 5 links waiting$", text, flags=re.M)
    assert [json.loads(line)["waiting"] for line in scrapy("status", redis.url, "--json").stdout.splitlines()] == [5, 7]
    assert "waiting      7 links" in scrapy("status", redis.url, "--crawl", "tea").stdout
    watching = scrapy("status", redis.url, "--watch")
    assert (watching.returncode, "choose one with --crawl (birds, tea)" in watching.stderr) == (2, True)


def test_watching_ends_with_the_crawl(redis: RedisServer, worker: Workers) -> None:
    store = worker("a:1")
    add(store, "x", 3)
    command = [sys.executable, "-m", "scrapy", "status", "--watch", "0.1", redis.url, "--json"]
    with subprocess.Popen(command, env=crawl_environment(), stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["running"] is True
        store.close()
        told = [json.loads(line) for line in watching.stdout]
    assert watching.returncode == 0
    assert [status["running"] for status in told].index(False) == len(told) - 1


def test_ctrl_c_ends_watching_quietly(redis: RedisServer, worker: Workers) -> None:
    worker("a:1")
    command = [sys.executable, "-m", "scrapy", "status", redis.url, "--watch"]
    with subprocess.Popen(
        command, env=crawl_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        assert "running" in watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        _, error = watching.communicate(timeout=280)
    assert (watching.returncode, error) == (0, "")


def test_what_cannot_be_asked_is_told_clearly(redis: RedisServer, worker: Workers, scrapy: Scrapy) -> None:
    for arguments, told in (
        ((redis.url,), f"there is no crawl at {redis.url}"),
        ((redis.url, "--crawl", "tea"), f"there is no crawl 'tea' at {redis.url} (known: none)"),
        (
            (f"http://127.0.0.1:{redis.port}",),
            "an address http://… cannot be read: give a job folder, or one of redis://",
        ),
        (("redis://127.0.0.1:six/0",), "is not the address of a Redis server"),
        (("redis://127.0.0.1:6379/zero",), "is not the address of a Redis server"),
        (("redis://[::1/0",), "is not the address of a Redis server"),
        ((f"redis://127.0.0.1:{redis.port}/999",), "DB index is out of range: give redis://HOST:PORT/DB with a"),
        (("redis://127.0.0.1:1/0",), "start it, or give the right address (redis://HOST:PORT/DB)"),
        (("jobs/birds", "--crawl", "birds"), "a job folder holds one crawl only"),
    ):
        run = scrapy("status", *arguments)
        assert (run.returncode, told in run.stderr) == (2, True), (arguments, run.stderr)
    worker("a:1")
    assert "there is no crawl 'tea' at" in scrapy("status", redis.url, "--crawl", "tea").stderr
    assert "(known: 'birds')" in scrapy("status", redis.url, "--crawl", "tea").stderr


def test_what_another_version_has_written_is_refused_but_for_its_items(redis: RedisServer, worker: Workers) -> None:
    one = worker("a:1")
    add(one, "x", 1)
    fetch(one, 0.9)
    with redis.client() as client:
        client.hset("{focused:birds}:meta", "of:format", "2")
    (reader,) = open_readers(redis.url, "birds", Settings())
    told = r"'birds' at .* was written by another version \(format 2, this one reads \d+\): `scrapy export` still"
    with reader:
        for ask in (reader.status, lambda: reader.link_at("http://x/0"), lambda: reader.waiting_links(Plain())):
            with pytest.raises(JobRefused, match=told):
                ask()
        assert [item["url"] for item in reader.items()] == ["http://x/0"]


def test_a_server_that_does_not_answer_is_told_soon(scrapy: Scrapy) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        refused = scrapy("status", f"redis://127.0.0.1:{port}/0")
        nobody.listen()
        silent = scrapy("status", f"redis://:secret@127.0.0.1:{port}/0")
    for run in (refused, silent):
        assert run.returncode == 2
        assert f"Redis does not answer at redis://127.0.0.1:{port}/0" in run.stderr
        assert "secret" not in run.stderr


def test_a_password_is_taken_from_the_address_or_the_settings_and_never_shown(tmp_path: Path, scrapy: Scrapy) -> None:
    with RedisServer(tmp_path) as server:
        store = opened(server, "a:1")
        store.beat()
        with server.client() as client:
            client.config_set("requirepass", "secret")
        assert f"Redis at {server.url} wants another name or password" in scrapy("status", server.url).stderr
        for arguments in (
            [server.url.replace("//", "//:secret@"), "--json"],
            [f"{server.url}?password=secret", "--json"],
            [server.url, "--json", "-s", 'REDIS_PARAMS={"password": "secret"}'],
        ):
            run = scrapy("status", *arguments)
            assert (run.returncode, json.loads(run.stdout)["server"]) == (0, server.url)
        store.abandon()
