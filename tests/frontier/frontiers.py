"""A frontier store under test, of either kind, and what tests do with it."""

from __future__ import annotations

from itertools import count

import numpy as np

from focused.frontier.store import NewLink, Outcome, PageRecord
from focused.frontier.store_sqlite import SqliteStore
from focused.lab.redis.server import RedisServer
from focused.lab.redis.stores import PromptStore
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer
from focused.redis.store import RedisStore

_NAMES = count(1)


def always(_host):
    return 0.0


def lease(store, gate=always):
    """The next link. Its request goes out at once, to a host that may be fetched at any pace."""
    leased = store.lease(0, gate)
    if leased is not None and isinstance(store, RedisStore):
        store.sent(leased, 0.0, 1_000, 0.0)
    return leased


def pool(store, leased, lessons):
    """Have lessons go where the lessons of the crawl are kept, if that is not with its records."""
    if isinstance(store, RedisStore):
        store.pool(leased, lessons)


def pooled_since(store, number):
    """What all workers pooled after the lessons with a number."""
    store.commit()
    return store._pool.lessons_after(number, 1_000)


def lessons_since(store, order):
    """The lessons of each page after the given one, as they are learned again."""
    if isinstance(store, RedisStore):
        return [pooled.lessons for pooled in pooled_since(store, order)]
    return store.lessons_since(order)


def rescore(store):
    """Score all that waits anew."""
    rescoring = store.rescoring()
    rescoring.score()
    rescoring.adopt()


def add(store, new):
    """Admit a link that was found on no page; False if it is known."""
    return bool(store.admit(None, [new]).fresh[0])


def addresses(store):
    """Lease all that can be leased."""
    taken = []
    while (leased := lease(store)) is not None:
        taken.append(leased.url)
    return taken


def open_redis(server, prioritizer=None, kind=RedisStore, **options):
    """A worker's store in a server's crawl."""
    options = {"redis_patience": 20.0, **options}
    return kind(server.client(), "test", f"worker-{next(_NAMES)}", prioritizer or Plain(), **options)


def opener(place):
    """What opens the crawl in a job folder or on a server, again and again."""
    if isinstance(place, RedisServer):
        return lambda prioritizer: open_redis(place, prioritizer, kind=PromptStore, most_anew=99)
    return lambda prioritizer: SqliteStore(place, prioritizer)


def crash(store):
    """Let go of everything as the death of the process would: without a word to the database."""
    if isinstance(store, RedisStore):
        store.abandon()
    else:
        store._file._db.rollback()
        store._file.close()


class Plain(Prioritizer):
    """The score stands in the evidence, times a factor that "learning" changes."""

    name = "plain"
    dense = ("score",)
    learns = True

    def __init__(self, factor=1.0, **options):
        super().__init__(**options)
        self.factor = factor

    def evidence(self, page, verdict, links, *, fetched=None, arrived_by=None):
        raise AssertionError("not used here")

    def score(self, evidence):
        return (evidence.dense[:, 0] * self.factor % 1.0).astype(np.float32)


class Frontier:
    """A store under test; `again` closes it and opens it again where that should make no difference.

    ``place`` is a job folder or a server of Redis.
    """

    def __init__(self, place, reopens=False, **options):
        self.place, self.reopens, self.options = place, reopens, options
        self.store = self.open()

    @classmethod
    def over(cls, store):
        """A store that is open already."""
        frontier = cls.__new__(cls)
        frontier.store, frontier.reopens = store, False
        return frontier

    def open(self):
        options = {"prioritizer": Plain(combine=self.options.pop("combine", "mean")), **self.options}
        made = open_redis if isinstance(self.place, RedisServer) else SqliteStore
        store = made(self.place, options.pop("prioritizer"), **options)
        rescore(store)
        return store

    def again(self):
        if self.reopens:
            combine = self.store.prioritizer.combine
            self.store.close()
            self.options["combine"] = combine
            self.store = self.open()
        return self.store

    def page(self, url, relevance, links=(), digest=None):
        """Lease the best link, which must be ``url``; judge it, find links on it, acknowledge it."""
        leased = lease(self.store)
        assert leased is not None
        assert leased.url == url
        number = digest if digest is not None else hash(url) & 0xFFFFFFFF
        record = PageRecord(0, url, relevance, number, item={"url": url, "relevance": relevance})
        self.store.record(leased, record)
        admitted = self.found(leased, links) if links else None
        pool(self.store, leased, admitted and admitted.lessons)
        lessons = self.store.lessons_of(leased)
        pool(self.store, leased, lessons)
        self.store.acknowledge(leased, Outcome.PAGE)
        return leased, lessons

    def found(self, leased, links):
        """Admit the wanted among some links of a leased page; each comes with the number in its evidence."""
        known = self.store.known([url for url, _ in links])
        wanted = np.flatnonzero(known.wanted)
        if not len(wanted):
            return None
        dense = np.array([links[i][1] for i in wanted], np.float32)
        evidence = Evidence.of(np.zeros(len(wanted) + 1, np.int64), np.zeros(0, np.uint32), dense)
        new = [
            NewLink(links[i][0], "host", link=int(known.links[i]), depth=1, relevance=float(known.relevance[i]))
            for i in wanted
        ]
        return self.store.admit(leased, new, evidence, self.store.prioritizer.finite_scores(evidence))
