"""A long crawl of a large web with hostile hosts, stopped and killed in between: memory, pace, what is left and lost.

    python -m bench.soak [--minutes 60] [--pages 200000] [--stops 3] [--kills 3]
    python -m bench.soak --minutes 6 --pages 6000 --hosts 280 --stops 1 --kills 1
    python -m bench.soak --redis --workers 3

The web is that of bench/soak_web.py: made while it is crawled, by a process of its own; one host in twenty is hostile.
The crawl has no delays, obeys robots.txt, learns, and connects to each host directly (all names are those of this
machine). It is over when all pages of the good hosts were given, or the minutes are: then it is stopped. Before that it
is stopped (SIGINT) and killed (SIGKILL) by lot, evenly over the pages or the minutes, whichever come first, and started
again with the same command. With --redis there are several workers, each of which may be hit.

Everything is measured from outside. Memory (PSS) is that of a process and its children; of each start, the last sixth
is compared with the second sixth (or with what follows the first ten minutes). Starts of less than two minutes are
shown, and not judged: they are still filling what is bounded. The pace is CPU per page, as machines are shared, in the
median of the moments of the beginning (a twentieth to a quarter of the pages) and of the end (the last fifth), those
left out in which a trap was visited more than pages. Exit code 1 if an aim is missed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
from scrapy.utils.project import get_project_settings

from bench.soak_web import Served, serve
from focused.frontier.records import FILE
from focused.frontier.store import State
from focused.lab.process import OWN_SERVER, CrawlProcess
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Workers
from focused.redis.reading.reader import open_readers
from focused.report.job_reader import JobReader
from focused.report.reader import CrawlReader, LinkLine
from focused.safety.handler import IDLE

CONCURRENT, PER_HOST = 32, 4
SETTINGS = {
    **OWN_SERVER,
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": CONCURRENT,
    "CONCURRENT_REQUESTS_PER_DOMAIN": PER_HOST,
    "FOCUSED_INNER_ALLOWED": "127.0.0.1",
    # What hangs is not waited for as long as on the real web: the processor is to be busy.
    "DOWNLOAD_TIMEOUT": 5,
    "RETRY_TIMES": 1,
    "FOCUSED_BACKOFF_FIRST": 1,
    "FOCUSED_ROBOTS_RETRY": 1,
}
# Python reads it before anything else: every name is one of this machine, and is looked up as any other.
NAMES = """import socket
_address, _addresses = socket.gethostbyname, socket.getaddrinfo
def _here(name): return "127.0.0.1" if name.endswith(".example") else name
socket.gethostbyname = lambda name: _address(_here(name))
socket.getaddrinfo = lambda name, *rest, **more: _addresses(_here(name), *rest, **more)
"""
TROUBLE = re.compile(r"Traceback|Unhandled|CRITICAL")
TICK = 0.2
LONGEST_END = 600.0
"""Seconds that a crawl may take to stop."""
STARTING, WARM, JUDGED = 10.0, 600.0, 120.0
"""Seconds: of a start that are not part of the pace; after which memory may not grow; from which memory is judged."""
BYTES_A_LINK, GROWTH, PACE = 150, 0.05, 0.10
HOSTILE_SHARE = 0.2
"""Moments with more requests to hostile hosts than this, for each good page, are no part of the pace."""
SPARE = 64
"""Descriptors beside those of connections: files, pipes, the log, the database, threads' own."""
_MB = 1 << 20
_CLOCK = os.sysconf("SC_CLK_TCK")


# --- what is measured, from outside ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Usage:
    """A process and its children: memory in bytes, descriptors, CPU seconds."""

    pss: int = 0
    rss: int = 0
    files: int = 0
    sockets: int = 0
    cpu: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        mine, others = vars(self), vars(other)
        return Usage(**{name: mine[name] + others[name] for name in mine})


