"""Whatever becomes of a crawl's keys, its workers go on or end with a sentence, and so does whoever reads it.

Each key of a crawl is deleted, given another type, filled with random bytes, or made huge, while workers are on it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scrapy.settings import Settings

from focused.arrays import load_arrays, save_arrays
from focused.frontier.store import Answer, JobRefused, NewLink, Outcome, PageRecord, Says, StoreBroken
from focused.lab.redis.server import RedisServer
from focused.lab.redis.stores import PromptStore
from focused.redis.pool import ModelDamaged, Pool
from focused.redis.reading.reader import open_readers
from focused.redis.server import CrawlDamaged, operation
from focused.redis.workers.questions import SharedCandidates, candidate_to_bytes
from focused.redis.workers.trainer import PooledTrainer
from focused.report.status import status_json, status_lines
from focused.report.waiting import list_next
from focused.report.why import UnknownLink, explain_link
from focused.safety.neighbourhoods import Ceiling
from focused.scheduling.starts import ABOUT
from focused.visits.questions import Candidate, Question
from focused.visits.training import CRITIC, MODEL
from tests.attacks import some
from tests.frontier.frontiers import Frontier, Plain, add, lease, open_redis, rescore
from tests.redis.damages import DAMAGES
from tests.redis.versions import Version

PREFIX = "{focused:test}:"
_KEYS = """
meta ids links hosts names paces order:1 run:1 old:1 crowds ready resting asleep suspects suspected workers leases:idle
answers pages gists outdated items recent targets digests outcomes past words shorts lessons taught model:prioritizer
model:critic notes said questions neighbours groups stands closed line:domain:busy.com
"""
KEYS = _KEYS.split()
ABOUT_IT = {"topic": {"name": "birds"}, "critic": "version", "prioritizer": {"name": "best-first", "options": {}}}
NO_WORDS = np.zeros(0, np.uint32), np.zeros(0, np.int64)
HIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class Learning(Plain):
    """Learns nothing, and says so at each batch."""

    def learn(self, lessons):
        return Learning(self.factor)

    def state(self):
        return {"factor": np.array(self.factor)}

    def restore(self, state):
        self.factor = float(state["factor"])


class Crawl:
    """A crawl with something under each of its keys: one worker, another that has a lease, and one that died."""

    def __init__(self, redis: RedisServer) -> None:
        self.redis, self.client = redis, redis.client()
        dead = self.open(name="dead")
        self.one = self.open(name="one")
        self.idle = self.open(name="idle")
        self.frontier = Frontier.over(self.one)
        add(self.one, NewLink("http://seed/", "host", base=10.0))
        self.frontier.page("http://seed/", 0.5, [(f"http://host/{n}", n / 40) for n in range(40)])
        for n in range(30):
            add(self.one, NewLink(f"http://h{n % 3}/{n}", f"h{n % 3}", base=n / 50))
        self.one.note(ABOUT, json.dumps(ABOUT_IT))
        self.one.keep_answers([Answer(1, Says.YES, "me", "day 1", 0.5)])
        self.one.offer(candidate_to_bytes(Candidate(1, Question("http://seed/", "", ""), NO_WORDS)), 9)
        # Two links were out when their worker died; one of them is out again.
        for _ in range(2):
            assert lease(dead)
        dead.commit()
        dead.abandon()
        for n in range(12):
            self.fetch(self.one, version=0, is_short=n % 2 == 0, digest=n // 2)
        leased = lease(self.one)
        self.one.redirect(leased, "http://host/elsewhere", "host")
        self.one.acknowledge(leased, Outcome.DEAD, "404")
        assert self.one.train(1_000)
        self.one.save_model(MODEL, Learning().state(), 6)
        assert self.one._pool.publish_critic(Version(1), 6)
        self.fetch(self.one, version=0)
        self.one.server.call([operation("words", {b"\0\0\0\1": "star"})])
        rescore(self.one)
        add(self.one, NewLink("http://host/late", "host", base=0.01))
        self.one.server.call([operation("snapshot", 1)])
        add(self.one, NewLink("http://host/later", "host", base=0.01))
        sleeping = add(self.one, NewLink("http://asleep/", "asleep", base=0.01))
        assert sleeping
        self.one.sleep("asleep", 0.5)
        # A domain is at its ceiling for a second, and two of its hosts stand in line.
        for n in range(3):
            add(self.one, NewLink(f"http://h{n}.busy.com/", f"h{n}.busy.com", base=0.001))
            for _ in range(10 if n == 0 else 0):
                self.one.ask_beside("h0.busy.com")
        self.client.zadd(f"{PREFIX}workers", {"dead": -1e6})
        self.one.beat()
        assert lease(self.idle)
        self.idle.commit()

    def open(self, name: str) -> PromptStore:
        """A worker that is taken for dead soon: what it leaves behind must not be waited for in this test."""
        store: PromptStore = open_redis(
            *(self.redis, Learning()),
            **{"kind": PromptStore, "lease_seconds": 1.0, "most_anew": 99, "redis_patience": 0.0},
            ceilings=(Ceiling(10, 0, 0), Ceiling(0, 0, 0)),
        )
        store.server.worker = name
        return store

    def fetch(self, store: PromptStore, *, version: int, is_short: bool = False, digest: int | None = None) -> None:
        leased = lease(store)
        item = {"url": leased.url, "title": "a page", "relevance": 0.5, "class": "bird"}
        page = PageRecord(0, leased.url, 0.5, leased.link if digest is None else digest, best_class="bird", item=item)
        page.version, page.gist, page.is_short = version, b"gist", is_short
        store.record(leased, page)
        store.pool(leased, store.lessons_of(leased))
        store.acknowledge(leased, Outcome.PAGE)
        store.commit()

    def close(self) -> None:
        for store in (self.one, self.idle):
            store.abandon()
        self.client.close()


@pytest.fixture
def crawl(redis: RedisServer) -> Iterator[Crawl]:
    crawl = Crawl(redis)
    yield crawl
    crawl.close()


def test_all_keys_of_a_crawl_are_tried(crawl):
    there = {key.decode().removeprefix(PREFIX) for key in crawl.client.keys(f"{PREFIX}*")}
    others = {key for key in there if re.fullmatch(r"(order|run|old):[2-9]|leases:one", key)}
    assert there - others == {*KEYS}


@pytest.mark.parametrize(("key", "damage"), some([(key, damage) for key in KEYS for damage in DAMAGES], 3))
def test_whoever_reads_is_told_and_a_worker_goes_on_or_ends_with_a_sentence(crawl, key, damage):
    damage(crawl.client, PREFIX + key)
    for text in _shown_of(crawl):
        assert len(text) < 10_000
        assert not HIDDEN.search(text)
    sentence = _end_of(crawl)
    assert len(sentence) < 1_000
    assert not HIDDEN.search(sentence)


def _end_of(crawl: Crawl) -> str:
    """Why a worker ends; '' if nothing is left to do."""
    try:
        _live_on(crawl)
    except StoreBroken as error:
        return str(error)
    return ""


def _live_on(crawl: Crawl) -> None:
    """What a worker does until nothing is left; AssertionError if it would never end."""
    one, waited = crawl.one, 0
    crawl.idle.close()
    for _ in range(1_000):
        one.beat()
        leased = lease(one)
        if leased is not None:
            _fetch(crawl.frontier, leased)
        elif one.next_wake() is None:
            break
        else:
            waited += 1
            # A worker is taken for dead after one second, and a host sleeps for half of one.
            assert waited < 100, "it waits for what never comes"
            time.sleep(0.05)
    else:
        raise AssertionError("there is always one link more")
    one.settle_verdicts(Version())
    one.answers()
    SharedCandidates(one).remove([])
    PooledTrainer(crawl.one._pool, Learning(), 1, untaught=lambda critic: Learning(critic=critic), most_anew=9).train()
    rescore(one)
    one.close()


def _fetch(frontier: Frontier, leased: Any) -> None:
    store = frontier.store
    store.begin_work(leased)
    store.record(leased, PageRecord(0, leased.url, 0.5, leased.link, item={"url": leased.url}, version=1, gist=b"gist"))
    admitted = frontier.found(leased, [("http://host/1", 0.5), ("http://host/2", 0.4), (f"{leased.url}x", 0.1)][:2])
    store.pool(leased, admitted and admitted.lessons)
    store.pool(leased, store.lessons_of(leased))
    store.acknowledge(leased, Outcome.PAGE)


def _shown_of(crawl: Crawl) -> list[str]:
    """What commands show of a crawl, and why they show nothing."""
    try:
        (reader,) = open_readers(crawl.redis.url, None, Settings())
    except JobRefused as error:
        return [str(error)]
    shown: list[Callable[[], str]] = [
        lambda: "\n".join(status_lines(reader.status())),
        lambda: status_json(reader.status()),
        lambda: str(len(list(reader.items()))),
        lambda: str(reader.page_table().link.sum()),
        lambda: "\n".join(list_next(reader)),
        lambda: "\n".join(explain_link(reader, "http://host/39")),
        lambda: str(len(reader.details(Outcome.DEAD, 5))),
        lambda: str(len(reader.words().words)),
    ]
    with reader:
        return [_read(show) for show in shown]


def _read(show: Callable[[], str]) -> str:
    try:
        return show()
    except (JobRefused, UnknownLink) as error:
        return str(error)


# --- single values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["waiting", "leased", "pages", "order", "hosts", "relevance", "clock"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1e9", "1e300", "x"])
def test_a_number_that_cannot_be_is_not_counted_on(crawl, field, value):
    crawl.client.hset(f"{PREFIX}meta", field, value)
    assert len(_end_of(crawl)) < 1_000


def test_a_link_that_waits_nowhere_is_not_waited_for(crawl):
    for key in ("ready", "resting", "asleep", "suspects"):
        crawl.client.delete(PREFIX + key)
    assert re.search(r"\d+ links wait and 0 are in progress, but none of them is anywhere", _end_of(crawl))


def test_an_answer_that_was_given_before_the_call_is_refused(crawl):
    answer = crawl.client.hget(f"{PREFIX}answers", "one")
    crawl.client.hset(f"{PREFIX}answers", "one", np.float64(1e300).tobytes() + answer[8:])
    with pytest.raises(CrawlDamaged, match="answered before it came"):
        crawl.one.beat()


def test_lessons_that_cannot_be_read_are_left_out_and_the_others_learned(crawl, caplog):
    pool = crawl.one._pool
    before = pool.lessons_after(6, 100)
    for at in (0, 2):
        crawl.client.lset(f"{PREFIX}lessons", at, b"\1\0\0junk")
    after = pool.lessons_after(6, 100)
    assert [one.number for one in after] == [one.number for one in before]
    assert [one.lessons is None for one in after[:3]] == [True, False, True]
    assert pool.unreadable == 2
    assert caplog.text.count("cannot be read") == 1


BOMB = b"PK\3\4" + bytes(100)


@pytest.mark.parametrize("name", [MODEL, CRITIC])
@pytest.mark.parametrize(
    "data",
    [b"", b"evil", b"\x80\x04N.", BOMB, save_arrays({"a": np.zeros(3)})[:-9], b"\x93NUMPY\1\0" + bytes(99)],
    ids=["nothing", "a word", "a pickle", "half a zip", "cut off", "a bare array"],
)
def test_a_model_that_is_none_is_not_loaded_though_its_digest_is_right(crawl, name, data):
    from focused.redis.pool import _digest

    crawl.client.hset(f"{PREFIX}model:{name}", mapping={"data": data, "digest": _digest(data)})
    with pytest.raises(ModelDamaged, match="delete its key"):
        Pool(crawl.one.server).model(name)


def test_arrays_that_would_grow_when_they_are_unpacked_are_refused():
    from io import BytesIO

    packed = BytesIO()
    np.savez_compressed(packed, a=np.zeros(10_000_000))
    assert len(packed.getvalue()) < 100_000
    with pytest.raises(ValueError, match="unpack to"):
        load_arrays(packed.getvalue())


def test_arrays_that_hold_objects_are_refused():
    from io import BytesIO

    packed = BytesIO()
    np.savez(packed, a=np.array([print], object))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_arrays(packed.getvalue())
