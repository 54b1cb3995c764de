"""What only a store on Redis promises: to several workers, to those that die, and while Redis itself is away."""

import logging
import math
import threading
import time
from random import Random

import numpy as np
import pytest
from redis import RedisCluster
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import ResponseError
from scrapy.settings import Settings

from focused.critics.base import Verdict
from focused.frontier.store import SEED_RANK, Answer, JobRefused, NewLink, Outcome, PageRecord, Says, StoreBroken
from focused.lab.redis.server import RedisServer
from focused.prioritizers.best_first import BestFirst
from focused.redis.reading.reader import open_readers
from focused.redis.server import forget
from focused.redis.store import FORMAT, RedisStore
from tests.frontier.frontiers import (
    Frontier,
    Plain,
    add,
    addresses,
    always,
    crash,
    lease,
    open_redis,
    pooled_since,
    rescore,
)
from tests.redis.versions import Version


@pytest.fixture
def workers(redis):
    """Opens workers of one crawl."""
    opened = []

    def open_workers(number=2, **options):
        opened.extend(open_redis(redis, **options) for _ in range(number))
        return opened[-number:]

    yield open_workers
    for store in opened:
        store.abandon()


def fill(store, links, hosts=1):
    for n in range(links):
        add(store, NewLink(f"http://h{n % hosts}/{n}", f"h{n % hosts}", base=n / links))


def page(store, leased, relevance=0.5, digest=None):
    store.record(leased, PageRecord(0, leased.url, relevance, digest or leased.link, item={"url": leased.url}))
    store.pool(leased, store.lessons_of(leased))
    return store.acknowledge(leased, Outcome.PAGE)


def until(condition, *stores, seconds=280.0):
    """Have workers live on until something is true of the first."""
    end = time.monotonic() + seconds
    while True:
        for store in stores:
            store.beat()
        if condition(stores[0]):
            return
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


# --- several workers -------------------------------------------------------------------------------------------------


def test_no_link_is_handed_out_twice(workers):
    one, other = workers()
    fill(one, 200, hosts=7)
    taken = []
    while (leased := [lease(store) for store in (one, other)]) != [None, None]:
        taken += [each.url for each in leased if each]
    assert len(taken) == len(set(taken)) == 200


def test_a_poor_link_waits_for_a_better_one_but_not_for_a_host_that_is_kept_for_long(workers):
    one, other = workers(patience=0.5, lease_seconds=1.0)
    for url, host, rank in (("http://a/1", "a", 0.9), ("http://a/2", "a", 0.8), ("http://b/", "b", 0.1)):
        add(one, NewLink(url, host, base=rank))
    assert one.lease(0, always).url == "http://a/1"
    assert other.lease(0, always) is None
    began = time.monotonic()
    until(lambda store: store.lease(0, always), other, one)
    assert time.monotonic() - began > 0.3


def test_workers_see_what_others_do(workers):
    one, other = workers()
    fill(one, 3)
    page(one, lease(one), 0.75)
    lease(one)
    other.beat()
    assert (other.standing().waiting, other.standing().leased, other.standing().leased_elsewhere) == (1, 1, 1)
    assert (other.standing().pages, other.standing().found, other.standing().relevance) == (1, 1, 0.75)
    assert one.standing().leased_elsewhere == 0
    again = lease(one)
    assert (again.host.pages, again.host.name) == (1, "h0")


def test_what_two_workers_find_at_the_same_time_is_one_link_with_the_evidence_of_both(workers):
    one, other = workers(prioritizer=Plain(combine="mean"))
    for name in "ab":
        add(one, NewLink(f"http://{name}/", name, base=SEED_RANK))
    frontiers = [Frontier.over(store) for store in (one, other)]
    leases = [lease(store) for store in (one, other)]
    for frontier, leased, score in zip(frontiers, leases, (0.2, 0.6), strict=True):
        frontier.found(leased, [("http://h/x", score)])
        page(frontier.store, leased)
    leased = lease(one)
    assert leased.score == pytest.approx(0.4)
    assert one.lessons_of(leased).evidence.dense[:, 0] == pytest.approx([0.2, 0.6])
    assert lease(other) is None


def test_a_host_is_closed_until_the_request_has_gone_out_and_then_for_its_delay(workers):
    one, other = workers()
    fill(one, 3)
    leased = one.lease(0, always)
    assert other.lease(0, always) is None, "nobody knows when the request will go out"
    one.sent(leased, 4.0, 8, 0.0)
    one.commit()
    began = time.monotonic()
    assert other.lease(5.0, always) is None
    assert 5.0 < other.next_wake() <= 6.0
    until(lambda store: store.lease(0, always), other, one)
    assert time.monotonic() - began > 3.0


def test_the_more_workers_wait_for_a_host_the_longer_each_of_them_leaves_redis_alone(workers):
    one, *others = workers(50)
    fill(one, 2)
    one.commit()
    for other in others:
        other.beat()
    # Told in the same call.
    others[-1].sleep("h0", 0.05)
    assert others[-1].lease(5.0, always) is None
    assert others[-1].next_wake() == pytest.approx(5.1)
    for other in others[:-1]:
        other.close()
    others[-1].sleep("h0", 0.05)
    assert others[-1].lease(5.0, always) is None
    assert others[-1].next_wake() == pytest.approx(5.05)


