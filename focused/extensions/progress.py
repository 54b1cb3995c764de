"""Says how the crawl goes: a live line on a terminal, plain lines in a log, and a summary at the end."""

from __future__ import annotations

import atexit
import logging
import sys
from collections import deque
from collections.abc import Callable, Mapping
from time import monotonic
from typing import IO, Any

from rich.console import Console
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text
from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.asyncio import create_looping_call

from focused.defaults import read
from focused.extensions.recent import RecentPages
from focused.frontier.store import Standing
from focused.parts import Component
from focused.report.status import LATELY
from focused.report.text import OUTCOMES, counted, outcomes_in_words
from focused.scheduling.beside import open_job_beside
from focused.scheduling.steering import how_to_go_on

logger = logging.getLogger(__name__)

_REFRESH = 0.5
_PACE_OVER = 10.0


class ProgressExtension(Component):
    """Counts what is shown. On a terminal the line stands below the log, whose lines scroll by above it.

    Shown ``every`` so many seconds; 0: only counted, for the summary.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._every: float = read(crawler.settings, "FOCUSED_PROGRESS_EVERY")
        self._recent = RecentPages(crawler, LATELY)
        self._marks: deque[tuple[float, int]] = deque()
        self._line: LiveLine | None = None
        self._loops: list[Any] = []
        crawler.signals.connect(self.spider_opened, scrapy_signals.spider_opened)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    def spider_opened(self) -> None:
        """Begin to show the counts."""
        open_job_beside(self.crawler)
        self._marks.append((monotonic(), self.parts.standing.pages))
        settings = self.crawler.settings
        if not self._every:
            return
        terminal = terminal_for(settings)
        if terminal is not None:
            self._line = line = LiveLine(terminal)
            self._repeat(lambda: line.show(self.words()), _REFRESH)
        if terminal is None or settings.get("LOG_FILE"):
            self._repeat(lambda: logger.info("%s", self.words()), self._every)

    def spider_closed(self) -> None:
        """Clear the line, and leave the figures in the statistics."""
        for loop in self._loops:
            loop.stop()
        if self._line is not None:
            self._line.stop()
        standing, job = self.parts.standing, self.parts.job
        figures = {
            "focused/job/pages": standing.pages,
            "focused/job/found": standing.found,
            "focused/job/wanted": round(standing.relevance),
            "focused/job/harvest": round(standing.harvest, 4),
            "focused/job/waiting": standing.waiting,
            "focused/job/folder": str(job.folder) if job and job.folder and job.lasts else "",
            "focused/job/output": ", ".join(map(str, self.crawler.settings.getdict("FEEDS"))),
        }
        for name, value in figures.items():
            self.crawler.stats.set_value(name, value)

    def words(self) -> str:
        """The state of the crawl, in one line."""
        standing = self.parts.standing
        lessons = self.crawler.stats.get_value("focused/lesson/count", 0)
        parts = (
            how_to_go_on(self.parts) if self.parts.steering.is_paused else "",
            self._found(standing),
            of_limit(standing.pages, self.parts.stops.pages),
            self._harvest(standing),
            f"{self._pace(standing.pages):.1f} pages/s",
            f"{counted(standing.waiting, 'link')} waiting",
            f"{standing.leased} in progress",
            counted(standing.hosts, "host"),
            counted(lessons, "lesson") if lessons else "",
        )
        return " · ".join(filter(None, parts))

    def _found(self, standing: Standing) -> str:
        lately = f", {self._recent.found} of the last {len(self._recent)}" if len(self._recent) else ""
        return f"{standing.found:,} found{lately}"

    def _harvest(self, standing: Standing) -> str:
        if not standing.pages:
            return "no harvest yet"
        now = self._recent.harvest if len(self._recent) else standing.harvest
        return f"harvest {now:.2f} now, {standing.harvest:.2f} so far"

    def _pace(self, pages: int) -> float:
        now = monotonic()
        self._marks.append((now, pages))
        while now - self._marks[0][0] > _PACE_OVER and len(self._marks) > 2:
            self._marks.popleft()
        began, before = self._marks[0]
        return (pages - before) / max(now - began, 1e-9)

    def _repeat(self, what: Callable[[], None], every: float) -> None:
        loop = create_looping_call(what)
        loop.start(every, now=False)
        self._loops.append(loop)


class LiveLine:
    """One line at the bottom of a terminal. Log lines meant for the terminal are printed above it."""

    def __init__(self, terminal: IO[str]) -> None:
        console = Console(file=terminal, highlight=False, soft_wrap=True)
        self._spinner = Spinner("dots", style="cyan")
        # Refreshed by the reactor's clock: a thread would read what the crawl is just changing.
        self._live = Live(self._spinner, console=console, auto_refresh=False, transient=True)
        self._handlers = [(handler, handler.stream) for handler in _handlers_on_a_terminal()]
        self._live.start()
        for handler, stream in self._handlers:
            handler.setStream(FileProxy(console, stream))
        atexit.register(self.stop)

    def show(self, words: str) -> None:
        """Change the line."""
        self._spinner.update(text=Text(words, no_wrap=True, overflow="ellipsis"))
        self._live.refresh()

    def stop(self) -> None:
        """Take the line away; the log goes to the terminal again by itself."""
        for handler, stream in self._handlers:
            handler.setStream(stream)
        self._handlers = []
        self._live.stop()
        atexit.unregister(self.stop)


def terminal_for(settings: BaseSettings) -> IO[str] | None:
    """Where a live line may stand: the terminal behind stderr, or else behind stdout if no items are written there."""
    if _is_terminal(sys.stderr):
        return sys.stderr
    writes_items = any(str(uri) in {"-", "stdout:"} for uri in settings.getdict("FEEDS"))
    return sys.stdout if _is_terminal(sys.stdout) and not writes_items else None


def of_limit(pages: int, most: int) -> str:
    """So many pages, with the limit if there is one."""
    return f"{pages:,} of {counted(most, 'page')}" if most else counted(pages, "page")


def summary(stats: Mapping[str, Any]) -> str:
    """What came of a crawl, some lines of words from its statistics; the last one says why it stopped."""
    pages, found = stats.get("focused/job/pages", 0), stats.get("focused/job/found", 0)
    ends = {name: stats.get(f"focused/outcome/{name}", 0) for name in OUTCOMES}
    redirected = ends.pop("redirect")
    requests = counted(stats.get("downloader/request_count", 0), "request")
    requests += f", {redirected:,} of them redirected" if redirected else ""
    counts = ", ".join(outcomes_in_words(ends))
    lines = (
        f"{found:,} found of {counted(pages, 'page')} (about {stats.get('focused/job/wanted', 0):,} wanted), "
        f"harvest {stats.get('focused/job/harvest', 0.0):.3f}",
        f"{requests}; links: {counts}" if counts else requests,
        *(f"{what}: {stats[name]}" for what, name in _PLACES.items() if stats.get(name)),
        *(f"not written: {words}" for words in stats.get("focused/not_written", ())),
        f"The crawl ended: {stats.get('focused/stopped_by') or stats.get('finish_reason')}",
    )
    return "\n".join(lines)


_PLACES = {
    "items": "focused/job/output",
    "job": "focused/job/folder",
    "crawl": "focused/job/crawl",
    "report": "focused/report/path",
}


def _handlers_on_a_terminal() -> list[logging.StreamHandler[Any]]:
    streams = [handler for handler in logging.root.handlers if isinstance(handler, logging.StreamHandler)]
    return [handler for handler in streams if _is_terminal(handler.stream)]


def _is_terminal(stream: Any) -> bool:
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty())
