"""How far a crawl in Redis goes: from measured costs to a hundred workers and a billion links, by simulation.

    python -m bench.redis_store | tee costs.txt; python -m bench.scale --costs costs.txt [--page 20] [--delay 2] …

Without --costs those hold that are named below. Workers and Redis servers do one thing at a time; a worker waits for
each of its calls; a host may be asked once per delay; a trainer reads what waits slice by slice, and rests as the
crawl's does. Nothing in it is random: the same costs give the same figures, and docs/scale.md shows them.

Prints pace and load by workers, by hosts and beside a re-scoring; what Redis holds; and what more servers would change.
"""

from __future__ import annotations

import argparse
import re
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from heapq import heapify, heappop, heappush, heapreplace
from pathlib import Path
from textwrap import wrap

MS = 1e-3
GB = 1e9
# Simulated seconds: until pages come in evenly, and of which the figures are.
WARM, SECONDS = 2.0, 4.0
# As in focused/redis/rescoring.py and focused/redis/workers/learning.py: links read at once, and the trainer's rest
# after a pass, in times of the pass; in focused/redis/store.py: seconds between two looks, for each worker.
SLICE, REST, APART = 200, 3.0, 0.002
MANY = 1_000_000
# Of a machine with twice as much (docs/deploy.md).
SERVER = 32


@dataclass(frozen=True)
class Costs:
    """What was measured, on two shared cores with Redis on the same machine; times in milliseconds."""

    redis_page: float = 0.446  # bench/redis_store.py: Redis's own time a page
    calls: float = 3.17  # the same: calls a page
    empty_call: float = 0.020  # the same
    look: float = 0.026  # a call that asks for a link and finds no host open (INFO commandstats)
    link_bytes: float = 654  # the same: a waiting link with its evidence, its address included
    fetched_bytes: float = 1300  # the same: a fetched page, with its item and the evidence of its links
    new_links: float = 5.7  # the same web: links more that wait, a page
    rescore_link: float = (
        0.00265  # the same: the trainer's work a link, Redis's included; what is its own it rests for, too
    )
    rescore_redis: float = 0.0009  # the same: of it in Redis
    page: float = 4.7  # bench/cpu.py: a crawling process's CPU a page of 20 KB with 40 links, and 0.13 for Redis
    round_trip: float = 0.2  # within a data centre
    download: float = 300.0  # a page of a server far away
    concurrent: int = 16  # CONCURRENT_REQUESTS
    delay: float = 1.0  # DOWNLOAD_DELAY, in seconds
    links: float = 40  # links a page
    away: float = 0.25  # of them to other hosts


def read_costs(path: Path) -> dict[str, float]:
    """What bench/redis_store.py printed."""
    text = path.read_text("utf-8")

    def number(pattern: str) -> float:
        found = re.search(pattern, text, flags=re.M)
        if found is None:
            raise SystemExit(f"{path}: not what bench/redis_store.py prints (no {pattern!r})")
        return float(found[1].replace(",", ""))

    waiting, redis = number(r"^([\d,]+) links wait"), number(r"([\d.]+) s of Redis's CPU")
    return {
        "redis_page": number(r"^Redis +([\d.]+) ms a page"),
        "calls": number(r"ms a page in ([\d.]+) calls"),
        "empty_call": number(r"^empty call +([\d.]+) ms"),
        "link_bytes": number(r"^memory +([\d.]+) bytes"),
        "fetched_bytes": number(r"^fetched +([\d.]+) bytes"),
        "rescore_link": (number(r"^scoring again +([\d.]+) s") + redis) / 2 / MS / waiting,
        "rescore_redis": redis / MS / waiting,
    }


# --- the simulation --------------------------------------------------------------------------------------------------

Process = Generator[float, None, None]


class Single:
    """Something that does one thing at a time, in the order in which it is asked."""

    def __init__(self) -> None:
        self.free = self.busy = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """When it is done."""
        self.free = max(self.free, now) + seconds
        self.busy += seconds
        return self.free


@dataclass(frozen=True)
class Plan:
    """Who takes part.

    ``pause``: seconds until a worker that found no host open looks again, at least; None is as the crawl has it.
    ``batch``: for how many pages together links go to other shards.
    """

    workers: int
    hosts: int = MANY
    pause: float | None = None
    shards: int = 1
    batch: int = 1
    rescoring: bool = False


@dataclass
class Load:
    """Pages, links scored again, and the seconds for which Redis, workers and calls took."""

    pages: float = 0.0
    redis: float = 0.0
    worker: float = 0.0
    calls: float = 0.0
    links: float = 0.0

    def since(self, before: Load, seconds: float, plan: Plan) -> Load:
        """By second, server, worker and page."""
        pages = self.pages - before.pages
        return Load(
            pages / seconds,
            (self.redis - before.redis) / seconds / plan.shards,
            (self.worker - before.worker) / seconds / plan.workers,
            (self.calls - before.calls) / max(pages, 1),
            (self.links - before.links) / seconds,
        )