def test_a_request_that_went_out_some_time_ago_holds_its_host_only_for_the_rest(workers):
    one, other = workers()
    fill(one, 2)
    one.sent(one.lease(0, always), 10.0, 8, 10.1)
    one.commit()
    assert other.lease(0, always) is not None


def test_no_more_requests_to_a_host_than_it_may_have_at_a_time_over_all_workers(workers):
    one, other = workers()
    fill(one, 5)
    first = one.lease(0, always)
    one.sent(first, 0.0, 2, 0.0)
    one.commit()
    assert other.lease(0, always) is not None
    assert one.lease(0, always) is None
    one.acknowledge(first, Outcome.DEAD)
    assert one.lease(0, always) is not None


def test_a_host_that_one_worker_puts_to_sleep_sleeps_for_all(workers):
    one, other = workers()
    fill(one, 4, hosts=2)
    one.sleep("h1", 30.0)
    one.commit()
    assert [leased and leased.url for leased in (lease(other), lease(other), lease(other))] == [
        "http://h0/2",
        "http://h0/0",
        None,
    ]


def test_a_link_that_the_workers_own_gate_refuses_goes_back_and_its_host_sleeps_until_then(workers):
    one, other = workers()
    fill(one, 2, hosts=2)
    leased = lease(one, lambda host: 0.4 if host.name == "h1" else 0.0)
    assert leased.url == "http://h0/0"
    assert one.standing().leased == 1
    assert lease(other) is None
    began, found = time.monotonic(), []

    def find(store):
        found.append(lease(store))
        return found[-1]

    until(find, other)
    assert found[-1].url == "http://h1/1"
    assert found[-1].tries == 1, "it was never out"
    assert time.monotonic() - began > 0.3


def test_a_worker_whose_clock_is_off_changes_nothing(workers):
    one, other = workers(lease_seconds=5.0)
    fill(one, 4, hosts=2)
    first = one.lease(1_060.0, always)
    one.sent(first, 0.2, 8, 0.0)
    second = other.lease(1_000.0, always)
    other.sent(second, 0.2, 8, 0.0)
    assert {first.url, second.url} == {"http://h0/2", "http://h1/3"}
    until(lease, one, other)
    until(lease, other, one)
    assert one.standing().taken_back == other.standing().refused == 0


def test_a_retry_waits_for_its_host_like_any_other_request(workers):
    one, other = workers()
    fill(one, 2)
    first = one.lease(0, always)
    one.sent(first, 0.0, 1, 0.0)
    one.return_lease(first)
    one.commit()
    second = other.lease(0, always)
    assert second.url == "http://h0/0"
    assert one.lease(0, always) is None, "the other worker is at it"
    assert one.next_wake() is not None
    page(other, second)
    other.commit()
    assert one.lease(0, always) is first


def test_a_server_that_forgot_the_script_gets_it_again(redis, workers):
    (store,) = workers(1)
    fill(store, 2)
    with redis.client() as client:
        client.function_flush()
    assert addresses(store) == ["http://h0/1", "http://h0/0"]


# --- death -----------------------------------------------------------------------------------------------------------


def test_the_leases_of_a_dead_worker_come_back(workers):
    dead, alive = workers(lease_seconds=0.3)
    fill(dead, 3)
    leased = [lease(dead) for _ in range(3)]
    dead.commit()
    crash(dead)
    until(lambda store: store.standing().waiting == 3, alive)
    assert alive.standing().taken_back == 3
    again = []
    for _ in range(3):
        again.append(lease(alive))
        page(alive, again[-1])
    assert [each.url for each in again] == [each.url for each in leased]
    assert {each.tries for each in again} == {2}


def test_its_host_opens_when_a_worker_dies_with_a_request_that_was_to_go_out(workers):
    dead, alive = workers(lease_seconds=0.3)
    fill(dead, 2)
    dead.lease(0, always)
    crash(dead)
    assert alive.lease(0, always) is None
    until(lambda store: store.lease(0, always), alive)


def test_what_a_worker_says_that_was_taken_for_dead_is_refused_and_harms_nothing(workers):
    frozen, alive = workers(lease_seconds=0.3)
    fill(frozen, 2)
    leased = lease(frozen)
    frozen.record(leased, PageRecord(0, leased.url, 0.9, 5))
    until(lambda store: store.standing().taken_back, alive)
    again = lease(alive)
    assert again.url == leased.url
    frozen.acknowledge(leased, Outcome.PAGE)
    frozen.beat()
    assert (frozen.standing().pages, frozen.standing().refused, frozen.standing().leased) == (0, 1, 1)
    assert alive.record(again, PageRecord(0, again.url, 0.7, 5)).outcome is Outcome.PAGE, "its content was freed"
    alive.acknowledge(again, Outcome.PAGE)
    alive.beat()
    assert (alive.standing().pages, alive.standing().relevance, alive.standing().leased) == (1, pytest.approx(0.7), 0)


