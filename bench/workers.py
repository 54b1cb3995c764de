"""What it costs to share a crawl: CPU per page, and harvest, of one worker and of several.

    python -m bench.workers cpu [--pages 3000] [--rounds 2] [--workers 1,2,4]
    python -m bench.workers harvest --web W.warc.gz --topics-file W.topics.json --examples W.examples.tsv \
        --topic databases --topic geometry [--start root] [--pages 1000] [--delay 0.2]

`cpu`: the generated bulk web is crawled with the frontier in SQLite, then in Redis by so many workers at the same time;
counted is the CPU time of the crawling processes (start-up taken off by a crawl of one page), as ratios in one run.
`harvest`: a recorded web is crawled by one worker and by several, to the same number of pages of all together, with the
same delay per host; counted are the topic's targets among the pages that they wrote, example pages left out.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from focused.lab.demo.bulk import bulk_web
from focused.lab.process import CrawlProcess, crawl_environment
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import Workers
from focused.lab.replay.server import serve
from focused.lab.toml import to_toml
from focused.papers.paths.topics import read_examples, read_topics
from focused.warc.web import Web

QUIET = {"LOG_LEVEL": "INFO", "ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False}
LONGEST = 3_600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cpu", "harvest"))
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--workers", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 4])
    parser.add_argument("--web", type=Path)
    parser.add_argument("--topics-file", type=Path)
    parser.add_argument("--examples", type=Path)
    parser.add_argument("--topic", action="append", default=[])
    parser.add_argument("--start", choices=("root", "on", "far"), default="root")
    parser.add_argument("--delay", type=float, default=0.2)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as redis:
        Bench(told, Path(folder), redis).run()


class Bench:
    """Crawls of one web, by one process or several."""

    def __init__(self, told: argparse.Namespace, folder: Path, redis: RedisServer) -> None:
        self.told, self.folder, self.redis = told, folder, redis
        self.models = folder / "models"
        self.crawls = 0

    def run(self) -> None:
        """What was asked for."""
        if self.told.what == "cpu":
            self.cpu(self.told.pages or 3_000)
        elif not (self.told.web and self.told.topics_file and self.told.examples and self.told.topic):
            raise SystemExit("harvest needs --web, --topics-file, --examples and at least one --topic")
        else:
            self.harvest(self.told.pages or 1_000)

    # --- CPU -----------------------------------------------------------------------------------------------------

    def cpu(self, pages: int) -> None:
        """Milliseconds a page of each kind of frontier, and against the first."""
        web = bulk_web(pages + 500)
        seed = next(iter(web.pages))
        arguments = {"topic": "star galaxy telescope planet comet", "seeds": seed}
        recorded = Web.from_pages({url: page.body for url, page in web.pages.items()})
        kinds = [0, *self.told.workers]
        spent: dict[int, list[float]] = {kind: [] for kind in kinds}
        with serve(recorded) as server:
            for _ in range(self.told.rounds):
                for kind in kinds:
                    first, all_of_them = (
                        self.seconds(kind, server.url, {**arguments, "pages": n}) for n in (kind or 1, pages)
                    )
                    spent[kind].append(1000 * (all_of_them - first) / pages)
        for kind in kinds:
            name = f"Redis, {kind} at work" if kind else "SQLite"
            one = median(spent[kind])
            against = [f"{one / median(spent[0]):.2f} x SQLite"]
            if kind:
                against.append(f"{one / median(spent[self.told.workers[0]]):.2f} x one worker")
            print(f"{name:18} {one:6.2f} ms a page   {', '.join(against)}", flush=True)

    def seconds(self, workers: int, proxy: str, arguments: dict[str, Any]) -> float:
        """CPU seconds of all processes of a crawl; 0 workers: one process with SQLite."""
        before = _children()
        if workers:
            self.crawl(workers, proxy, arguments, QUIET)
        else:
            folder = self.new_folder()
            settings = {**QUIET, "JOBDIR": folder / "job", "FOCUSED_MODELS": self.models}
            crawl = CrawlProcess(folder, arguments, settings, proxy=proxy)
            assert crawl.wait(LONGEST) == 0, crawl.log[-2_000:]
        return _children() - before

    # --- harvest -------------------------------------------------------------------------------------------------

    def harvest(self, pages: int) -> None:
        """Targets of each topic found by one worker and by several."""
        topics, examples = read_topics(self.told.topics_file), read_examples(self.told.examples)
        delays = {**QUIET, "DOWNLOAD_DELAY": self.told.delay, "RANDOMIZE_DOWNLOAD_DELAY": False}
        found: dict[int, int] = dict.fromkeys(self.told.workers, 0)
        with serve(Web.open(self.told.web)) as server:
            for name in self.told.topic:
                path = self.folder / f"{name}.toml"
                values = {"name": name, "focus": topics[name].focus, "seeds": topics[name].seeds(self.told.start)}
                path.write_text(to_toml({**values, "examples": str(self.told.examples.resolve())}))
                teach = [sys.executable, "-m", "scrapy", "teach", str(path), "--web", str(self.told.web.resolve())]
                environment = {**crawl_environment(server.url), "FOCUSED_MODELS": str(self.models)}
                subprocess.run(teach, cwd=self.folder, env=environment, check=True)
                targets = set(topics[name].target_urls) - examples.keys()
                for workers in self.told.workers:
                    began = time.monotonic()
                    arguments = {"topic": path, "pages": pages}
                    urls = self.crawl(workers, server.url, arguments, delays)
                    hits = len(urls & targets)
                    found[workers] += hits
                    took = time.monotonic() - began
                    print(f"{name:24} {workers} at work  {hits:4} of {len(targets)} in {took:.0f} s", flush=True)
        first = found[self.told.workers[0]]
        for workers, hits in found.items():
            print(f"all topics               {workers} at work  {hits:4}   {hits / max(first, 1):.2f} x the first")

    # --- crawls --------------------------------------------------------------------------------------------------

    def crawl(self, workers: int, proxy: str, arguments: dict[str, Any], settings: dict[str, Any]) -> set[str]:
        """A crawl in Redis, to its end; the addresses of the items."""
        with self.redis.client() as client:
            client.flushall()
        folder = self.new_folder()
        with Workers(folder, self.redis, proxy, arguments, {**settings, "FOCUSED_MODELS": self.models}) as crawl:
            crawl.start(workers)
            codes = crawl.wait(LONGEST)
            assert not any(codes), crawl.started[0].log[-2_000:]
            return {item["url"] for worker in crawl.started for item in worker.items}

    def new_folder(self) -> Path:
        """An empty folder for a crawl."""
        self.crawls += 1
        folder = self.folder / f"crawl-{self.crawls}"
        folder.mkdir()
        return folder


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