class Crawl:
    """Steps of workers and trainers, in the order of their times."""

    def __init__(self, costs: Costs, plan: Plan) -> None:
        self.costs, self.plan, self.load = costs, plan, Load()
        self._servers = [Single() for _ in range(plan.shards)]
        # When the hosts of each shard may be asked again, the next one first.
        each = plan.hosts // plan.shards
        self._hosts = [deque(costs.delay * n / each for n in range(each)) for _ in range(plan.shards)]
        self._half = costs.round_trip * MS / 2
        self._pause = APART * plan.workers if plan.pause is None else plan.pause

    def run(self) -> Load:
        """From when the first pages have come in, for some seconds."""
        steps = [(0.001 * n, n, self._worker(n % self.plan.shards, 0.001 * n)) for n in range(self.plan.workers)]
        if self.plan.rescoring:
            steps += [(0.0, -shard, self._trainer(shard)) for shard in range(1, self.plan.shards + 1)]
        heapify(steps)
        before = None
        while steps[0][0] < WARM + SECONDS:
            if before is None and steps[0][0] >= WARM:
                before = self._load_now()
            _, name, process = steps[0]
            heapreplace(steps, (next(process), name, process))
        assert before is not None
        return self._load_now().since(before, SECONDS, self.plan)

    def _load_now(self) -> Load:
        return replace(self.load, redis=sum(server.busy for server in self._servers))

    def _worker(self, shard: int, now: float) -> Process:
        downloads: list[float] = []
        look_at = now
        while True:
            if downloads and downloads[0] <= now:
                heappop(downloads)
                now = yield from self._page(shard, now)
            elif len(downloads) < self.costs.concurrent and look_at <= now:
                now = yield from self._call(shard, now, self.costs.look * MS)
            else:
                free = len(downloads) < self.costs.concurrent
                now = min(downloads[0] if downloads else look_at, look_at if free else downloads[0])
                yield now
                continue
            hosts = self._hosts[shard]
            if hosts[0] <= now:
                hosts.rotate(-1)
                hosts[-1] = now + self.costs.delay
                heappush(downloads, now + self.costs.download * MS)
            else:
                look_at = min(max(hosts[0], now + self._pause), now + 1.0)

    def _page(self, shard: int, now: float) -> Generator[float, None, float]:
        """A page is parsed, judged and told, in as many parts as it has calls. The last one leases a link."""
        calls = round(self.costs.calls)
        own, away = self._shares(shard)
        began, cpu = now, self.costs.page * MS
        for call in range(calls):
            now += cpu / calls
            yield now
            now = yield from self._call(shard, now, own / calls, away if call == 0 else ())
        self.load.pages += 1
        self.load.worker += cpu
        self.load.calls += now - began - cpu
        return now

    def _call(
        self, shard: int, now: float, seconds: float, away: Sequence[tuple[int, float]] = ()
    ) -> Generator[float, None, float]:
        """A call, and those to other servers that are sent at the same time: the slowest tells."""
        now += self._half
        yield now
        back = [self._servers[server].serve(now, time) for server, time in ((shard, seconds), *away)]
        now = max(back) + self._half
        yield now
        return now

    def _shares(self, shard: int) -> tuple[float, list[tuple[int, float]]]:
        """Seconds of a page on its own server and on each of the others that its links lead to."""
        costs, others = self.costs, self.plan.shards - 1
        own = costs.redis_page * MS
        if not others:
            return own, []
        # Half of the work beside the calls themselves is with the links.
        leaving = costs.away * others / self.plan.shards
        moved = leaving * (own - costs.calls * costs.empty_call * MS) / 2
        links = leaving * costs.links * self.plan.batch
        calls = others * (1 - (1 - 1 / others) ** links) / self.plan.batch
        # Numbered, then told what was seen: two calls. Where there is less than one a page, it is one now and then.
        number = max(round(calls), 1)
        seconds = (moved + 2 * costs.empty_call * MS * calls) / number
        first = int(self.load.pages)
        return own - moved, [((shard + 1 + (first + n) % others) % self.plan.shards, seconds) for n in range(number)]

    def _trainer(self, shard: int) -> Process:
        """Reads a slice, scores it, rests for as long as it worked itself."""
        costs, now = self.costs, 0.0
        own = SLICE * (costs.rescore_link - costs.rescore_redis) * MS
        while True:
            now = yield from self._call(shard - 1, now, SLICE * costs.rescore_redis * MS)
            self.load.links += SLICE
            now += 2 * own
            yield now


# --- what is printed -------------------------------------------------------------------------------------------------


def told(costs: Costs) -> Iterator[str]:
    """All tables."""
    yield from wrap(
        "costs: " + ", ".join(f"{field.name} {getattr(costs, field.name):g}" for field in fields(costs)), 110
    )
    yield from _by_workers(costs)
    yield from _by_hosts(costs)
    yield from _rescoring(costs)
    yield from _memory(costs)
    yield from _shards(costs)