def test_a_worker_notices_that_it_lost_its_leases(workers):
    frozen, alive = workers(lease_seconds=0.3)
    fill(frozen, 1)
    leased = lease(frozen)
    frozen.commit()
    until(lambda store: store.standing().taken_back, alive)
    assert not leased.is_lost
    frozen.beat()
    assert leased.is_lost
    assert frozen.record(leased, PageRecord(0, leased.url, 0.9, 5)).outcome is Outcome.OTHER
    assert frozen.acknowledge(leased, Outcome.PAGE) is Outcome.OTHER
    assert lease(frozen).tries == 2, "it goes on as a worker like any other"


class Freezing:
    """A client whose next answer is read late: its process was frozen meanwhile, and others lived on."""

    def __init__(self, client, meanwhile):
        self._client, self._meanwhile = client, meanwhile

    def __getattr__(self, name):
        return getattr(self._client, name)

    def fcall(self, *arguments):
        answer, meanwhile = self._client.fcall(*arguments), self._meanwhile
        self._meanwhile = lambda: None
        meanwhile()
        return answer


def test_a_link_that_was_lost_before_its_worker_knew_that_it_had_it_is_not_fetched(workers):
    frozen, other = workers(lease_seconds=0.3)
    fill(frozen, 1)
    taken = []

    def meanwhile():
        until(lambda store: store.standing().taken_back, other)
        taken.append(lease(other))

    frozen.server.client = Freezing(frozen.server.client, meanwhile)
    assert frozen.lease(0, always) is None
    page(other, taken[0])
    other.commit()
    frozen.beat()
    assert (frozen.standing().pages, frozen.standing().leased, frozen.standing().refused) == (1, 0, 0)


def test_a_silence_of_everybody_takes_no_lease_away(workers):
    one, other = workers(lease_seconds=0.4)
    fill(one, 1)
    leased = lease(one)
    one.commit()
    time.sleep(1.0)
    other.beat()
    assert other.standing().taken_back == 0
    page(one, leased)
    one.beat()
    assert one.standing().pages == 1


def test_a_worker_that_leaves_gives_its_leases_back_without_blame(workers):
    one, other = workers()
    fill(one, 3)
    lease(one)
    lease(one)
    one.close()
    assert addresses(other) == ["http://h0/2", "http://h0/1", "http://h0/0"]
    assert other.standing().taken_back == 0


def die_with_one_link_out(redis, *, at_work):
    """Start a worker, lease the one link, have its page come or not, and die. False if there is nothing to lease."""
    dying, watching = (open_redis(redis, lease_seconds=0.1, most_deaths=3) for _ in range(2))
    add(dying, NewLink("http://h/a", "h"))
    leased = lease(dying)
    if leased is not None and at_work:
        dying.begin_work(leased)
    dying.commit()
    crash(dying)
    until(lambda store: store.standing().leased == 0, watching)
    watching.close()
    return leased is not None


def test_a_page_that_always_kills_its_worker_is_given_up(redis):
    deaths = [die_with_one_link_out(redis, at_work=True) for _ in range(5)]
    assert deaths == [True] * 4 + [False], "of the first death nobody knows whose it was"


def test_a_link_that_was_merely_out_when_its_worker_died_is_not_given_up_for_it(redis):
    deaths = [die_with_one_link_out(redis, at_work=n % 5 == 0) for n in range(10)]
    assert deaths == [True] * 10, "at work at one of the deaths that count"
    deaths = [die_with_one_link_out(redis, at_work=False) for _ in range(6)]
    assert deaths == [True] * 5 + [False], "but not for ever"


def test_links_that_were_out_at_a_death_go_out_one_by_one_to_each_worker(workers):
    dead, one, other = workers(3, lease_seconds=0.3)
    fill(dead, 4)
    for _ in range(3):
        lease(dead)
    dead.commit()
    crash(dead)
    until(lambda store: store.standing().taken_back == 3, one, other)
    suspects = [lease(one), lease(other)]
    assert {suspect.tries for suspect in suspects} == {2}
    assert lease(one).url == "http://h0/0", "the third suspect waits"
    assert lease(one) is None
    assert one.standing().waiting == 1
    one.acknowledge(suspects[0], Outcome.DEAD)
    assert lease(one).tries == 2


def test_a_page_fetched_a_second_time_replaces_its_evidence(redis):
    frontier = Frontier(redis, lease_seconds=0.3)
    add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.found(lease(frontier.store), [("http://h/a", 0.2), ("http://h/b", 0.3)])
    frontier.store.commit()
    crash(frontier.store)
    frontier.store = frontier.open()
    until(lambda store: store.standing().taken_back, frontier.store)
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.6), ("http://h/b", 0.3)])
    leased = lease(frontier.store)
    assert leased.url == "http://h/a"
    assert leased.score == pytest.approx(0.6)
    assert len(frontier.store.lessons_of(leased)) == 1
    frontier.store.close()


