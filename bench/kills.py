"""Kill a crawl with SIGKILL at random moments, start it again with the same command, and count what was lost.

    python -m bench.kills [--kills 20] [--pages 3000] [--concurrency 16]

The web has as many pages as are wanted, and a crawl has to fetch them all. Counted at the server: pages that were
never fetched, and pages fetched again, which must be no more per kill than were under way at once.
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRAPY = [sys.executable, "-m", "scrapy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--prioritizer", default="apprentice")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warc, log = folder / "bulk.warc.gz", folder / "fetches.tsv"
        subprocess.run([*SCRAPY, "demo", "bulk", "--pages", str(options.pages), "--out", warc], cwd=ROOT, check=True)
        command = [*SCRAPY, "replay", str(warc), "--log", str(log)]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            proxy = server.stdout.readline().rsplit(" at ", 1)[1].strip()
            kills = crawl(options, folder, proxy)
        finally:
            server.terminate()
            server.wait()
        sys.exit(told(options, folder, log, kills))


def crawl(options, folder, proxy):
    """Run the crawl to its end, killing it after a random number of new pages; how many kills there were."""
    moments = random.Random(options.seed)
    topic = next(folder.glob("bulk.*.toml"))
    command = [
        *(*SCRAPY, "crawl", "focused", "-a", f"topic={topic}", "-a", f"prioritizer={options.prioritizer}"),
        *("-s", f"JOBDIR={folder / 'job'}", "-s", "DOWNLOAD_DELAY=0", "-s", "LOG_LEVEL=WARNING"),
        *("-s", f"CONCURRENT_REQUESTS={options.concurrency}", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"),
    ]
    environment = {**os.environ, "http_proxy": proxy, "FOCUSED_MODELS": str(folder / "models")}
    kills = 0
    while True:
        share = options.pages // (options.kills + 2)
        target = fetched(folder) + moments.randint(1, 2 * share) if kills < options.kills else None
        crawler = subprocess.Popen(command, cwd=ROOT, env=environment)
        while crawler.poll() is None and (target is None or fetched(folder) < target):
            time.sleep(0.01)
        if crawler.poll() is not None:
            if crawler.returncode:
                sys.exit(f"the crawl ended with code {crawler.returncode}")
            return kills
        time.sleep(moments.random() * 0.05)
        crawler.send_signal(signal.SIGKILL)
        crawler.wait()
        kills += 1
        print(f"kill {kills} after {fetched(folder)} fetches", flush=True)


def fetched(folder):
    log = folder / "fetches.tsv"
    return log.read_bytes().count(b"\t200\t") if log.exists() else 0


def told(options, folder, log, kills):
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
