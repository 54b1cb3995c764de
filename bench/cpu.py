"""CPU per page of a focused crawl, against a plain Scrapy spider on the same pages.

    python -m bench.cpu [--pages 5000] [--rounds 3]

Each crawl is a process of its own that fetches the same generated web from a server in another process; what is
counted is the CPU time of the crawling process (user and system, start-up taken off by a crawl of one page). The
three kinds take turns, and the figures are ratios of medians, so that a busy machine does little harm.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRAPY = [sys.executable, "-m", "scrapy"]
QUIET = ["-s", "LOG_LEVEL=ERROR", "-s", "DOWNLOAD_DELAY=0", "-s", "ROBOTSTXT_OBEY=False"]
BUSY = ["-s", "CONCURRENT_REQUESTS=16", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"]
BARE = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "ITEM_PIPELINES": "{}",
    "FOCUSED_CRITIC": "bench.null_critic.NullCritic",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warc = Path(folder) / "bulk.warc.gz"
        run([*SCRAPY, "demo", "bulk", "--pages", str(options.pages), "--out", str(warc)])
        server = subprocess.Popen([*SCRAPY, "replay", str(warc)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            proxy = server.stdout.readline().rsplit(" at ", 1)[1].strip()
            measure(options, Path(folder), warc, proxy)
        finally:
            server.terminate()
            server.wait()


def measure(options, folder, warc, proxy):
    topic = next(warc.parent.glob("bulk.*.toml"))
    seed = json.loads((folder / "bulk.topics.json").read_text())["stars"]["seeds_root"][0]
    kinds = {
        "plain": lambda n: [
            *("runspider", str(ROOT / "bench/plain_spider.py"), "-a", f"url={seed}", "-o", f"{folder}/plain.jl"),
            *(("-s", f"CLOSESPIDER_PAGECOUNT={n}") if n < options.pages else ()),
        ],
        "focused": lambda n: ["crawl", "focused", "-a", f"topic={topic}", "-a", f"pages={n}", "-o", f"{folder}/f.jl"],
        "bare": lambda n: [
            *("crawl", "focused", "-a", f"topic={topic}", "-o", f"{folder}/b.jl"),
            *(part for name, value in BARE.items() for part in ("-s", f"{name}={value}")),
            *(("-s", f"CLOSESPIDER_PAGECOUNT={n}") if n < options.pages else ()),
        ],
    }
    # The first crawl teaches the critic; that is not counted.
    run([*SCRAPY, *kinds["focused"](1), *QUIET], http_proxy=proxy, FOCUSED_MODELS=str(folder / "models"))
    seconds = {kind: [] for kind in kinds}
    for _ in range(options.rounds):
        for kind, command in kinds.items():
            spent = [
                run([*SCRAPY, *command(n), *QUIET, *BUSY], http_proxy=proxy, FOCUSED_MODELS=str(folder / "models"))
                for n in (1, options.pages)
            ]
            seconds[kind].append((spent[1] - spent[0]) / options.pages)
    medians = {kind: statistics.median(values) for kind, values in seconds.items()}
    for kind, values in seconds.items():
        every = ", ".join(f"{1000 * value:.2f}" for value in values)
        ratio = medians[kind] / medians["plain"]
        print(f"{kind:8} {1000 * medians[kind]:6.2f} ms a page ({every})  {ratio:.2f} x plain")


def run(command, **environment):
    """Run a command to its end; the CPU seconds it took. The plain spider runs outside of our project."""
    folder = tempfile.gettempdir() if "runspider" in command else ROOT
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": path, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