# --- what is sent twice ----------------------------------------------------------------------------------------------


class Forgetful:
    """A client whose every second answer is lost on the way, after the server has done what it was asked."""

    def __init__(self, client):
        self._client = client
        self._calls = 0
        self.lost = 0

    def __getattr__(self, name):
        return getattr(self._client, name)

    def fcall(self, *arguments):
        answer = self._client.fcall(*arguments)
        self._calls += 1
        if self._calls % 2:
            self.lost += 1
            raise NoConnection("the answer was lost")
        return answer


def test_a_call_that_is_sent_again_because_its_answer_was_lost_does_no_harm(redis, workers):
    frontier = Frontier(redis, most_late=1)
    client = frontier.store.server.client = Forgetful(frontier.store.server.client)
    add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
    links = [(f"http://h/{n}", 0.9 - n / 100) for n in range(10)]
    frontier.page("http://seed/", 0.5, links)
    for n in range(10):
        frontier.page(f"http://h/{n}", 0.5, [("http://h/more", 0.05)])
    store = frontier.store
    store.beat()
    assert client.lost > 20
    standing = store.standing()
    assert (standing.pages, standing.waiting, standing.leased, standing.relevance) == (11, 1, 0, 5.5)
    assert [each.number for each in pooled_since(store, 0)] == list(range(1, 12))
    assert store.standing().last_page == 11
    assert len(store.evidence_of(lease(store))) <= 8
    store.close()


# --- Redis away ------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_server(tmp_path):
    """A server that the test may stop; it loses nothing that it has answered."""
    with RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always") as server:
        yield server


def work_on(store, done, stop):
    """Be a worker: fetch whatever there is, until told to stop."""
    while not stop.is_set():
        leased = lease(store)
        if leased is None:
            store.beat()
            time.sleep(0.02)
            continue
        page(store, leased)
        done.append(leased.url)
        time.sleep(0.002)


def crawl_while(server, disturb, links=300):
    """Two workers fetch all links while something happens to the server; the pages each has fetched."""
    stores = [open_redis(server, lease_seconds=5.0) for _ in range(2)]
    for store in stores:
        store.server.client = server.client(timeout=0.5)
    fill(stores[0], links, hosts=11)
    stop, done = threading.Event(), ([], [])
    threads = [threading.Thread(target=work_on, args=(s, d, stop)) for s, d in zip(stores, done, strict=True)]
    for thread in threads:
        thread.start()
    while len(done[0] + done[1]) < links // 4:
        time.sleep(0.005)
    disturb()
    watching = open_redis(server, lease_seconds=5.0)
    try:
        until(lambda store: store.standing().waiting == store.standing().leased == 0, watching)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len(set(done[0] + done[1])) == links, "none lost"
    watching.beat()
    assert watching.standing().pages == links
    for store in (*stores, watching):
        store.close()
    return done


def test_redis_stands_still_for_a_while_and_nothing_is_lost_or_done_twice(own_server, caplog):
    def disturb():
        own_server.freeze()
        while not any("is away" in record.getMessage() for record in caplog.records):
            time.sleep(0.02)
        own_server.thaw()

    with caplog.at_level(logging.WARNING):
        done = crawl_while(own_server, disturb)
    assert len(done[0] + done[1]) == 300
    told = [record.getMessage() for record in caplog.records]
    assert sum("is away" in words for words in told) <= 2 * sum("is back" in words for words in told)
    assert any("is back" in words for words in told)


def test_redis_is_killed_and_started_again_in_the_middle_of_work_and_nothing_is_lost(own_server):
    def disturb():
        for _ in range(2):
            own_server.kill()
            time.sleep(0.3)
            own_server.start()
            time.sleep(0.2)

    done = crawl_while(own_server, disturb)
    assert len(done[0] + done[1]) == 300


def test_a_redis_that_comes_back_empty_is_not_taken_for_the_end_of_the_crawl(tmp_path):
    with RedisServer(tmp_path) as server:
        store = open_redis(server)
        fill(store, 3)
        server.kill()
        server.start()
        with pytest.raises(StoreBroken, match="no longer in Redis"):
            lease(store)
        with server.client() as client:
            assert client.keys("*") == []


def test_a_worker_waits_only_as_long_as_it_has_patience(own_server):
    store = open_redis(own_server, redis_patience=0.5)
    own_server.stop()
    began = time.monotonic()
    with pytest.raises(StoreBroken, match="did not come back within"):
        store.beat()
    assert time.monotonic() - began > 0.4
    own_server.start()


def test_a_worker_that_is_told_to_end_does_not_wait_for_redis(own_server):
    ends = [math.inf]
    store = open_redis(own_server, redis_patience=math.inf, is_ending=lambda: time.monotonic() > ends[0])
    own_server.stop()
    ends[0] = time.monotonic() + 0.5
    with pytest.raises(StoreBroken, match="ended while Redis was away"):
        store.beat()
    own_server.start()


