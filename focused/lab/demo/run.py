"""The demonstration: one generated web, crawled breadth-first and by the default prioritizer, and what each found.

Everything is what a user would run: the web is written as a WARC, served on loopback as a proxy for all its hosts, and
crawled by ``scrapy crawl focused`` in a separate process. Fetched pages are counted at the server, and targets by the
labels that the web was made with, which no crawler sees.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from math import inf
from pathlib import Path

from focused.lab.demo.files import write_web
from focused.lab.demo.webs import make_web
from focused.lab.process import LOG, OWN_SERVER, CrawlProcess
from focused.lab.replay.log import read_log
from focused.lab.replay.server import serve
from focused.warc.web import Web

_MARK = "demonstration.txt"


class DemonstrationFailed(RuntimeError):
    """A crawl of the demonstration did not do what it should; the message says which, and where its log is."""


@dataclass(frozen=True, slots=True)
class DemoCrawl:
    """One crawl of the demonstration: where it left its files, and what it found.

    ``fetched`` are the addresses that the server answered with 200, ``requests`` all that it was asked for but
    robots.txt; ``pages`` and ``harvest`` are the crawler's own figures.
    """

    prioritizer: str
    folder: Path
    pages: int
    harvest: float
    requests: int
    fetched: tuple[str, ...]
    targets: frozenset[str]

    @property
    def found(self) -> int:
        """Targets among what was fetched."""
        return len(self.targets.intersection(self.fetched))

    @property
    def report(self) -> Path:
        """The crawl's report."""
        return self.folder / "report.html"


@dataclass(frozen=True)
class Stage:
    """A generated web, written and opened, with what is known of its targets; each crawl has a folder in its folder."""

    folder: Path
    web: Web
    topic: Path
    targets: frozenset[str]

    def crawl(self, prioritizer: str, *, pages: int) -> DemoCrawl:
        """Crawl the web from the start; what an earlier crawl with this prioritizer left is removed."""
        folder = self.folder / prioritizer
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        arguments = {"topic": self.topic.resolve(), "pages": pages, "prioritizer": prioritizer}
        here, log = folder.resolve(), folder / "fetches.tsv"
        settings = {**OWN_SERVER, "JOBDIR": here, "LOG_FILE": here / LOG, "FOCUSED_MODELS": here.parent / "models"}
        with serve(self.web, log=log) as server:
            process = CrawlProcess(here, arguments, settings, proxy=server.url, shown=True)
            if code := process.wait(inf):
                raise DemonstrationFailed(f"the crawl {prioritizer} ended with {code}: see above, and {folder / LOG}")
        fetches = [fetch for fetch in read_log(log) if not fetch.is_robots]
        judged = process.stats.get("focused/page/judged", 0)
        return DemoCrawl(
            prioritizer=prioritizer,
            folder=folder,
            pages=judged,
            harvest=process.stats.get("focused/relevance/sum", 0.0) / max(judged, 1),
            requests=len(fetches),
            fetched=tuple(fetch.url for fetch in fetches if fetch.status == 200),
            targets=self.targets,
        )


def prepare(folder: Path, web: str = "demo") -> Stage:
    """Make a generated web in a folder; files of an earlier demonstration are removed, including its critics."""
    _clear(folder)
    made = make_web(web)
    warc, *_, topic = write_web(made, folder / "web" / f"{web}.warc.gz")
    return Stage(folder, Web.open(warc), topic, frozenset(made.targets))


def _clear(folder: Path) -> None:
    """Empty a folder, if a demonstration made it."""
    mark = folder / _MARK
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise DemonstrationFailed(
            f"{str(folder)!r} holds files that are not a demonstration's: name another with --out"
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mark.write_text("Made by the demonstration, and emptied when it runs again.\n", "utf-8")
