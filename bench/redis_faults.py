"""A crawl in Redis through everything that may go wrong: what was lost, fetched twice, or fetched too soon.

    python -m bench.redis_faults [--pages 5000] [--workers 3] [--kills 20] [--stops 5] [--restarts 2] [--freezes 2]
    python -m bench.redis_faults --pages 600 --workers 2 --kills 4 --stops 1 --stop-seconds 4 --restarts 1 --freezes 1

Workers are killed with SIGKILL, every second time the one that trains; Redis stands still, or is killed and started
again with its append-only file; a worker is frozen for longer than its leases last, and thawed. What happens when, and
to whom, is drawn by lot (--seed), evenly over the pages. One worker's clock is a minute ahead all the time. Workers
that died are started again, as a supervisor would.

The pages link to one another so that all can be reached. Counted at their server: pages never fetched; pages fetched
again, which must be no more than the leases that were open when their workers died or were taken for dead; requests
to a host sooner after the one before than the delay allows. (--slack: between the moment from which Scrapy counts and
that at which a request is on its way, a busy worker does other things, also in a crawl of its own.)
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from focused.lab.demo.bulk import bulk_web
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Worker, Workers
from focused.lab.site.server import SiteServer

CONCURRENT = 8
# The pages' server, here, must see requests when they come.
POLITE = ("nice", "-n", "10")
CLOCK_OFF = 60.0
# Python reads it before anything else, in a process that finds it on its path.
PATCHED_CLOCK = f"import time\n_real = time.time\ntime.time = lambda: _real() + {CLOCK_OFF}\n"
TICK = 0.05
LONGEST = 3_600.0


@dataclass
class Faults:
    """A crawl, and all that is done to it."""

    options: argparse.Namespace
    workers: Workers
    site: SiteServer
    patch: Path
    random: Random
    open_leases: int = 0
    done: Counter[str] = field(default_factory=Counter)
    ahead: Worker | None = None
    began: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Crawl to the end, with every fault when its time has come."""
        due = sorted(self._plan(), key=lambda moment: moment[0])
        self._keep_running()
        while not self._is_over():
            self._keep_running()
            if due and len(set(self.site.fetched())) >= due[0][0]:
                due.pop(0)[1]()
            time.sleep(TICK)
        if due:
            sys.exit(f"the crawl ended before {len(due)} of the faults: give it more pages")
        self.workers.wait()

    def _plan(self) -> list[tuple[float, Callable[[], None]]]:
        options = self.options
        faults = [self.kill] * options.kills + [self.stop] * options.stops
        faults += [self.restart] * options.restarts + [self.freeze] * options.freezes
        self.random.shuffle(faults)
        each = 0.9 * options.pages / max(len(faults), 1)
        return [((n + self.random.random()) * each, fault) for n, fault in enumerate(faults)]

    def _is_over(self) -> bool:
        if time.monotonic() - self.began > LONGEST:
            sys.exit("the crawl does not end: see the logs of its workers")
        return any(worker.code == 0 for worker in self.workers.started)

    def _keep_running(self) -> None:
        for _ in range(self.options.workers - len(self.workers.running)):
            if self.ahead is None or not self.ahead.is_running:
                (self.ahead,) = self.workers.start(environment=with_path(self.patch))
            else:
                self.workers.start()

    def kill(self) -> None:
        """One of those that have joined, or the trainer."""
        trainer = self.workers.trainer() if self.done["kill"] % 2 else None
        victim = trainer or self.random.choice(self._joined())
        victim.kill()
        self._tell("kill", f"{victim.name}{' (trains)' if trainer else ''}, {self._count_leases(victim)} leases open")

    def freeze(self) -> None:
        """One that is at work, for longer than its leases last."""
        self.workers.until(lambda: any(map(self._leases, self._joined())))
        victim = max(self._joined(), key=self._leases)
        victim.signal(signal.SIGSTOP)
        self._tell("freeze", f"{victim.name}, {self._count_leases(victim)} leases open")
        time.sleep(self.options.lease_seconds + 2)
        victim.signal(signal.SIGCONT)

    def stop(self) -> None:
        """Redis does not answer, with its connections open."""
        self._tell("stop", f"of Redis for {self.options.stop_seconds} s")
        self.workers.redis.freeze()
        time.sleep(self.options.stop_seconds)
        self.workers.redis.thaw()

    def restart(self) -> None:
        """Redis is killed; what its append-only file holds comes back."""
        self._tell("restart", "of Redis")
        self.workers.redis.kill()
        time.sleep(1)
        self.workers.redis.start()

    def _joined(self) -> list[Worker]:
        self.workers.until(lambda: any(worker.name for worker in self.workers.running))
        return [worker for worker in self.workers.running if worker.name]

    def _leases(self, worker: Worker) -> int:
        with self.workers.redis.client() as client:
            return int(client.hlen(f"{{focused:{CRAWL}}}:leases:{worker.name}"))

    def _count_leases(self, victim: Worker) -> int:
        count = self._leases(victim)
        self.open_leases += count
        return count

    def _tell(self, what: str, words: str) -> None:
        self.done[what] += 1
        at = f"{time.monotonic() - self.began:6.1f} s  {len(set(self.site.fetched())):>5} pages"
        print(f"{at}  {what} {self.done[what]} {words}", flush=True)

    def judge(self) -> bool:
        """Print what came of it; was every promise kept?"""
        fetched, options = Counter(self.site.fetched()), self.options
        lost = options.pages - min(len(fetched), int(self.workers.count("pages")))
        again = fetched.total() - len(fetched)
        gaps = [gap for host in {visit.host for visit in self.site.visits} for gap in self.site.gaps(host)]
        soon = sum(gap < options.delay - options.slack for gap in gaps)
        print(f"pages            {options.pages} reachable, {len(fetched)} fetched, {lost} lost")
        print(f"fetched again    {again}, leases open {self.open_leases}")
        print(f"pace             {soon} of {len(gaps)} sooner than {options.delay} s - {options.slack} s; ", end="")
        print(f"least {min(gaps):.3f} s")
        print(f"in Redis         {self.workers.count('taken_back'):.0f} leases taken back, ", end="")
        print(f"{self.workers.count('refused'):.0f} words of the dead refused, model {self.workers.count('model'):.0f}")
        return not (lost or soon or again > self.open_leases)