def usage_of(pid: int) -> Usage:
    """Of a process and its children; nothing of one that has ended."""
    here = Path(f"/proc/{pid}")
    try:
        memory = dict(re.findall(r"^(Pss|Rss): +(\d+)", (here / "smaps_rollup").read_text(), re.MULTILINE))
        # Also the CPU of children that have ended.
        times = (here / "stat").read_text().rpartition(")")[2].split()[11:15]
        children = [child for task in (here / "task").iterdir() for child in (task / "children").read_text().split()]
    except (OSError, ValueError):
        return Usage()
    opened = []
    for one in os.listdir(here / "fd"):
        with suppress(OSError):
            opened.append(os.readlink(here / "fd" / one))
    sockets = sum(one.startswith("socket:") for one in opened)
    cpu = sum(map(int, times)) / _CLOCK
    own = Usage(int(memory["Pss"]) << 10, int(memory["Rss"]) << 10, len(opened) - sockets, sockets, cpu)
    return sum((usage_of(int(child)) for child in children), start=own)


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder; those that vanish meanwhile count for nothing."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            size += path.stat().st_size
    return size


@dataclass(frozen=True)
class Sample:
    """A moment. ``links`` are those known; ``stored`` is the size of the job folder, or of Redis' memory."""

    at: float
    pages: int
    others: int
    links: int
    stored: int
    temporary: int
    usages: dict[str, Usage]

    @property
    def all(self) -> Usage:
        return sum(self.usages.values(), start=Usage())


@dataclass
class Life:
    """One process of the crawl, from its start to its end."""

    name: str
    process: CrawlProcess
    began: float
    samples: list[Sample] = field(default_factory=list)
    end: str = ""
    links: int = 0

    @property
    def seconds(self) -> float:
        return self.samples[-1].at - self.began if self.samples else 0.0

    def usage(self, sample: Sample) -> Usage:
        return sample.usages[self.name]

    def parts(self) -> tuple[list[Sample], list[Sample]]:
        """The samples after which memory may not grow, and those at the end."""
        settled = min(WARM, self.seconds / 6)
        first = [one for one in self.samples if settled <= one.at - self.began <= 2 * settled]
        return first, [one for one in self.samples if one.at - self.began >= self.seconds * 5 / 6]


# --- where the crawl is kept -----------------------------------------------------------------------------------------


class InFile:
    """A crawl in one process, with a JOBDIR."""

    def __init__(self, folder: Path, arguments: dict[str, str], environment: dict[str, str]) -> None:
        self._folder, self._arguments, self._environment = folder, arguments, environment
        self._job = folder / "job"

    def start(self, number: int) -> CrawlProcess:
        folder = self._folder / f"start-{number}"
        folder.mkdir()
        settings = {**SETTINGS, "JOBDIR": self._job, "FOCUSED_MODELS": self._folder / "models"}
        return CrawlProcess(folder, self._arguments, settings, environment=self._environment)

    def links(self) -> int:
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{self._job / FILE}?mode=ro", uri=True)) as job:
            return int(job.execute("SELECT coalesce(max(id), 0) FROM links").fetchone()[0])
        return 0

    def stored(self) -> int:
        return size_of(self._job)

    def left(self) -> set[str]:
        """What lies in the job folder while nobody is at work."""
        return {path.name for path in self._job.iterdir()}

    def reader(self) -> CrawlReader:
        return JobReader.open(self._job)


class InRedis:
    """A crawl in Redis, of several workers."""

    def __init__(self, workers: Workers, environment: dict[str, str]) -> None:
        self._workers, self._environment = workers, environment

    def start(self, _: int) -> CrawlProcess:
        (worker,) = self._workers.start(environment=self._environment)
        return worker

    def links(self) -> int:
        return int(self._workers.count("links"))

    def stored(self) -> int:
        with self._workers.redis.client() as client:
            return int(client.info("memory")["used_memory"])

    def left(self) -> set[str]:
        return set()

    def reader(self) -> CrawlReader:
        (reader,) = open_readers(self._workers.redis.url, CRAWL, get_project_settings())
        return reader


# --- the crawl -------------------------------------------------------------------------------------------------------


