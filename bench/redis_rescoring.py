"""Crawls go on while everything that waits is scored again: the pace of real workers, during a re-scoring and without.

    python -m bench.redis_rescoring [--links 1000000] [--workers 1] [--seconds 60]

Links of copies of a generated web, with the evidence of the default prioritizer, are put into the frontier of a crawl
that has just begun; then its workers go on as they do, without delays. The trainer among them learns and scores
everything again, rests three times as long, and so on: what it does at each moment is read off the commands that Redis
has carried out (only a re-scoring gives a host a new order with SET), the pace off the server of the pages.

Prints how long a re-scoring took, and the pages a second during one and otherwise, in the same crawl. Aims: a million
links within 8 s, at 80 % of the pace or more.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from redis import Redis

from bench.redis_store import fill, open_store, read_web, taught
from focused.lab.demo.webs import make_web
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Workers
from focused.lab.site.reply import Reply, SiteRequest, stored
from focused.lab.site.server import SiteServer
from focused.prioritizers.focused import Focused

# A critic that does not learn on the job: the evidence that is put in is as for one.
SETTINGS = {"ROBOTSTXT_OBEY": False, "DOWNLOAD_TIMEOUT": 600, "LOG_LEVEL": "INFO", "FOCUSED_CRITIC": "keywords"}
TICK = 0.05
# A re-scoring that is at work gives some host a new order within so many seconds.
PAUSE = 1.0


@dataclass(frozen=True)
class Sample:
    """A moment: when, requests until then, and how many hosts had got a new order."""

    at: float
    requests: int
    ordered: int


def copies(web: str) -> SiteServer:
    """The pages of a web, on their hosts and on all that are called like these with something before."""
    pages = make_web(web).pages

    def answer(visit: SiteRequest) -> Reply:
        _, _, host = visit.host.partition(".")
        page = pages.get(visit.url) or pages.get(visit.url.replace(visit.host, host, 1))
        return stored(page) if page else Reply(status=404)

    return SiteServer({}, missing=answer)


@contextmanager
def full_crawl(options: argparse.Namespace, folder: Path) -> Iterator[tuple[Redis, SiteServer]]:
    """A crawl that is under way, in whose frontier so many links wait."""
    prioritizer = Focused()
    pages = read_web(options.web, prioritizer)
    learned = taught(prioritizer, list(pages.values()))
    arguments = {"topic": "star galaxy telescope planet comet", "seeds": ",".join(list(pages)[:20])}
    (folder / "redis").mkdir()
    with (
        RedisServer(folder / "redis") as redis,
        copies(options.web) as site,
        Workers(folder, redis, site.url, arguments, {**SETTINGS, "FOCUSED_MODELS": folder / "models"}) as workers,
    ):
        # No answer until the frontier is full.
        site.answer(0)
        try:
            started = workers.start(options.workers)
            workers.until(lambda: all(worker.name for worker in started), timeout=60)
            store = open_store(redis, learned, "filler", crawl=CRAWL)
            fill(store, pages, options.links, hosts=0)
            store.close()
        finally:
            site.answer()
        with redis.client() as client:
            yield client, site


def watch(redis: Redis, site: SiteServer, seconds: float) -> list[Sample]:
    """Look at the crawl for some time."""
    samples, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        ordered = redis.info("commandstats").get("cmdstat_set", {}).get("calls", 0)
        samples.append(Sample(time.monotonic(), len(site.visits), ordered))
        time.sleep(TICK)
    return samples


def passes(samples: list[Sample]) -> list[tuple[Sample, Sample]]:
    """When each re-scoring began and ended; those that were not seen whole are left out."""
    found: list[tuple[Sample, Sample]] = []
    for before, after in pairwise(samples):
        if after.ordered == before.ordered:
            continue
        if found and before.at - found[-1][1].at < PAUSE:
            found[-1] = (found[-1][0], after)
        else:
            found.append((before, after))
    return [(begin, end) for begin, end in found if samples[-1].at - end.at > PAUSE]


def tell(samples: list[Sample], seconds: float) -> None:
    """How long they took, and the pace during them and otherwise."""
    whole = passes(samples)
    if not whole:
        raise SystemExit(f"no re-scoring was over within {seconds:.0f} s: give it more (--seconds)")
    during = sum(end.requests - begin.requests for begin, end in whole) / sum(end.at - begin.at for begin, end in whole)
    between = list(zip([end for _, end in whole], [*(begin for begin, _ in whole[1:]), samples[-1]], strict=True))
    rest = sum(b.requests - a.requests for a, b in between) / sum(b.at - a.at for a, b in between)
    took = ", ".join(f"{end.at - begin.at:.1f}" for begin, end in whole)
    print(f"scoring again    {took} s")
    print(f"pace             {rest:.0f} requests/s otherwise, {during:.0f} during: x {during / rest:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", default="demo")
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, full_crawl(options, Path(name)) as (redis, site):
        samples = watch(redis, site, options.seconds)
    tell(samples, options.seconds)


if __name__ == "__main__":
    main()