def test_a_call_that_cannot_be_carried_out_ends_the_worker_and_takes_nothing_else_with_it(workers):
    one, other = workers()
    fill(one, 2)
    leased = lease(one)
    one.record(leased, PageRecord(0, leased.url, 0.9, 5, item={"url": leased.url}))
    one.acknowledge(leased, Outcome.PAGE)
    with pytest.raises(StoreBroken, match=r"could not carry out .*\(admit\)"):
        add(one, NewLink("http://h/b", "h", depth="deep"))
    with pytest.raises(StoreBroken, match="could not carry out"):
        one.beat()
    one.close()
    other.beat()
    standing = other.standing()
    assert (standing.pages, standing.found, standing.leased, standing.waiting) == (1, 1, 0, 1)


def test_a_redirect_to_an_address_that_is_too_long_is_not_followed(workers):
    (one,) = workers(1)
    fill(one, 1)
    leased = lease(one)
    assert not one.redirect(leased, f"http://h0/{'x' * 70_000}", "h0")
    one.acknowledge(leased, Outcome.OTHER)
    one.beat()
    assert (one.standing().waiting, one.standing().leased) == (0, 0)


def test_a_full_redis_is_waited_for_and_nothing_is_half_written(own_server):
    store = open_redis(own_server, redis_patience=0.3)
    with own_server.client() as client:
        client.config_set("maxmemory", 1)
        with pytest.raises(StoreBroken, match="maxmemory"):
            add(store, NewLink("http://h/a", "h"))
        client.config_set("maxmemory", 0)
    with pytest.raises(StoreBroken, match="maxmemory"):
        store.beat()
    store.close()
    again = open_redis(own_server)
    again.beat()
    assert again.standing().waiting == 0
    assert add(again, NewLink("http://h/a", "h"))
    again.close()


# --- learning --------------------------------------------------------------------------------------------------------


def test_one_worker_trains_and_another_takes_over_when_it_dies(workers):
    one, other = workers(lease_seconds=0.5)
    assert one.train(0.3)
    assert not other.train(0.3)
    assert one.train(0.3), "it keeps the role"
    until(lambda store: store.train(0.3), other)
    assert not one.train(0.3)
    other.close()
    assert one.train(0.3), "who leaves gives the role back"


def test_only_the_trainer_publishes_and_the_others_load_what_it_did(workers):
    one, other = workers()
    one.train(10.0)
    other.save_model("prioritizer", {"w": np.zeros(1)}, 0)
    assert other.load_model("prioritizer") is None
    one.save_model("prioritizer", {"w": np.arange(3.0)}, 0)
    other.beat()
    assert other.standing().model == 1
    state, upto = other.load_model("prioritizer")
    assert state["w"].tolist() == [0, 1, 2]
    assert upto == 0


def test_after_new_lessons_new_evidence_speaks_alone_until_everything_is_scored_again(redis):
    frontier = Frontier(redis, combine="mean")
    store = frontier.store
    add(store, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.page("http://seed/", 0.5, [("http://h/next", 0.99), ("http://h/a", 0.9), ("http://h/b", 0.3)])
    leased = lease(store)
    store.prioritizer = Plain(0.5, combine="mean")
    frontier.found(leased, [("http://h/a", 0.4)])
    found = lease(store)
    assert (found.url, found.score) == ("http://h/b", pytest.approx(0.3)), "as it was before: it has nothing new"
    store.postpone(found)
    again = lease(store)
    assert again.score == pytest.approx(0.3)
    store.postpone(again)
    rescore(store)
    best = lease(store)
    assert (best.url, best.score) == ("http://h/a", pytest.approx((0.45 + 0.2) / 2))
    store.close()


def test_workers_that_have_the_same_model_weigh_old_evidence_like_new(workers):
    one, other = workers(prioritizer=Plain(combine="mean"))
    one.save_model("prioritizer", {"w": np.arange(3.0)}, 0)
    other.load_model("prioritizer")
    other.prioritizer = Plain(combine="mean")
    add(one, NewLink("http://a/", "a", base=SEED_RANK))
    add(one, NewLink("http://b/", "b", base=SEED_RANK))
    for store, score in ((one, 0.2), (other, 0.6)):
        Frontier.over(store).found(lease(store), [("http://h/x", score)])
        store.commit()
    assert lease(one).score == pytest.approx(0.4)


def test_a_damaged_model_is_not_loaded(redis, workers):
    (store,) = workers(1)
    store.save_model("prioritizer", {"w": np.arange(3.0)}, 0)
    with redis.client() as client:
        client.hset("{focused:test}:model:prioritizer", "data", b"evil")
    with pytest.raises(StoreBroken, match="damaged"):
        store.load_model("prioritizer")


def test_lessons_of_all_workers_are_pooled_in_order_and_let_go_of_when_the_model_knows_them(redis):
    frontiers = [Frontier(redis) for _ in range(2)]
    one, other = (frontier.store for frontier in frontiers)
    add(one, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontiers[0].page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.5)])
    one.commit()
    frontiers[1].page("http://h/a", 0.25)
    other.commit()
    frontiers[0].page("http://h/b", 0.75)
    pooled = pooled_since(one, 0)
    assert [(each.number, each.is_page) for each in pooled] == [(1, True), (2, True), (3, True)]
    assert pooled[0].lessons is None
    assert [each.lessons.relevance.tolist() for each in pooled[1:]] == [[0.25], [0.75]]
    assert one.standing().last_lesson == 3
    one.save_model("prioritizer", {}, 2)
    assert one.standing().last_lesson == 3
    assert [each.number for each in pooled_since(other, 0)] == [3]
    assert [each.number for each in pooled_since(other, 2)] == [3]
    one.close()
    other.close()