@dataclass
class Soak:
    """The crawl, all that is done to it, and what was seen of it."""

    options: argparse.Namespace
    served: Served
    place: InFile | InRedis
    folder: Path
    began: float = field(default_factory=time.monotonic)
    samples: list[Sample] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    left: list[set[str]] = field(default_factory=list)
    hits: int = 0

    @property
    def _now(self) -> float:
        return time.monotonic() - self.began

    def run(self) -> None:
        """Crawl to the end, with every stop and kill when its time has come."""
        due = self._plan()
        every = max(0.5, min(10.0, self.options.minutes * 60 / 300))
        seen = 0.0
        while (progress := self._progress()) < 1 and not self.wrong:
            self._keep_running()
            if due and progress >= due[0][0]:
                self._hit(due.pop(0)[1])
            if self._now >= seen + every:
                seen = self._now
                self._look()
            time.sleep(TICK)
        if due and not self.wrong:
            self.wrong.append(f"over before {len(due)} of the stops and kills: give it more pages")
        self._look()
        for life in self._running():
            self._end(life, signal.SIGINT)
        self._note_left()

    def _plan(self) -> list[tuple[float, signal.Signals]]:
        random = Random(self.options.seed)
        hits = [signal.SIGINT] * self.options.stops + [signal.SIGKILL] * self.options.kills
        random.shuffle(hits)
        return [((n + random.uniform(0.7, 1.3)) / (len(hits) + 1), hit) for n, hit in enumerate(hits)]

    def _progress(self) -> float:
        """1 when it is over."""
        pages, minutes = self.options.pages, self.options.minutes
        return float(max(self.served.fetched / pages, self._now / (60 * minutes)))

    def _running(self) -> list[Life]:
        return [life for life in self.lives if not life.end]

    def _keep_running(self) -> None:
        for life in self._running():
            if not life.process.is_running:
                life.end = f"ended by itself, with code {life.process.code}"
                self.wrong.append(f"{life.name} {life.end}: {life.process.log[-2_000:]}")
        while not self.wrong and len(self._running()) < self.options.workers:
            number = len(self.lives) + 1
            self.lives.append(Life(f"start {number}", self.place.start(number), self._now, links=self.place.links()))

    def _hit(self, how: signal.Signals) -> None:
        self.hits += 1
        self._look()
        running = self._running()
        self._end(running[self.hits % len(running)], how)
        if how == signal.SIGINT:
            self._note_left()

    def _end(self, life: Life, how: signal.Signals) -> None:
        life.process.signal(how)
        asked = self._now
        while life.process.is_running and self._now < asked + LONGEST_END:
            self._look()
            time.sleep(TICK)
        took = self._now - asked
        life.end = f"{how.name}, {took:.1f} s"
        if life.process.code != (-how if how == signal.SIGKILL else 0):
            self.wrong.append(f"{life.name} ended with {life.process.code} after {how.name}")
            life.process.kill()

    def _note_left(self) -> None:
        if not self._running():
            self.left.append(self.place.left())

    def _look(self) -> None:
        usages = {life.name: usage_of(life.process.pid) for life in self._running() if life.process.is_running}
        usages = {name: usage for name, usage in usages.items() if usage.pss}
        requests, links, stored = self.served.requests, self.place.links(), self.place.stored()
        temporary = len(list((self.folder / "tmp").rglob("*")))
        others = requests["hostile"]
        sample = Sample(self._now, requests["good"], others, links, stored, temporary, usages)
        self.samples.append(sample)
        for life in self._running():
            if life.name in usages:
                life.samples.append(sample)


# --- what is printed, and judged -------------------------------------------------------------------------------------


