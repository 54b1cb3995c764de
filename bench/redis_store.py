"""The frontier in Redis: work a page there and here, bytes a waiting link, scoring everything again.

    python -m bench.redis_store [--web demo] [--links 200000] [--pages 1500] [--learning]

Pages and links are those of a generated web, with the evidence of the default prioritizer; there are as many copies of
it as it takes. Aims: at most 0.5 ms of Redis a page, at most 700 bytes of it a waiting
link, a million of links scored again within 8 s (beside a crawl: `bench/redis_rescoring.py`).

Prints Redis's own time a page (INFO commandstats), the CPU a page of a worker on Redis and, in the same run, of one on
SQLite; what an empty call costs, what is kept of a page that was fetched, what learning costs; the memory of
the keys; and how long it takes to score everything again. `bench/scale.py` reads it. With `--learning` there is a
critic that learns on the job, for which more is kept; all evidence that is scored again was seen by an older version.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import numpy as np

from focused.critics.base import LearningCritic, Verdict
from focused.critics.combined import CombinedCritic
from focused.defaults import DEFAULTS
from focused.frontier.store import SEED_RANK, FrontierStore, Lease, NewLink, Outcome, PageRecord
from focused.frontier.store_sqlite import SqliteStore
from focused.lab.demo.webs import WEBS, make_web
from focused.lab.redis.server import RedisServer
from focused.lab.redis.stores import PromptStore
from focused.pages.evidence import Evidence
from focused.pages.page import page_from_html
from focused.pages.urls import url_to_host, url_to_key
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused
from focused.redis.server import operation
from focused.redis.store import RedisStore
from focused.redis.workers.trainer import PooledTrainer

FETCHED = 1 / 3
KEYWORDS = ("star", "galaxy", "telescope", "planet", "comet")
LESSONS = 2_000
EMPTY = 1_000
# As long as those of a crawl are.
ITEM = {
    "title": "t" * 40,
    "relevance": 0.992351,
    "class": "stars",
    "depth": 3,
    "order": 101,
    "score": 0.9728259444236755,
    "time": "2026-11-18T09:35:15+00:00",
}


Teach = Callable[[Lease, Lessons | None], None]


@dataclass
class Seen:
    """A page as the crawl sees it: its links, their evidence and scores, and what its critic wants to be kept of it."""

    url: str
    urls: list[str]
    evidence: Evidence
    scores: np.ndarray
    gist: bytes


def read_web(name: str, prioritizer: Focused) -> dict[str, Seen]:
    """All pages of a generated web, with the evidence of their links."""
    random, seen = Random(0), {}
    for url, answer in make_web(name).pages.items():
        if answer.status == 200 and dict(answer.headers)["Content-Type"].startswith("text/html"):
            page = page_from_html(answer.body, url)
            evidence = prioritizer.evidence(page, Verdict(random.random() ** 4), page.links)
            gist = prioritizer.critic.gist(page) if isinstance(prioritizer.critic, LearningCritic) else b""
            seen[url] = Seen(url, page.links.urls, evidence, prioritizer.score(evidence), gist)
    return seen


def taught(prioritizer: Focused, pages: list[Seen]) -> Focused:
    """A prioritizer that has learned something, so that its scores differ."""
    random = np.random.default_rng(0)
    evidence = Evidence.concat([page.evidence for page in pages])
    evidence = evidence.select(random.choice(len(evidence), min(LESSONS, len(evidence)), replace=False))
    n = len(evidence)
    relevance = random.random(n).astype(np.float32) ** 4
    learned = prioritizer.learn(
        Lessons(evidence, relevance, relevance, np.ones(n, np.float32), *np.ones((2, n), np.bool_))
    )
    assert learned is not None
    return learned


class Worker:
    """Works on a store as a crawl does, page after page of copies of the web."""

    def __init__(self, store: FrontierStore, pages: dict[str, Seen], teach: Teach = lambda *_: None) -> None:
        self.store, self.pages, self._teach = store, pages, teach
        self._copies = count()
        self._seeds = [next(iter(pages))]

    def work(self, number: int) -> int:
        """Fetch so many pages."""
        done = 0
        while done < number:
            lease = self.store.lease(0.0, lambda _: 0.0)
            if lease is None:
                copy = next(self._copies)
                for seed in self._seeds:
                    self.store.admit(None, [NewLink(f"{seed}?{copy}", url_to_host(seed), base=SEED_RANK)])
                continue
            url, _, query = lease.url.partition("?")
            if url not in self.pages:
                self.store.acknowledge(lease, Outcome.DEAD, "404")
                continue
            self._page(lease, self.pages[url], query)
            done += 1
        return done

    def _page(self, lease: Lease, page: Seen, copy: str) -> None:
        store = self.store
        digest = url_to_key(f"{page.url}?{copy}")
        item = {**ITEM, "url": page.url, "parent": page.url}
        store.record(lease, PageRecord(0, page.url, 0.5, digest, gist=page.gist, item=item))
        urls = [f"{url}?{copy}" for url in page.urls]
        known = store.known(urls)
        wanted = np.flatnonzero(known.wanted & (known.links != lease.link))
        if len(wanted):
            columns = zip(wanted.tolist(), known.links[wanted].tolist(), known.relevance[wanted].tolist(), strict=True)
            links = [
                NewLink(urls[i], url_to_host(urls[i]), link=link, depth=1, relevance=relevance)
                for i, link, relevance in columns
            ]
            self._teach(lease, store.admit(lease, links, page.evidence.select(wanted), page.scores[wanted]).lessons)
        self._teach(lease, store.lessons_of(lease))
        store.acknowledge(lease, Outcome.PAGE)


def open_store(server: RedisServer, prioritizer: Focused, worker: str, *, crawl: str = "bench") -> RedisStore:
    most_anew = DEFAULTS["FOCUSED_LESSONS_ANEW"] if prioritizer.critic is not None else 0
    client = server.client(60.0)
    return PromptStore(client, crawl, worker, prioritizer, most_late=5, most_anew=most_anew, patience=0.25)


def cost_of_pages(server: RedisServer, folder: Path, prioritizer: Focused, pages: dict[str, Seen], number: int) -> None:
    """Some pages on either store, by turns."""
    redis = open_store(server, prioritizer, "pages")
    sqlite = SqliteStore(folder, prioritizer, most_late=5, patience=0.25)
    workers = {"redis": Worker(redis, pages, redis.pool), "sqlite": Worker(sqlite, pages)}
    for worker in workers.values():
        worker.work(200)
    cpu = dict.fromkeys(workers, 0.0)
    with server.client() as client:
        client.config_resetstat()
        for _ in range(10):
            for name, worker in workers.items():
                began = time.process_time()
                worker.work(number // 10)
                cpu[name] += time.process_time() - began
        stats = client.info("commandstats")
        kept = sum(
            client.memory_usage(redis.server.prefix + key, samples=1_000) or 0
            for key in ("pages", "items", "digests", "past", "gists")
        )
        entry = client.memory_usage(redis.server.prefix + "ids", samples=1_000) / client.hlen(
            redis.server.prefix + "ids"
        )
        before = client.info("commandstats")["cmdstat_fcall"]["usec"]
        for _ in range(EMPTY):
            redis.beat()
        empty = (client.info("commandstats")["cmdstat_fcall"]["usec"] - before) / EMPTY
    scripts = stats["cmdstat_fcall"]
    done = number // 10 * 10
    print(f"Redis            {scripts['usec'] / done / 1000:.3f} ms a page in {scripts['calls'] / done:.2f} calls")
    for name, seconds in cpu.items():
        print(f"{name:<16} {1000 * seconds / done:.2f} ms of the worker's CPU a page")
    print(f"empty call       {empty / 1000:.3f} ms of Redis")
    print(f"fetched          {kept / redis.standing().pages + entry:.0f} bytes a page")
    print(f"learning         {cost_of_learning(server, redis):.2f} ms of the trainer's CPU a page")
    with server.client() as client:
        gists, lessons = (redis.server.prefix + key for key in ("gists", "taught"))
        if there := client.llen(lessons):
            gist = client.memory_usage(gists, samples=1_000) / client.hlen(gists)
            lesson = client.memory_usage(lessons, samples=1_000) / there
            print(f"to learn anew    {gist:.0f} bytes a page, and {lesson:.0f} for its lessons")
    redis.close()
    sqlite.close()


def cost_of_learning(server: RedisServer, store: RedisStore) -> float:
    """Milliseconds a page to read, learn and publish what all pages so far teach."""
    with server.client(60.0) as client:
        trainer = PooledTrainer(store.pool_over(client), store.prioritizer, store.prioritizer.learns_every)
        store.train(60.0)
        began = time.process_time()
        while trainer.train():
            pass
        return 1000 * (time.process_time() - began) / store.standing().pages


def fill(store: RedisStore, pages: dict[str, Seen], links: int, hosts: int) -> None:
    """Let links wait with the evidence that they have when a third of their web has been fetched."""
    random = Random(1)
    fetched = set(random.sample(sorted(pages), int(len(pages) * FETCHED)))
    waiting: dict[str, list[list[object]]] = {}
    for source, url in enumerate(sorted(fetched), 1):
        page = pages[url]
        pieces = store._packing.pieces(page.evidence, source)
        for target, score, piece in zip(page.urls, page.scores.tolist(), pieces, strict=True):
            if target not in fetched:
                waiting.setdefault(target, []).append([score, piece])
    kept = {url: random.sample(found, min(len(found), 8)) for url, found in waiting.items()}
    print(f"evidence         {sum(map(len, kept.values())) / len(kept):.2f} pieces a link")
    operations: list[bytes] = []
    for n, (url, host, found) in zip(range(links), _copies(kept), strict=False):
        raw, on = url.encode(), f"{n % hosts}.example" if hosts else host
        new = {
            "host": on,
            "depth": 3,
            "base": 0.0,
            "length": len(raw),
            "request": 0,
            "body": raw + bytes(-len(raw) % 4),
        }
        operations.append(operation("admit", 0, [[url_to_key(url).to_bytes(8, "big"), found, 0.0, new]], 0))
        if len(operations) == 500 or n == links - 1:
            store.server.call(operations)
            operations = []


def _copies(kept: dict[str, list[list[object]]]) -> Iterator[tuple[str, str, list[list[object]]]]:
    for copy in count():
        for url, found in kept.items():
            host = url_to_host(url)
            yield url.replace(host, f"{copy}.{host}", 1), f"{copy}.{host}", found


def memory(server: RedisServer, links: int) -> None:
    """Bytes of all keys, and of each kind."""
    kinds: dict[str, int] = {}
    with server.client(60.0) as client:
        for key in client.scan_iter(count=1_000):
            kind = key.decode().split(":")[2]
            kinds[kind] = kinds.get(kind, 0) + client.memory_usage(key, samples=1_000)
        used = client.info("memory")["used_memory_dataset"]
    parts = ", ".join(
        f"{kind} {size / links:.0f}" for kind, size in sorted(kinds.items(), key=lambda kind: -kind[1])[:6]
    )
    print(f"memory           {used / links:.0f} bytes a waiting link ({parts})")


def rescore(store: RedisStore) -> float:
    began = time.perf_counter()
    store.rescoring().score()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", choices=WEBS, default="demo")
    parser.add_argument("--links", type=int, default=200_000)
    parser.add_argument("--hosts", type=int, default=0, help="spread them over so many hosts; 0 = as the web does")
    parser.add_argument("--pages", type=int, default=1_500)
    parser.add_argument("--learning", action="store_true", help="with a critic that learns on the job")
    options = parser.parse_args()
    prioritizer = Focused(critic=CombinedCritic(keywords=KEYWORDS) if options.learning else None)
    pages = read_web(options.web, prioritizer)
    learned = taught(prioritizer, list(pages.values()))
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as server:
        cost_of_pages(server, Path(folder), learned, pages, options.pages)
        with server.client() as client:
            client.flushall()
        store = open_store(server, learned, "rescoring")
        began = time.perf_counter()
        fill(store, pages, options.links, options.hosts)
        standing = store.standing()
        seconds = time.perf_counter() - began
        print(f"{standing.waiting:,} links wait, {standing.evidence:,} pieces; filled in {seconds:.0f} s")
        if isinstance(critic := learned.critic, LearningCritic):
            store.adopt_critic(critic.learn_from_pages([page.gist for page in pages.values()]) or critic)
        first = rescore(store)
        memory(server, options.links)
        with server.client() as client:
            before = client.info("cpu")["used_cpu_user"] + client.info("cpu")["used_cpu_sys"]
            again = rescore(store)
            after = client.info("cpu")["used_cpu_user"] + client.info("cpu")["used_cpu_sys"]
        print(f"hosts            {store.standing().hosts:,}")
        print(f"scoring again    {again:.2f} s ({first:.2f} s the first time), {after - before:.2f} s of Redis's CPU")
        store.close()


if __name__ == "__main__":
    main()