def with_path(folder: Path) -> dict[str, str]:
    """An environment in which Python finds a module in a folder first."""
    return {"PYTHONPATH": f"{folder}:{Path(__file__).resolve().parent.parent}"}


@contextmanager
def crawl(options: argparse.Namespace, folder: Path) -> Iterator[Faults]:
    """Pages, Redis and workers that are not started yet."""
    web = bulk_web(options.pages, size=3_000, links=12, hosts=options.hosts)
    for name in ("redis", "workers", "patch"):
        (folder / name).mkdir()
    (folder / "patch" / "sitecustomize.py").write_text(PATCHED_CLOCK)
    arguments = {"topic": "star galaxy telescope", "seeds": next(iter(web.pages))}
    settings = {
        "ROBOTSTXT_OBEY": False,
        "CONCURRENT_REQUESTS": CONCURRENT,
        "DOWNLOAD_DELAY": options.delay,
        "FOCUSED_LEASE_SECONDS": options.lease_seconds,
    }
    with (
        RedisServer(folder / "redis", "--appendonly", "yes", "--appendfsync", "always") as redis,
        SiteServer(web.pages) as site,
        Workers(folder / "workers", redis, site.url, arguments, settings, prefix=POLITE) as workers,
    ):
        yield Faults(options, workers, site, folder / "patch", Random(options.seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--stops", type=int, default=5)
    parser.add_argument("--stop-seconds", type=float, default=10.0)
    parser.add_argument("--restarts", type=int, default=2)
    parser.add_argument("--freezes", type=int, default=2)
    parser.add_argument("--delay", type=float, default=0.5, help="seconds between two requests to a host")
    parser.add_argument("--slack", type=float, default=0.2, help="what a busy worker may lose before it sends")
    parser.add_argument("--lease-seconds", type=float, default=6.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, crawl(options, Path(name)) as faults:
        faults.run()
        kept = faults.judge()
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