# --- verdicts that change --------------------------------------------------------------------------------------------


def judged(store, leased, version, relevance=0.5):
    record = PageRecord(0, leased.url, relevance, leased.link, version=version, gist=b"gist", item={"url": leased.url})
    store.record(leased, record)
    store.acknowledge(leased, Outcome.PAGE)
    store.commit()


def versions(redis):
    (reader,) = open_readers(redis.url, "test", Settings())
    with reader:
        return [item.get("version", 0) for item in reader.items()]


def test_only_the_trainer_publishes_a_critic_and_only_the_next_version(workers):
    one, other = workers()
    one.train(10.0)
    assert not other._pool.publish_critic(Version(1), 25)
    assert one._pool.publish_critic(Version(1), 25)
    assert not one._pool.publish_critic(Version(1), 30)
    assert not one._pool.publish_critic(Version(3), 50)
    other.beat()
    assert (other.standing().critic, other.standing().learned_at, other.standing().has_outdated) == (1, 25, True)
    given = Version()
    assert other._pool.newest(given).version == 1
    assert given.version == 0, "it judges meanwhile"


def test_pages_that_come_in_with_an_outdated_verdict_are_judged_anew(redis, workers):
    one, late = workers()
    fill(one, 6)
    judged(one, lease(one), 0)
    assert one._pool.publish_critic(Version(1), 1)
    judged(late, lease(late), 0)
    one.settle_verdicts(Version())
    assert (versions(redis), one.standing().has_outdated) == ([1, 1], False)
    judged(late, lease(late), 0)
    judged(late, lease(late), 1)
    assert late.standing().outdated == 1
    late.settle_verdicts(Version())
    assert (versions(redis), late.standing().has_outdated) == ([1] * 4, False)
    assert late.standing().relevance == pytest.approx(0.1 * 3 + 0.5), "the last one was judged by the newest"


def test_a_worker_that_leaves_asks_whether_there_is_a_newer_critic(redis, workers):
    trainer, leaves = workers()
    fill(trainer, 1)
    judged(leaves, lease(leaves), 0)
    trainer._pool.publish_critic(Version(1), 1)
    leaves.settle_verdicts(Version())
    assert versions(redis) == [1]


def test_whoever_goes_on_with_a_revision_knows_what_was_answered(redis, workers):
    one, late = workers()
    fill(one, 3)
    for _ in range(2):
        judged(one, lease(one), 0)
    links = [link for pages in one.kept_pages()() for link in pages.links]
    one.keep_answers([Answer(link, said, "me", "now", 0.5) for link, said in zip(links, Says, strict=False)])
    one._pool.publish_critic(Version(1), 2, answers=2)
    judged(late, lease(late), 0)
    one.abandon()
    late.settle_verdicts(Version())
    assert versions(redis) == [1] * 3
    assert late.standing().relevance == pytest.approx(0.95 + 0.05 + 0.1)
    assert late.standing().answers == late.standing().learned_answers == 2


def test_a_revision_that_was_cut_short_is_gone_on_with(redis, workers):
    (one,) = workers(1)
    fill(one, 4)
    for _ in range(4):
        judged(one, lease(one), 0)
    one._pool.publish_critic(Version(1), 4)
    links = [link for pages in one.kept_pages()() for link in pages.links]
    one.revise_verdicts(1, links[:2], Version(1).judge_again([b""] * 2))
    assert versions(redis) == [1, 1, 0, 0]
    one.abandon()
    (next_one,) = workers(1)
    next_one.beat()
    assert next_one.standing().has_outdated
    next_one.settle_verdicts(Version())
    assert versions(redis) == [1] * 4
    assert not next_one.standing().has_outdated


def test_an_older_critic_changes_no_verdict_of_a_newer_one(redis, workers):
    (one,) = workers(1)
    fill(one, 2)
    judged(one, lease(one), 0)
    one._pool.publish_critic(Version(1), 1)
    one._pool.publish_critic(Version(2), 1)
    judged(one, lease(one), 1)
    one.revise_verdicts(2, [1, 2], Version(2).judge_again([b""] * 2))
    one.revise_verdicts(1, [1, 2], Version(1).judge_again([b""] * 2))
    one._pool.verdicts.settle(Version(1))
    assert versions(redis) == [2, 2]
    assert one.standing().relevance == pytest.approx(0.4)


