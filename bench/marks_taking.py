"""How soon a running crawl takes marks in, and how long it is held: `python -m bench.marks taking`.

A crawl of the generated bulk web, begun with words, runs at its full pace. The user marks pages at random moments by
`scrapy mark`; counted are the seconds from when the mark was written until the crawl has taken it in.

When the job has its pages, one more is marked, three times, each after a rest; counted is until all verdicts have
changed, and until all that waits is scored again. An extension inside the crawl notes these, and the pauses of the
event loop, with the CPU time of the process: a busy machine makes pauses in which the process got none.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import monotonic, process_time, sleep, thread_time, time
from typing import NamedTuple, Self

from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.utils.project import get_project_settings
from scrapy.utils.python import global_object_name

from focused import signals
from focused.frontier.inbox import FILE_NAME
from focused.frontier.records import read_records
from focused.lab.demo.bulk import bulk_web
from focused.lab.demo.web import WANTED, GeneratedWeb
from focused.lab.process import OWN_SERVER, CrawlProcess, crawl_environment
from focused.lab.site.server import SiteServer
from focused.lab.toml import to_toml
from focused.report.text import counted

AIM, JUDGED_AIM, PAUSE_AIM = 2.0, 5.0, 0.05
REPEATS = 3
LONGEST_WAIT = 120.0
SPARE = 1.5
"""So many times the pages of the job are in the web: the crawl must not end before it is measured."""
APART = 3.0
"""Seconds between two marks, at most."""
REST = 3.0
_TICK, _NOTED = 0.002, 0.02
_EVENTS = "events.tsv"


class Event(NamedTuple):
    """What happened in the crawl, and when. Of a pause: its seconds, CPU of the loop's thread and of the process.

    Of others ``of_process`` is the CPU of the process until then.
    """

    at: float
    what: str
    seconds: float
    of_loop: float
    of_process: float


def read_events(file: Path) -> list[Event]:
    """What `Watch` has written so far."""
    lines = (line.split("\t") for line in file.read_text("utf-8").split("\n")[:-1])
    return [Event(float(at), what, *map(float, seconds)) for at, what, *seconds in lines]


class Watch:
    """An extension: notes pauses of the event loop, marks taken in, new versions of the critic, ends of revisions."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._file = Path(crawler.settings["BENCH_EVENTS"]).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)
        crawler.signals.connect(self.verdicts_revised, signals.verdicts_revised)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def spider_opened(self) -> None:
        self._task = asyncio.ensure_future(self._watch())
        gc.callbacks.append(self._collecting)

    def spider_closed(self) -> None:
        self._task.cancel()
        gc.callbacks.remove(self._collecting)

    def _collecting(self, phase: str, _: object) -> None:
        """The garbage collector holds everything, in whichever thread it runs."""
        now = monotonic(), thread_time()
        if phase == "start":
            self._collects_since = now
        elif now[0] - self._collects_since[0] > _NOTED:
            seconds, cpu = now[0] - self._collects_since[0], now[1] - self._collects_since[1]
            self._note("collected", seconds, cpu, cpu)

    def verdicts_revised(self) -> None:
        self._note("revised")

    async def _watch(self) -> None:
        was = self._counts()
        while True:
            before = monotonic(), thread_time(), process_time()
            await asyncio.sleep(_TICK)
            held = monotonic() - before[0] - _TICK
            if held > _NOTED:
                self._note("held", held, thread_time() - before[1], process_time() - before[2])
            now = self._counts()
            for what, count in now.items():
                if count != was[what]:
                    self._note(what)
            was = now

    def _counts(self) -> dict[str, int]:
        said, version = (f"focused/mark/{word}" for word in ("yes", "no")), "focused/critic/version"
        read = partial(self._crawler.stats.get_value, default=0)
        return {"taken": sum(map(read, said)), "judged": read(version)}

    def _note(self, what: str, seconds: float = 0.0, of_loop: float = 0.0, of_process: float | None = None) -> None:
        cpu = process_time() if of_process is None else of_process
        self._file.write(f"{time():.3f}\t{what}\t{seconds:.4f}\t{of_loop:.4f}\t{cpu:.4f}\n")