@dataclass
class Verdict:
    """One line each with a figure and its aim."""

    soak: Soak
    kept: bool = True

    def judge(self) -> bool:
        """Print everything; was every aim met?"""
        for part in (self._curve, self._memory, self._pace, self._left_open, self._pages, self._ends):
            part()
        return self.kept

    def _line(self, name: str, figure: str, aim: str, is_met: bool | None) -> None:
        """``is_met`` None is not judged."""
        self.kept &= is_met is not False
        word = {True: "ok", False: "MISSED", None: "not judged"}[is_met]
        print(f"{name:<22} {figure}; aim: {aim}: {word}", flush=True)

    def _curve(self) -> None:
        samples = self.soak.samples
        print(
            "    s   good pages  hostile  links known   PSS MB  RSS MB  files  sockets  stored MB  pages/s  CPU ms/page"
        )
        step = max(1, len(samples) // 40)
        for before, now in pairwise(samples[::step]):
            use = now.all
            pages, seconds = now.pages - before.pages, max(now.at - before.at, 1e-9)
            cost = f"{1_000 * spent(before, now) / pages:>11.2f}" if pages else ""
            print(
                f"{now.at:>5.0f} {now.pages:>12,} {now.others:>8,} {now.links:>12,} {use.pss / _MB:>8.0f} "
                f"{use.rss / _MB:>7.0f} {use.files:>6} {use.sockets:>8} {now.stored / _MB:>10.1f} "
                f"{pages / seconds:>8.0f}  {cost}"
            )

    def _memory(self) -> None:
        for life in self.soak.lives:
            first, last = life.parts()
            if not first or not last:
                continue
            before, after = (median(life.usage(one).pss for one in part) for part in (first, last))
            links = median(one.links for one in last) - median(one.links for one in first)
            most = before * (1 + GROWTH) + BYTES_A_LINK * links
            peak = max(life.usage(one).pss for one in life.samples)
            figure = (
                f"{before / _MB:.1f} MB, then {after / _MB:.1f} MB with {links:,.0f} more links known, after "
                f"{life.seconds:.0f} s (peak {peak / _MB:.0f} MB)"
            )
            is_met = after <= most if life.seconds >= JUDGED else None
            self._line(f"memory, {life.name}", figure, f"at most {most / _MB:.1f} MB", is_met)

    def _pace(self) -> None:
        early, late = self._moments(0.05, 0.25), self._moments(0.8, 1.0)
        if not early or not late:
            return
        costs = [median(1_000 * cpu / pages for pages, _, cpu in part) for part in (early, late)]
        paces = [median(pages / seconds for pages, seconds, _ in part) for part in (early, late)]
        figure = f"{costs[0]:.2f} ms at the beginning, {costs[1]:.2f} ms at the end: x {costs[1] / costs[0]:.2f}"
        long = self.soak.samples[-1].at >= 2 * JUDGED
        is_met = costs[1] <= costs[0] * (1 + PACE) if long else None
        self._line("CPU a page", figure, f"x {1 + PACE:.2f} at most", is_met)
        print(f"{'pages a second':<22} {paces[0]:.0f} at the beginning, {paces[1]:.0f} at the end")

    def _moments(self, since: float, until: float) -> list[tuple[int, float, float]]:
        """Pages, seconds and CPU between samples in which nobody started or ended, in a part of the run."""
        pages = self.soak.samples[-1].pages
        began = {life.name: life.began for life in self.soak.lives}
        found = []
        for before, now in pairwise(self.soak.samples):
            whole = before.usages.keys() == now.usages.keys()
            settled = whole and all(before.at - began[name] > STARTING for name in before.usages)
            fetched, others = now.pages - before.pages, now.others - before.others
            if settled and others < HOSTILE_SHARE * fetched and since * pages <= before.pages <= until * pages:
                found.append((fetched, now.at - before.at, spent(before, now)))
        return found

    def _left_open(self) -> None:
        most = (1 + IDLE) * CONCURRENT + SPARE
        for what, aim in (("files", SPARE), ("sockets", most)):
            peaks = [max(getattr(life.usage(one), what) for one in life.samples) for life in self.soak.lives]
            self._line(f"open {what}", f"{', '.join(map(str, peaks))} at most, by start", f"{aim}", max(peaks) <= aim)
        temporary = self.soak.samples[-1].temporary
        most_at_once = max(one.temporary for one in self.soak.samples)
        self._line("temporary files", f"{temporary} left ({most_at_once} at most)", "0", temporary == 0)
        more = sorted(set().union(*self.soak.left) - self.soak.left[0])
        self._line(
            "files in the job",
            f"{len(self.soak.left[-1])}, {more or 'none'} more than at the first stop",
            "none",
            not more,
        )

    def _pages(self) -> None:
        served, options = self.soak.served, self.soak.options
        given, web = served.given, served.web
        fetched = {int(page) for page in np.flatnonzero(given)}
        with closing(self.soak.place.reader()) as reader:
            found = (web.number(item["url"]) for item in reader.items())
            recorded = {page for page in found if page is not None}
            # Also those that a recorded page led to. (What one led to that was given and not recorded, nobody knows.)
            known = fetched.union({0}, *map(web.links, recorded))
            lost = [web.url(page) for page in known - recorded if not _waits(reader.link_at(web.url(page)))]
        figure = f"{len(fetched):,} of {options.pages:,} given, {len(recorded):,} recorded, {len(lost):,} lost"
        self._line("good pages", figure, "0 lost (others wait in the job)", not lost)
        for url in sorted(lost)[:10]:
            print("    lost:", url)
        again = int(given.sum()) - len(fetched)
        self._line(
            "fetched again",
            f"{again}",
            f"{self.soak.hits} × {CONCURRENT} at most",
            again <= self.soak.hits * CONCURRENT,
        )
        requests = served.requests
        print(f"{'requests':<22} {', '.join(f'{count:,} {kind}' for kind, count in requests.items())}")
        self._line("forbidden", f"{requests['forbidden']} requests", "0", requests["forbidden"] == 0)

    def _ends(self) -> None:
        print(f"{'ends':<22} {'; '.join(life.end for life in self.soak.lives)}")
        lines = [f"{life.name}: {line}" for life in self.soak.lives for line in trouble(life.process.log)]
        self._line("tracebacks", f"{len(lines)} lines", "0", not lines)
        wrong = self.soak.wrong
        self._line("ended by itself", f"{len(wrong)} times", "0", not wrong)
        for line in (*lines[:20], *wrong):
            print("   ", line)


def _waits(link: LinkLine | None) -> bool:
    return link is not None and link.state != State.DONE


def spent(before: Sample, now: Sample) -> float:
    """CPU seconds of the processes that are in both samples."""
    return sum(now.usages[name].cpu - before.usages[name].cpu for name in now.usages.keys() & before.usages.keys())


def trouble(log: str) -> Iterator[str]:
    """Lines of a log that speak of trouble, with some that follow."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if TROUBLE.search(line):
            yield " | ".join(lines[number : number + 12])


@contextmanager
def crawl(options: argparse.Namespace, folder: Path) -> Iterator[Soak]:
    """A crawl that is not started yet; none of its processes is left behind."""
    for name in ("tmp", "names", "redis", "workers"):
        (folder / name).mkdir()
    (folder / "names" / "sitecustomize.py").write_text(NAMES)
    environment = {
        "PYTHONPATH": f"{folder / 'names'}:{Path(__file__).resolve().parent.parent}",
        "TMPDIR": str(folder / "tmp"),
    }
    with ExitStack() as stack:
        served = stack.enter_context(serve(options.pages, options.hosts))
        arguments = {"topic": "star galaxy telescope", "seeds": served.web.url(0)}
        place: InFile | InRedis = InFile(folder, arguments, environment)
        if options.redis:
            redis = stack.enter_context(RedisServer(folder / "redis"))
            workers = stack.enter_context(Workers(folder / "workers", redis, "", arguments, SETTINGS))
            place = InRedis(workers, environment)
        soak = Soak(options, served, place, folder)
        try:
            yield soak
        finally:
            for life in soak.lives:
                life.process.kill()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="the longest that it may take")
    parser.add_argument("--pages", type=int, default=200_000, help="of good hosts")
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--stops", type=int, default=3)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--redis", action="store_true", help="several workers, with the frontier in Redis")
    parser.add_argument("--workers", type=int, default=0, help="with --redis (default: 3)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="keep everything in this new folder")
    options = parser.parse_args(arguments)
    if options.workers and not options.redis:
        parser.error("several workers need --redis")
    options.workers = options.workers or (3 if options.redis else 1)
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(exist_ok=True)
        soak = stack.enter_context(crawl(options, folder))
        soak.run()
        return 0 if Verdict(soak).judge() else 1


if __name__ == "__main__":
    sys.exit(main())
