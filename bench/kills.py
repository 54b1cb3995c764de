"""Kill a crawl with SIGKILL at random moments, start it again with the same command, and count what was lost.

    python -m bench.kills [--kills 20] [--pages 3000] [--concurrency 16] [--marks]

The web has as many pages as are wanted, and a crawl has to fetch them all. Counted at the server: pages that were
never fetched, and pages fetched again, which must be no more per kill than were under way at once. With ``--marks``
pages are marked all the time, and each mark that was noted must count in the end.
"""

from __future__ import annotations

import argparse
import math
import random
import signal
import sqlite3
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from focused.frontier.inbox import FileInbox, Mark
from focused.frontier.store import SURE, Says
from focused.lab.demo.files import write_web
from focused.lab.demo.webs import make_web
from focused.lab.process import OWN_SERVER, CrawlProcess
from focused.lab.replay.server import serve
from focused.report.job_reader import JobReader
from focused.warc.web import Web


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--prioritizer", default="apprentice")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--marks", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "fetches.tsv"
        write_web(make_web("bulk", pages=options.pages), folder / "bulk.warc.gz")
        with serve(Web.open(folder / "bulk.warc.gz"), log=log) as server:
            marker = Marker(folder) if options.marks else None
            kills = crawl(options, folder, server.url, marker)
        lost = told(options, folder, log, kills)
        lost_marks = marker.lost() if marker else 0
        sys.exit(lost or lost_marks)


class Marker:
    """Marks pages that were fetched, some each time that it is called, now with yes and now with no."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._inbox = folder, FileInbox(folder / "job")
        self._said: dict[str, Says] = {}
        self._random = random.Random(7)

    def __call__(self) -> None:
        log = self._folder / "fetches.tsv"
        lines = log.read_text().splitlines() if log.exists() else []
        pages = [url for _, status, url in (line.split("\t")[:3] for line in lines) if status == "200"]
        pages = [url for url in pages if not url.endswith("/robots.txt")]
        if not pages or not (self._folder / "job" / "job.db").exists():
            return
        said = self._random.choice([Says.YES, Says.NO])
        urls = self._random.sample(pages, min(3, len(pages)))
        self._inbox.append([Mark(url=url, said=said) for url in urls])
        self._said |= dict.fromkeys(urls, said)

    def lost(self) -> int:
        """1 if a mark does not count."""
        with JobReader.open(self._folder / "job") as reader:
            pages = reader.pages(reader.page_table().link.tolist())
            exported = {item["url"]: item["relevance"] for item in reader.items()}
        says = {page.url: page.said for page in pages}
        # Pages that are lost are counted as such.
        there = {url: said for url, said in self._said.items() if url in says}
        lost = [url for url, said in there.items() if says[url] != said]
        wrong = [url for url, said in there.items() if (said is Says.YES) != (exported[url] >= SURE - 1e-6)]
        print(f"{len(self._said)} pages marked: {len(lost)} marks lost, {len(wrong)} items say otherwise")
        return int(bool(lost or wrong))


def crawl(options: argparse.Namespace, folder: Path, proxy: str, mark: Marker | None) -> int:
    """Run the crawl to its end, killing it after a random number of new pages; how many kills there were."""
    moments = random.Random(options.seed)
    arguments = {"topic": next(folder.glob("bulk.*.toml")), "prioritizer": options.prioritizer}
    settings = {
        **OWN_SERVER,
        "JOBDIR": folder / "job",
        "FOCUSED_MODELS": folder / "models",
        "LOG_LEVEL": "WARNING",
        "CONCURRENT_REQUESTS": options.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    }
    kills = 0
    while True:
        share = options.pages // (options.kills + 2)
        target = fetched(folder) + moments.randint(1, 2 * share) if kills < options.kills else math.inf
        crawler = CrawlProcess(folder, arguments, settings, proxy=proxy, shown=True)
        code = crawler.wait(math.inf, is_enough=partial(has_fetched, folder, target, mark))
        if code != -signal.SIGKILL:
            if code:
                sys.exit(f"the crawl ended with code {code}")
            return kills
        kills += 1
        print(f"kill {kills} after {fetched(folder)} fetches", flush=True)


def has_fetched(folder: Path, target: float, mark: Marker | None) -> bool:
    # The last start ends when nothing comes any more, marks included.
    if mark is not None and target < math.inf:
        mark()
    return fetched(folder) >= target


def fetched(folder: Path) -> int:
    log = folder / "fetches.tsv"
    return log.read_bytes().count(b"\t200\t") if log.exists() else 0


def told(options: argparse.Namespace, folder: Path, log: Path, kills: int) -> int:
    addresses = [line.split("\t")[2].strip() for line in log.read_text().splitlines() if line.split("\t")[1] == "200"]
    times = Counter(address for address in addresses if not address.endswith("/robots.txt"))
    again = sum(times.values()) - len(times)
    records = sqlite3.connect(folder / "job" / "job.db")
    (pages,) = records.execute("SELECT count(*) FROM pages").fetchone()
    for link in records.execute("SELECT state, outcome, detail, tries, url FROM links WHERE outcome != 1 LIMIT 10"):
        print("not a page:", *link)
    print(f"{kills} kills: {len(times)} of {options.pages} pages fetched, {pages} in the job's records")
    print(f"{again} fetched again: {again / max(kills, 1):.1f} a kill, {options.concurrency} under way at most")
    lost = options.pages - min(len(times), pages)
    return int(lost > 0 or again > kills * options.concurrency)


if __name__ == "__main__":
    main()
