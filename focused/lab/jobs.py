"""One crawl of a comparison, and the two ways of running it.

``real`` is the command a user types, in a process of its own, through the replay server. ``fast`` is the same spider
with the same settings, but worker processes run many crawls one after the other and answer them from memory.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from scrapy.utils.project import get_project_settings

from focused.lab.process import LOG, STATS, CrawlProcess, crawl_environment
from focused.lab.replay.server import serve
from focused.running.helper import Helper, HelperFailed
from focused.warc.web import Web

HANDLER = "focused.lab.replay.handler.ReplayHandler"
FOLDED = "focused.lab.replay.fold.FoldedHttps"
FETCHES, JOB = "fetches.tsv", "job"


@dataclass(frozen=True)
class Job:
    """A crawl: its folder, the spider's arguments, settings; settings that are tables are added to the project's."""

    folder: Path
    arguments: dict[str, str]
    settings: dict[str, Any]

    def whole_settings(self, handlers: dict[str, str], **own: str) -> dict[str, Any]:
        """Settings as Scrapy takes them from a command line, with whole tables; ``handlers`` answer the requests."""
        project = get_project_settings()
        files = {"JOBDIR": str(self.folder / JOB), "FOCUSED_STATS_FILE": str(self.folder / STATS)}
        settings = files | self.settings | own
        settings["DOWNLOAD_HANDLERS"] = settings.get("DOWNLOAD_HANDLERS", {}) | handlers
        return {
            name: {**project.getdict(name), **value} if isinstance(value, dict) else value
            for name, value in settings.items()
        }


class JobFailed(RuntimeError):
    """A crawl that did not come to its end; the message shows the end of its log."""


def run_real(jobs: Sequence[Job], web: Web) -> Iterator[Job]:
    """Run crawls one by one through the replay server, and yield each when it is done."""
    for job in jobs:
        job.folder.mkdir(parents=True, exist_ok=True)
        settings = job.whole_settings({"https": FOLDED})
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
        with serve(web, log=job.folder / FETCHES) as server:
            code = CrawlProcess(job.folder, job.arguments, texts, proxy=server.url).wait(inf)
        _check(job, "" if code == 0 else f"code {code}")
        yield job


def run_fast(jobs: Sequence[Job], web: Sequence[Path], *, workers: int) -> Iterator[Job]:
    """Run crawls in worker processes, answered from memory, and yield each when it is done."""
    if not jobs:
        return
    paths = os.pathsep.join(str(path.resolve()) for path in web)
    helpers = [Helper("focused.lab.worker", crawl_environment()) for _ in range(min(workers, len(jobs)))]
    free: queue.SimpleQueue[Helper] = queue.SimpleQueue()
    for helper in helpers:
        free.put(helper)

    def settings(job: Job) -> dict[str, Any]:
        logs = {"FOCUSED_REPLAY_LOG": str(job.folder / FETCHES), "LOG_FILE": str(job.folder / LOG)}
        return job.whole_settings(dict.fromkeys(("http", "https"), HANDLER), FOCUSED_REPLAY_WEB=paths, **logs)

    def run(job: Job, settings: dict[str, Any]) -> Job:
        job.folder.mkdir(parents=True, exist_ok=True)
        helper = free.get()
        try:
            wrong = helper.ask(job.arguments, settings)
        except HelperFailed as error:
            wrong = str(error)
        finally:
            free.put(helper)
        _check(job, wrong)
        return job

    pool = ThreadPoolExecutor(len(helpers))
    futures = [pool.submit(run, job, settings(job)) for job in jobs]
    try:
        for done in as_completed(futures):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for helper in helpers:
            helper.close()
        # A question that was on its way may have started a process again.
        while wait(futures, timeout=0.1).not_done:
            for helper in helpers:
                helper.close()


def _check(job: Job, wrong: str) -> None:
    if not wrong and (job.folder / STATS).exists():
        return
    log = (job.folder / LOG).read_text("utf-8", "replace") if (job.folder / LOG).exists() else ""
    told = [line for line in log.splitlines() if " ERROR: " in line]
    # What a traceback belongs to is said around it.
    shown = told[0] if told and "Traceback" not in log else f"\n{log[-2000:]}"
    raise JobFailed(f"the crawl in {job.folder} failed ({wrong.strip()[-2000:]}); its log says: {shown}")
