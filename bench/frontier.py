"""The frontier with a million waiting links: re-scoring, pauses of the event loop, memory, cost per page.

    python -m bench.frontier [--links 1000000] [--features 80]

Aims: re-scoring all within 1 s, no pause above 50 ms, at most 120 bytes of memory per waiting link beside the
evidence on disk, cost per page at most 1.3 x that with 10,000 links waiting.
"""

import argparse
import asyncio
import gc
import resource
import tempfile
import time
from itertools import count
from pathlib import Path

import numpy as np

from focused.frontier.store import NewLink, Outcome, PageRecord
from focused.frontier.store_sqlite import SqliteStore
from focused.pages.evidence import Evidence
from focused.papers.prioritizers.apprentice import Apprentice

LINKS_A_PAGE = 40
HOSTS = 500
PAGES = 300


def evidence_of(random, apprentice, features):
    n = LINKS_A_PAGE
    starts = np.arange(n + 1, dtype=np.int64) * features
    ids = random.integers(0, 2**32, n * features, dtype=np.uint32)
    return Evidence.of(starts, ids, random.random((n, len(apprentice.dense)), dtype=np.float32))


def page(store, random, number, features, fresh):
    """One page as a crawl does it: lease, links and evidence, record, lessons, acknowledgement."""
    apprentice = store.prioritizer
    lease = store.lease(0.0, lambda _: 0.0)
    store.record(lease, PageRecord(0, lease.url, 0.5, number))
    known = store.known(fresh)
    evidence = evidence_of(random, apprentice, features)
    pairs = zip(fresh, known.links.tolist(), strict=True)
    links = [NewLink(url, f"host{hash(url) % HOSTS}.example", link=link, depth=1) for url, link in pairs]
    store.admit(lease, links, evidence, apprentice.score(evidence))
    store.lessons_of(lease)
    store.acknowledge(lease, Outcome.PAGE)


def grow(store, random, numbers, upto, features):
    """Fetch pages until so many links wait; the numbers of these pages."""
    grown = []
    while store.standing().waiting < upto:
        grown.append(next(numbers))
        page(store, random, grown[-1], features, [f"http://example.com/{grown[-1]}/{i}" for i in range(LINKS_A_PAGE)])
    return grown


def cost(store, random, numbers, grown, features):
    """CPU per page; each page brings one new link and 39 that are known, so that the frontier stays as it is."""
    before = time.process_time()
    for n in range(PAGES):
        known = [f"http://example.com/{grown[n % len(grown)]}/{i}" for i in range(1, LINKS_A_PAGE)]
        number = next(numbers)
        page(store, random, number, features, [f"http://example.com/new/{number}", *known])
    return (time.process_time() - before) / PAGES


async def watch(pauses, stop):
    while not stop.is_set():
        before = time.perf_counter()
        await asyncio.sleep(0.001)
        pauses.append(time.perf_counter() - before - 0.001)


async def rescore(store):
    """Re-score in a thread, as the crawl does; seconds of wall clock and CPU, and the longest pause of the loop."""
    pauses: list[float] = []
    stop = asyncio.Event()
    watcher = asyncio.create_task(watch(pauses, stop))
    await asyncio.sleep(0.2)
    pauses.clear()
    wall, cpu = time.perf_counter(), time.process_time()
    rescoring = store.rescoring()
    await asyncio.to_thread(rescoring.score)
    rescoring.adopt()
    await asyncio.sleep(0.01)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    stop.set()
    await watcher
    return wall, cpu, max(pauses)


def resident():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=80)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder), Apprentice())
        store.admit(None, [NewLink("http://example.com/", "example.com")])
        numbers = count(1)
        grown = grow(store, random, numbers, 10_000, options.features)
        small, before = cost(store, random, numbers, grown, options.features), resident()
        waiting = store.standing().waiting
        grown += grow(store, random, numbers, options.links, options.features)
        memory = (resident() - before) / (store.standing().waiting - waiting)
        large = cost(store, random, numbers, grown, options.features)
        results = [asyncio.run(rescore(store)) for _ in range(3)]
        wall, cpu, _ = min(results)
        pause = max(longest for _, _, longest in results)
        standing = store.standing()
        print(
            f"{standing.waiting:,} links wait, {standing.evidence:,} pieces of evidence of {options.features} features"
        )
        print(f"re-scoring all   {wall:.2f} s ({cpu:.2f} s of CPU); longest pause of the loop {1000 * pause:.0f} ms")
        print(f"memory           {memory:.0f} bytes a waiting link")
        few = f"with 10,000 waiting {1000 * small:.2f} ms"
        print(f"cost of a page   {1000 * large:.2f} ms, {few}: x {large / small:.2f}")
        store.close()


if __name__ == "__main__":
    main()