def test_a_critic_that_cannot_judge_pages_anew_leaves_them_their_verdicts(redis, workers, caplog):
    (one,) = workers(1)
    fill(one, 2)
    judged(one, lease(one), 0)
    one._pool.publish_critic(Version(1), 1)
    for _ in range(2):
        one._pool.verdicts.settle(Version(1, fails=True))
    assert versions(redis) == [0]
    assert caplog.text.count("could not judge pages anew") == 1
    assert one.standing().relevance == pytest.approx(0.5)


def test_pages_of_which_redis_has_thrown_away_what_was_kept_are_left_as_they_are(redis, workers):
    (one,) = workers(1)
    fill(one, 1)
    one._pool.publish_critic(Version(1), 1)
    judged(one, lease(one), 0)
    with redis.client() as client:
        client.delete("{focused:test}:gists")
    one.settle_verdicts(Version())
    assert versions(redis) == [0]


def test_readers_follow_the_newest_verdicts(redis, workers):
    (one,) = workers(1)
    fill(one, 3)
    for relevance in (0.9, 0.8, 0.0):
        judged(one, lease(one), 0, relevance)
    (reader,) = open_readers(redis.url, "test", Settings())
    with reader:
        assert reader.status().relevant == 2
        assert reader.status().harvest_now == pytest.approx(1.7 / 3, abs=1e-4)
        links = [link for pages in one.kept_pages()() for link in pages.links]
        one._pool.publish_critic(Version(1), 3)
        one.revise_verdicts(6, links[:2], Version(6).judge_again([b""] * 2))
        status, table = reader.status(), reader.page_table()
        assert status.relevant == 2
        assert status.wanted == pytest.approx(1.2)
        assert status.harvest == status.harvest_now == pytest.approx(0.4)
        assert table.relevance == pytest.approx([0.6, 0.6, 0.0])
        assert table.best_class == ["class 6", "class 6", ""]
        assert [line.relevance for line in reader.pages(links[1:])] == pytest.approx([0.6, 0.0])
        items = list(reader.items())
        assert [(item.get("relevance"), item.get("class"), item.get("version")) for item in items] == [
            (0.6, "class 6", 6),
            (0.6, "class 6", 6),
            (None, None, None),
        ]


def test_links_are_scored_again_by_the_newest_verdicts(redis, monkeypatch):
    critic = Version()
    frontier = Frontier(redis, prioritizer=BestFirst(critic=critic))
    store = frontier.store
    for name in "ab":
        add(store, NewLink(f"http://{name}/", name, base=SEED_RANK))
    frontier.page("http://a/", 0.9, [("http://x/", 0.9)])
    frontier.page("http://b/", 0.3, [("http://y/", 0.3)])
    store.revise_verdicts(1, [1, 2], [Verdict(0.2), Verdict(0.8)])
    store.adopt_critic(Version(1))
    rescore(store)
    with monkeypatch.context() as patch:
        patch.setattr(BestFirst, "renewed", None)
        rescore(store)
        best = lease(store)
        assert (best.url, best.score) == ("http://y/", pytest.approx(0.8))
        assert store.evidence_of(best).dense[:, 0] == pytest.approx([0.8]), "it was seen again once"
    store.close()


def test_the_lessons_of_the_newest_pages_are_kept_to_be_taught_anew(redis):
    frontier = Frontier(redis, most_anew=2)
    store = frontier.store
    add(store, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.5), ("http://h/dead", 0.4)])
    frontier.page("http://h/a", 0.25)
    frontier.page("http://h/b", 0.75)
    dead = lease(store)
    store.pool(dead, store.lessons_of(dead))
    store.acknowledge(dead, Outcome.DEAD)
    store.save_model("prioritizer", {}, 4)
    with redis.client() as client:
        assert (client.llen("{focused:test}:lessons"), client.llen("{focused:test}:taught")) == (0, 2)
    store.revise_verdicts(1, [2], [Verdict(0.5)])
    again = [lessons.relevance.tolist() for lessons in store.lessons_anew(9)()]
    assert again == [[0.5], [0.75]], "of pages"
    store.close()


def test_scoring_again_beside_a_crawl_loses_no_link_and_hands_none_out_twice(redis, workers):
    one, other = workers()
    random = Random(0)
    fill(one, 400, hosts=5)
    taken, held = [], []
    work = None
    for step in range(5_000):
        if step % 7 == 0:
            rescoring = other.rescoring()
            work = _interrupted(rescoring, random)
        if work is not None and next(work, "done") == "done":
            work = None
        leased = lease(one)
        if leased is None:
            break
        if random.random() < 0.2 and leased.tries < 5:
            one.postpone(leased)
        elif random.random() < 0.2:
            held.append(leased)
        else:
            taken.append(leased.url)
            page(one, leased)
    for leased in held:
        one.postpone(leased)
    rescore(other)
    taken += addresses(one)
    assert len(taken) == len(set(taken)) == 400


