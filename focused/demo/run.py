"""The demonstration: one generated web, crawled breadth-first and by the apprentice, and what each of them found.

Everything is what a user would run: the web is written as a WARC, served on loopback as a proxy for all its hosts, and
crawled by ``scrapy crawl focused`` in a process of its own. What was fetched is counted at the server, and what is
on the topic by the labels that the web was made with, which no crawler sees.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from focused.demo.files import write_web
from focused.demo.webs import make_web
from focused.replay.log import read_log
from focused.replay.server import serve
from focused.replay.web import Web

_PROXY_VARIABLES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})


class DemonstrationFailed(RuntimeError):
    """A crawl of the demonstration did not do what it should; the message says which, and where its log is."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl of the demonstration: where it left its files, and what it found.

    ``fetched`` are the addresses that the server answered with 200, ``requests`` all that it was asked for but
    robots.txt; ``pages`` and ``harvest`` are the crawler's own figures.
    """

    prioritizer: str
    folder: Path
    seconds: float
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


def run(folder: Path, prioritizers: Sequence[str], *, web: str = "demo", pages: int = 300) -> Iterator[Crawl]:
    """Make the web in a folder and crawl it, once with each prioritizer; a folder that was used before is emptied."""
    path = folder / "web" / f"{web}.warc.gz"
    for name in ("web", "models", *prioritizers):
        shutil.rmtree(folder / name, ignore_errors=True)
    write_web(make_web(web), path)
    (topic_file,) = path.parent.glob("*.toml")
    ((_, topic),) = json.loads(path.with_name(f"{web}.topics.json").read_text("utf-8")).items()
    recorded = Web.open(path)
    for prioritizer in prioritizers:
        (folder / prioritizer).mkdir(parents=True)
        yield _crawl(recorded, topic_file, folder / prioritizer, frozenset(topic["target_urls"]), pages=pages)


def _crawl(web: Web, topic: Path, folder: Path, targets: frozenset[str], *, pages: int) -> Crawl:
    began = time.monotonic()
    log = folder / "fetches.tsv"
    with serve(web, log=log) as server:
        outcome = subprocess.run(  # noqa: S603  # our own command line
            _command(topic, folder, pages), env=_environment(server.proxy), stdin=subprocess.DEVNULL, check=False
        )
    if outcome.returncode:
        raise DemonstrationFailed(
            f"the crawl {folder.name} ended with {outcome.returncode}: see {folder / 'crawl.log'}"
        )
    stats = json.loads((folder / "stats.json").read_text("utf-8"))
    fetches = [fetch for fetch in read_log(log) if not fetch.is_robots]
    pages = stats.get("focused/page/judged", 0)
    return Crawl(
        prioritizer=folder.name,
        folder=folder,
        seconds=time.monotonic() - began,
        pages=pages,
        harvest=stats.get("focused/relevance/sum", 0.0) / max(pages, 1),
        requests=len(fetches),
        fetched=tuple(fetch.url for fetch in fetches if fetch.status == 200),
        targets=targets,
    )


def _command(topic: Path, folder: Path, pages: int) -> list[str]:
    settings = {
        "JOBDIR": folder,
        "LOG_FILE": folder / "crawl.log",
        "FOCUSED_STATS_FILE": folder / "stats.json",
        "FOCUSED_MODELS": folder.parent / "models",
        "DOWNLOAD_DELAY": 0,  # it is our own server
        "AUTOTHROTTLE_ENABLED": False,
    }
    arguments = {"topic": topic, "pages": pages, "prioritizer": folder.name}
    return [
        *(sys.executable, "-m", "scrapy", "crawl", "focused", "-O", str(folder / "items.jsonl")),
        *(part for name, value in arguments.items() for part in ("-a", f"{name}={value}")),
        *(part for name, value in settings.items() for part in ("-s", f"{name}={value}")),
    ]


def _environment(proxy: str) -> dict[str, str]:
    """The user's environment, with our settings, and our proxy in place of any other."""
    kept = {name: value for name, value in os.environ.items() if name.lower() not in _PROXY_VARIABLES}
    return {**kept, "http_proxy": proxy, "SCRAPY_SETTINGS_MODULE": "focused.settings"}
