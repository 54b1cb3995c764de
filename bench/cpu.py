"""CPU per page of a focused crawl, against a plain Scrapy spider with LinkExtractor on the same pages.

    python -m bench.cpu [--pages 5000] [--rounds 3] [--given words]
    python -m bench.cpu --web W.warc.gz --topics-file W.topics.json --examples W.examples.tsv [--topic NAME]

The pages are those of the generated bulk web, or of a recorded web, served on loopback by this process. Each crawl is
a process of its own; counted is its CPU time (user and system), less that of a crawl of one page, for each page that
the server gave it. The three kinds take turns, and the figures are ratios of medians, so that a busy machine does
little harm. `--given` is that of `scrapy compare`: a critic that is given little learns while it crawls, one that is
given hundreds of examples of all classes does not. `bare` is our spider under Scrapy's scheduler, without pipelines and
with a critic that does not look.

On a recorded web no crawl asks for what was not recorded (`bench.recorded_only`): dead links would cost the plain
spider most. The crawls still choose different pages, and redirects cost requests, which are printed beside.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from scrapy.utils.project import get_project_settings
from scrapy.utils.python import global_object_name

from focused.lab.cases import Preparer
from focused.lab.chosen import ChosenTopic
from focused.lab.demo.files import write_web
from focused.lab.demo.webs import make_web
from focused.lab.given import parse_given
from focused.lab.process import OWN_SERVER, crawl_command, crawl_environment
from focused.lab.replay.log import read_log
from focused.lab.replay.server import serve
from focused.papers.paths.graph import read_graph
from focused.papers.paths.topics import read_examples, read_topics
from focused.topics.topic import Topic
from focused.warc.web import Web

SETTINGS = {
    **OWN_SERVER,
    "LOG_LEVEL": "ERROR",
    "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
}
BARE = {
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "ITEM_PIPELINES": {},
    "FOCUSED_CRITIC": "bench.null_critic.NullCritic",
}
PLAIN_SPIDER = Path(__file__).with_name("plain_spider.py")


@dataclass(frozen=True)
class Course:
    """What is crawled: a recorded web, a topic file, where to start; ``folder`` takes what the crawls write.

    ``recorded`` is the file of the addresses that may be asked for.
    """

    web: Web
    topic: Path
    seeds: list[str]
    folder: Path
    recorded: Path

    def command(self, kind: str, pages: int) -> list[str]:
        """The crawl of one kind to a number of pages."""
        output = ("-O", str(self.folder / f"{kind}.jsonl"))
        if kind == "plain":
            own = {**SETTINGS, **self._inside({}), "CLOSESPIDER_ITEMCOUNT": pages}
            settings = [part for name, value in own.items() for part in ("-s", f"{name}={value}")]
            seeds = ("-a", f"urls={' '.join(self.seeds)}")
            return [sys.executable, "-m", "scrapy", "runspider", str(PLAIN_SPIDER), *seeds, *output, *settings]
        ours = {**SETTINGS, **self._inside(get_project_settings().getdict("SPIDER_MIDDLEWARES"))}
        if kind == "bare":
            bare = {**ours, **BARE, "CLOSESPIDER_PAGECOUNT": pages}
            return crawl_command({"topic": self.topic}, bare, *output)
        return crawl_command({"topic": self.topic, "pages": pages}, ours, *output)

    def _inside(self, middlewares: dict[str, Any]) -> dict[str, Any]:
        """Settings that keep a crawl inside what may be asked for."""
        names = {name if isinstance(name, str) else global_object_name(name): n for name, n in middlewares.items()}
        table = {**names, "bench.recorded_only.RecordedOnly": 500}
        return {"SPIDER_MIDDLEWARES": json.dumps(table), "BENCH_RECORDED": self.recorded}

    def run(self, kind: str, pages: int) -> tuple[float, int, int]:
        """CPU seconds of a crawl, the pages that it was given, and all its requests."""
        log = self.folder / "fetches.tsv"
        log.unlink(missing_ok=True)
        # The plain spider runs outside of our project.
        cwd = self.folder if kind == "plain" else Path(__file__).parents[1]
        with serve(self.web, log=log) as server:
            environment = {**crawl_environment(server.url), "FOCUSED_MODELS": str(self.folder / "models")}
            if kind == "plain":
                del environment["SCRAPY_SETTINGS_MODULE"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(self.command(kind, pages), check=True, cwd=cwd, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        fetches = read_log(log)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return spent, sum(fetch.status == 200 for fetch in fetches), len(fetches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=0, help="pages a crawl (default: 5000, of a recorded web 1000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--web", type=Path, metavar="WARC")
    parser.add_argument("--topics-file", type=Path, metavar="JSON")
    parser.add_argument("--examples", type=Path, metavar="TSV")
    parser.add_argument("--topic", help="a topic of the file (default: the first)")
    parser.add_argument("--given", default="all", help="what the critic is given, as in compare (default: all)")
    options = parser.parse_args()
    if options.web and not (options.topics_file and options.examples):
        parser.error("--web needs --topics-file and --examples")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not options.web:
            write_bulk(options, folder)
        course = prepare(options, folder)
        measure(course, options.pages or (1_000 if options.web else 5_000), options.rounds)


def write_bulk(options: argparse.Namespace, folder: Path) -> None:
    """Take the generated bulk web, a little larger than the crawls, for the web that was not given."""
    options.pages = options.pages or 5_000
    options.web = folder / "bulk.warc.gz"
    options.topics_file, options.examples = folder / "bulk.topics.json", folder / "bulk.examples.tsv"
    write_web(make_web("bulk", pages=options.pages + 20), options.web)


def prepare(options: argparse.Namespace, folder: Path) -> Course:
    """A topic of a web, its critic taught."""
    web, topics, given = Web.open(options.web), read_topics(options.topics_file), parse_given(options.given)
    topic = topics[options.topic or next(iter(topics))]
    seeds = topic.seeds_root or topic.seeds_on or topic.seeds_far
    preparer = Preparer(web, read_graph(web, options.web), folder / "topics", folder / "models")
    own = Topic(
        name=topic.name,
        focus=topic.focus * given.has_examples,
        keywords=given.keywords(topic, str(options.topics_file)),
    )
    chosen = ChosenTopic(topic=own, known=topic, examples=read_examples(options.examples), labelled=[])
    (case,) = preparer.cases(chosen, given)
    case.starts = [seeds]
    preparer.teach(case, "")
    urls = folder / "recorded.txt"
    urls.write_text("\n".join(web.urls), "utf-8")
    return Course(web, case.write_topic(0, {}, "cpu"), seeds, folder, urls)


def measure(course: Course, pages: int, rounds: int) -> None:
    """Milliseconds a page of each kind, and against the plain spider's."""
    kinds = ("plain", "focused", "bare")
    spent: dict[str, list[float]] = {kind: [] for kind in kinds}
    requests: dict[str, float] = {}
    for _ in range(rounds):
        for kind in kinds:
            first, few, _ = course.run(kind, 1)
            last, many, asked = course.run(kind, pages)
            spent[kind].append(1000 * (last - first) / max(many - few, 1))
            requests[kind] = asked / max(many, 1)
    for kind in kinds:
        every = ", ".join(f"{value:.2f}" for value in spent[kind])
        ratio = median(spent[kind]) / median(spent["plain"])
        print(f"{kind:8} {median(spent[kind]):6.2f} ms a page ({every})  {ratio:.2f} x plain", end="")
        print(f"  {requests[kind]:.2f} requests a page", flush=True)


if __name__ == "__main__":
    main()