def _interrupted(rescoring, random):
    """A re-scoring, step by step; sometimes it dies between two of them."""
    for hosts in rescoring._slices():
        links = rescoring._read(hosts)
        yield
        if random.random() < 0.3:
            return
        waits, ranks = rescoring._score(links.links)
        yield
        rescoring._write(links, waits, ranks)
        yield


def test_more_links_than_there_is_room_for_and_the_worst_go(redis):
    store = open_redis(redis, most_waiting=100)
    fill(store, 104, hosts=3)
    rescore(store)
    store.beat()
    assert store.standing().waiting == 95
    assert store.standing().dropped == 9
    assert not add(store, NewLink("http://poor/", "poor", base=0.01)) or store.standing().waiting < 100
    kept = addresses(store)
    assert len(kept) >= 95
    assert not {f"http://h{n % 3}/{n}" for n in range(9)} & set(kept)
    store.close()


def test_a_link_that_was_dropped_may_be_found_again(redis):
    store = open_redis(redis, most_waiting=10)
    fill(store, 20)
    assert store.standing().waiting <= 11
    addresses(store)
    assert add(store, NewLink("http://h0/19", "h0", base=0.95))
    store.close()


@pytest.mark.parametrize("combine", ["first", "mean", "max"])
def test_evidence_of_one_link_takes_no_more_bytes_than_it_may_and_the_first_stays(redis, combine):
    frontier = Frontier(redis, combine=combine, most_bytes=70)
    store = frontier.store
    for n in range(20):
        add(store, NewLink(f"http://seed/{n}", "seed", base=SEED_RANK))
        frontier.page(f"http://seed/{n}", 0.5, [("http://h/a", 0.5 if n == 0 else 0.9 if n == 7 else n / 100)])
    kept = store.lessons_of(lease(store)).evidence.dense[:, 0]
    assert len(kept) == 4, "16 bytes each"
    assert kept[0] == pytest.approx(0.5)
    assert combine != "max" or 0.9 in [pytest.approx(score) for score in kept], "the best stays where it counts"
    store.close()


# --- keys ------------------------------------------------------------------------------------------------------------


def test_all_keys_of_a_crawl_lie_in_one_slot(redis_cluster):
    frontier = Frontier(redis_cluster, most_anew=9)
    add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.5), ("http://h/c", 0.4)])
    frontier.store.save_model("prioritizer", {}, 1)
    assert frontier.store._pool.publish_critic(Version(1), 1)
    judged(frontier.store, lease(frontier.store), 0)
    frontier.store.note("key", "value")
    rescore(frontier.store)
    lease(frontier.store)
    frontier.store.commit()
    with redis_cluster.client() as client:
        keys = client.keys("*")
        assert {key.partition(b":")[2].partition(b":")[2] for key in keys} > {b"gists", b"outdated", b"taught"}
        assert len(keys) > 15
        assert len({client.execute_command("CLUSTER KEYSLOT", key) for key in keys}) == 1
        assert all(key.startswith(b"{focused:test}:") for key in keys)
        with pytest.raises(ResponseError, match=r"non local key|cross slot|same slot"):
            client.eval("#!lua\nredis.call('EXISTS', KEYS[1]) return redis.call('EXISTS', 'elsewhere')", 1, keys[0])
    frontier.store.close()


def test_a_client_of_a_cluster_will_do(redis_cluster):
    store = RedisStore(RedisCluster(host="127.0.0.1", port=redis_cluster.port), "test", "worker", Plain())
    fill(store, 3)
    page(store, lease(store))
    rescore(store)
    assert addresses(store) == ["http://h0/1", "http://h0/0"]
    store.close()
    client = RedisCluster(host="127.0.0.1", port=redis_cluster.port)
    assert [*forget(client, "test")]
    assert client.keys("*") == []
    client.close()


def test_crawls_lie_beside_one_another_and_one_can_begin_anew(redis, workers):
    (store,) = workers(1)
    fill(store, 3)
    with redis.client() as client:
        client.set("{focused:test2}:meta", "another crawl")
        assert [*forget(client, "test")]
        assert client.keys("*") == [b"{focused:test2}:meta"]


def test_a_worker_of_another_topic_is_refused(redis):
    open_redis(redis, identity={"topic": "chess", "prioritizer": "plain"}).close()
    with pytest.raises(JobRefused, match="made with topic 'chess', this one has 'go'"):
        open_redis(redis, identity={"topic": "go", "prioritizer": "plain"})
    open_redis(redis, identity={"topic": "chess", "prioritizer": "plain"}).close()


def test_a_crawl_that_an_older_version_has_written_is_refused(redis):
    open_redis(redis).close()
    with redis.client() as client:
        client.hset("{focused:test}:meta", "of:format", FORMAT - 1)
    with pytest.raises(JobRefused, match=f"made with format '{FORMAT - 1}', this one has '{FORMAT}'"):
        open_redis(redis)


def test_a_prioritizer_whose_evidence_is_packed_otherwise_is_refused(redis):
    packed = Plain()
    packed.id_bits = 18
    open_redis(redis).close()
    with pytest.raises(JobRefused, match="id bits '32'"):
        open_redis(redis, packed)
