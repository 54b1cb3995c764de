"""How soon a running crawl takes marks in, and how long it is held: `python -m bench.marks taking`.

A crawl of the generated bulk web, begun with words, runs at its full pace. The user marks pages at random moments by
`scrapy mark`, and the crawl's log says when each was taken in; counted are the seconds from the end of the command.

When the job has its pages, pages are marked one after the other, and an extension inside the crawl notes when all
verdicts have changed, when all that waits is scored again, and the pauses of the event loop. Beside each pause it notes
the CPU time of the process: a busy machine makes pauses in which the process got none.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
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
_TICK, _NOTED = 0.002, 0.02
_EVENTS = "events.tsv"


class Event(NamedTuple):
    """What happened in the crawl, and when. Of a pause: its seconds, CPU of the loop's thread and of the process."""

    at: float
    what: str
    seconds: float = 0.0
    of_loop: float = 0.0
    of_process: float = 0.0


class Watch:
    """An extension: notes pauses of the event loop, new versions of the critic, and when all is scored again."""

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

    def spider_closed(self) -> None:
        self._task.cancel()

    def verdicts_revised(self) -> None:
        self._note("revised")

    async def _watch(self) -> None:
        version = None
        while True:
            before = monotonic(), thread_time(), process_time()
            await asyncio.sleep(_TICK)
            held = monotonic() - before[0] - _TICK
            if held > _NOTED:
                self._note("held", held, thread_time() - before[1], process_time() - before[2])
            now = self._crawler.stats.get_value("focused/critic/version")
            if now != version:
                self._note("judged")
            version = now

    def _note(self, what: str, *seconds: float) -> None:
        self._file.write("\t".join([f"{time():.3f}", what, *(f"{one:.4f}" for one in seconds)]) + "\n")


class Watched:
    """A crawl with `Watch` in it, and its user."""

    def __init__(self, folder: Path, crawler: CrawlProcess) -> None:
        self._folder, self._crawler, self._random = folder, crawler, Random(7)

    def pages(self) -> int:
        """How many are in the job."""
        try:
            with closing(read_records(self._folder / "job")) as records:
                (count,) = records.execute("SELECT count(*) FROM pages").fetchone()
        except (ValueError, OSError):
            return 0
        return int(count)

    def mark(self) -> tuple[float, float]:
        """Mark one page by its label; when the command had ended, and when it was taken in."""
        with closing(read_records(self._folder / "job")) as records:
            (url,) = records.execute("SELECT url FROM pages ORDER BY random() LIMIT 1").fetchone()
        before = len(self._taken())
        said = "--yes" if f"/{WANTED}/" in url else "--no"
        command = [sys.executable, "-m", "scrapy", "mark", str(self._folder / "job"), said, url]
        subprocess.run(command, env=crawl_environment(), stdout=subprocess.DEVNULL, check=True)
        ended = time()
        self.wait(lambda: len(self._taken()) > before)
        return ended, self._taken()[before]

    def _taken(self) -> list[float]:
        return [float(line.split(" ", 1)[0]) for line in self._crawler.log.splitlines() if " taken in: " in line]

    def events(self) -> list[Event]:
        lines = (self._folder / _EVENTS).read_text("utf-8").split("\n")[:-1]
        fields = (line.split("\t") for line in lines)
        return [Event(float(at), what, *map(float, seconds)) for at, what, *seconds in fields]

    def since(self, at: float, what: str) -> float:
        """When the first such event after a moment was; it is waited for."""
        self.wait(lambda: any(event.what == what and event.at > at for event in self.events()))
        return next(event.at for event in self.events() if event.what == what and event.at > at)

    def is_at_rest(self) -> bool:
        """Has the critic learned from all marks, and is nothing scored?"""
        revised = [event.at for event in self.events() if event.what == "revised"]
        return bool(revised) and revised[-1] > max(self._taken(), default=0.0) and time() - revised[-1] > 1

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
                ended, taken = crawl.mark()
                waits.append(max(taken - ended, 0.0))
            print(
                f"{counted(marks, 'mark')} of a running crawl: taken in {median(waits):.1f} s after the command "
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
    ended, taken = crawl.mark()
    judged, revised = crawl.since(taken, "judged"), crawl.since(taken, "revised")
    sleep(0.1)
    pauses = [event for event in crawl.events() if event.what == "held"]
    during = max((one for one in pauses if taken - one.seconds <= one.at <= revised + one.seconds), key=_length)
    before = max(
        (one for one in pauses if begun <= one.at < taken - one.seconds), key=_length, default=Event(0, "held")
    )
    return (
        f"{counted(pages, 'page')}: taken in after {max(taken - ended, 0.0):.1f} s, judged anew in "
        f"{judged - taken:.1f} s (aim {JUDGED_AIM:.0f}), all links scored in {revised - taken:.1f} s; longest pause {_pause(during)} "
        f"(aim {1000 * PAUSE_AIM:.0f} ms), before that {_pause(before)}"
    )


def _length(event: Event) -> float:
    return event.seconds


def _pause(event: Event) -> str:
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
        "LOG_FORMAT": "%(created).3f %(levelname)s: %(message)s",
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