class Watched:
    """A crawl with `Watch` in it, and its user."""

    def __init__(self, folder: Path, crawler: CrawlProcess) -> None:
        self._folder, self._crawler = folder, crawler

    def pages(self) -> int:
        """How many are in the job."""
        try:
            with closing(read_records(self._folder / "job")) as records:
                (count,) = records.execute("SELECT count(*) FROM pages").fetchone()
        except (ValueError, OSError):
            return 0
        return int(count)

    def mark(self) -> tuple[float, Event]:
        """Mark one page by its label; when that was written, and how it was taken in."""
        job = self._folder / "job"
        with closing(read_records(job)) as records:
            (url,) = records.execute("SELECT url FROM pages ORDER BY random() LIMIT 1").fetchone()
        said = "--yes" if f"/{WANTED}/" in url else "--no"
        command, began = [sys.executable, "-m", "scrapy", "mark", str(job), said, url], time()
        subprocess.run(command, env=crawl_environment(), stdout=subprocess.DEVNULL, check=True)
        return (job / FILE_NAME).stat().st_mtime, self.since(began, "taken")

    def events(self) -> list[Event]:
        return read_events(self._folder / _EVENTS)

    def since(self, at: float, what: str) -> Event:
        """The first such event after a moment; it is waited for."""
        self.wait(lambda: any(event.what == what and event.at > at for event in self.events()))
        return next(event for event in self.events() if event.what == what and event.at > at)

    def is_at_rest(self) -> bool:
        """Has the critic learned from all marks, and is nothing scored?"""
        events = [event for event in self.events() if event.what not in {"held", "collected"}]
        return bool(events) and events[-1].what == "revised" and time() - events[-1].at > REST

    def wait(self, condition: Callable[[], bool], longest: float = LONGEST_WAIT) -> None:
        end = monotonic() + longest
        while not condition():
            if not self._crawler.is_running or monotonic() > end:
                why = "takes too long" if self._crawler.is_running else "ended before it was measured: try more --pages"
                sys.exit(f"bench.marks: the crawl {why}; its log ends with\n{self._crawler.log[-2000:]}")
            sleep(0.1)


def measure(pages: int, marks: int) -> None:
    """Print the figures, with their aims."""
    with tempfile.TemporaryDirectory() as name:
        web, moments = bulk_web(int(pages * SPARE) + 1_000), Random(7)
        with _running(Path(name), web) as crawl:
            crawl.wait(lambda: crawl.pages() > 0)
            waits = []
            for _ in range(marks):
                sleep(moments.uniform(0, APART))
                written, taken = crawl.mark()
                waits.append(taken.at - written)
            print(
                f"{counted(marks, 'mark')} of a running crawl: taken in {median(waits):.1f} s after they were written "
                f"(median; at most {max(waits):.1f}; aim {AIM:.0f})",
                flush=True,
            )
            crawl.wait(lambda: crawl.pages() >= pages, LONGEST_WAIT * (1 + pages / 1_000))
            for _ in range(REPEATS):
                print(_judged(crawl), flush=True)
            quiet = [event for event in crawl.events() if event.what == "held"]
            print(f"longest pauses of the whole crawl: {', '.join(map(_pause, sorted(quiet, key=_length)[-3:]))}")


def _judged(crawl: Watched) -> str:
    """One mark in a crawl that is learning nothing now, and what follows."""
    begun = time()
    crawl.wait(crawl.is_at_rest)
    pages = crawl.pages()
    written, taken = crawl.mark()
    judged, revised = (crawl.since(taken.at, what) for what in ("judged", "revised"))
    sleep(0.1)
    pauses = [event for event in crawl.events() if event.what == "held"]
    during = max((one for one in pauses if taken.at < one.at < revised.at + one.seconds), key=_length, default=None)
    before = max((one for one in pauses if begun < one.at < written), key=_length, default=None)
    return (
        f"{counted(pages, 'page')}: taken in after {taken.at - written:.1f} s; judged anew {_after(taken, judged)} "
        f"(aim {JUDGED_AIM:.0f}), all links scored {_after(taken, revised)}; longest pause {_pause(during)} "
        f"(aim {1000 * PAUSE_AIM:.0f} ms), while nothing was judged anew {_pause(before)}"
    )


def _after(taken: Event, event: Event) -> str:
    return f"in {event.at - taken.at:.1f} s ({event.of_process - taken.of_process:.1f} s of the process's CPU)"


def _length(event: Event) -> float:
    return event.seconds


def _pause(event: Event | None) -> str:
    if event is None:
        return f"below {1000 * _NOTED:.0f} ms"
    return (
        f"{1000 * event.seconds:.0f} ms ({1000 * event.of_loop:.0f} of CPU in the loop, "
        f"{1000 * event.of_process:.0f} in the process)"
    )


@contextmanager
def _running(folder: Path, web: GeneratedWeb) -> Iterator[Watched]:
    topic = {"name": WANTED, "keywords": list(web.keywords), "seeds": web.seeds["root"]}
    (folder / "stars.toml").write_text(to_toml(topic), "utf-8")
    extensions = {**get_project_settings().getdict("EXTENSIONS"), "bench.marks_taking.Watch": 0}
    settings = {
        **OWN_SERVER,
        "JOBDIR": folder / "job",
        "FOCUSED_MODELS": folder / "models",
        "ROBOTSTXT_OBEY": False,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "EXTENSIONS": json.dumps(
            {name if isinstance(name, str) else global_object_name(name): at for name, at in extensions.items()}
        ),
        "BENCH_EVENTS": folder / _EVENTS,
    }
    with SiteServer(web.pages, remembers=False) as server:
        crawler = CrawlProcess(folder, {"topic": folder / "stars.toml"}, settings, proxy=server.url)
        try:
            yield Watched(folder, crawler)
        finally:
            crawler.kill()