def _by_workers(costs: Costs) -> Iterator[str]:
    yield ""
    yield "One Redis, hosts without end, by workers; then with 100 requests at a time each"
    yield "workers   pages/s  Redis busy  worker busy  calls, ms a page  |   pages/s  Redis busy  worker busy  calls"
    for workers in (1, 4, 8, 16, 32, 64, 100):
        plan = Plan(workers)
        few, many = Crawl(costs, plan).run(), Crawl(replace(costs, concurrent=100), plan).run()
        yield (
            f"{workers:>7}  {few.pages:>8,.0f}  {few.redis:>10.0%}  {few.worker:>11.0%}  {few.calls / MS:>16.1f}  |"
            f"  {many.pages:>8,.0f}  {many.redis:>10.0%}  {many.worker:>11.0%}  {many.calls / MS:>5.1f}"
        )


def _by_hosts(costs: Costs) -> Iterator[str]:
    yield ""
    yield f"100 workers, by hosts with links worth fetching, each open once in {costs.delay:g} s; a worker that found"
    yield f"none open looks again after 1 ms at the earliest | after {APART / MS:g} ms for each worker, as it does"
    yield "   hosts   pages/s  Redis busy  |   pages/s  Redis busy"
    for hosts in (100, 300, 1_000, 2_000, 10_000):
        soon, later = (Crawl(costs, Plan(100, hosts, pause=pause)).run() for pause in (MS, None))
        yield (f"{hosts:>8,}  {soon.pages:>8,.0f}  {soon.redis:>10.0%}  |  {later.pages:>8,.0f}  {later.redis:>10.0%}")


def _rescoring(costs: Costs) -> Iterator[str]:
    yield ""
    yield "Scoring everything again, beside so many workers"
    yield "workers   pages/s  beside it  Redis busy  links/s"
    rates = {}
    for workers in (4, 16, 32):
        alone, beside = (Crawl(costs, Plan(workers, rescoring=on)).run() for on in (False, True))
        rates[workers] = beside.links
        yield f"{workers:>7}  {alone.pages:>8,.0f}  {beside.pages:>9,.0f}  {beside.redis:>10.0%}  {beside.links:>7,.0f}"
    yield ""
    yield "One pass beside 16 workers, and how old a score becomes, with the rest between passes"
    yield "       links       pass  oldest score  read from Redis"
    for links in (10**6, 10**7, 10**8, 10**9):
        seconds = links / rates[16]
        size = links * costs.link_bytes / GB
        yield f"{links:>12,}  {_time(seconds):>9}  {_time((2 + REST) * seconds):>12}  {size:>12,.1f} GB"


def _memory(costs: Costs) -> Iterator[str]:
    yield ""
    yield "Memory of Redis, GB, by links that wait and pages that were fetched"
    fetched = (0, 10**6, 10**7, 10**8, 10**9)
    yield "     waiting " + "".join(f"{pages:>15,}" for pages in fetched)
    for waiting in (10**6, 10**7, 10**8, 10**9):
        yield f"{waiting:>12,} " + "".join(f"{_size(costs, waiting, pages):>15,.1f}" for pages in fetched)
    yield ""
    yield f"Pages until {SERVER} GB are full, if each leaves {costs.new_links:g} links more; if at most so many wait"
    yield "          cap          pages  at 2,000 pages/s"
    for cap in (None, 10**6, 10**7):
        links = costs.new_links * costs.link_bytes if cap is None else 0.0
        pages = (SERVER * GB - (cap or 0) * costs.link_bytes) / (links + costs.fetched_bytes)
        yield f"{'none' if cap is None else f'{cap:,}':>13}  {pages:>13,.0f}  {_time(pages / 2_000):>16}"


def _size(costs: Costs, waiting: int, fetched: int) -> float:
    return (waiting * costs.link_bytes + fetched * costs.fetched_bytes) / GB


def _shards(costs: Costs) -> Iterator[str]:
    links = pages = 10**9
    yield ""
    yield f"100 workers, 100 requests at a time each, hosts spread over servers; {links:,} links wait, {pages:,} pages"
    yield "were fetched; links to other servers are sent with each page | for 100 pages together"
    yield "servers   pages/s  Redis busy  |   pages/s  Redis busy  |  GB a server      pass  oldest score"
    busy = replace(costs, concurrent=100)
    for shards in (1, 4, 16, 64):
        each, together = (Crawl(busy, Plan(100, shards=shards, batch=batch)).run() for batch in (1, 100))
        # Each server's links are scored by a worker of its own.
        seconds = links / shards * (2 * costs.rescore_link - costs.rescore_redis) * MS
        yield (
            f"{shards:>7}  {each.pages:>8,.0f}  {each.redis:>10.0%}  |"
            f"  {together.pages:>8,.0f}  {together.redis:>10.0%}  |"
            f"  {_size(costs, links, pages) / shards:>11,.0f}  {_time(seconds):>8}  {_time((2 + REST) * seconds):>12}"
        )


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--costs", type=Path, help="what bench/redis_store.py printed")
    for field in fields(Costs):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), help=f"{field.default:g}")
    options = vars(parser.parse_args())
    path = options.pop("costs")
    measured = read_costs(path) if path else {}
    given = {name: value for name, value in options.items() if value is not None}
    for line in told(Costs(**{**measured, **given})):
        print(line, flush=True)


if __name__ == "__main__":
    main()
