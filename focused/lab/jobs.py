"""One crawl of a comparison, and the two ways of running it.

``real`` is the command a user types, in a process of its own, through the replay server. ``fast`` is the same spider
with the same settings, but worker processes run many crawls one after the other and answer them from memory.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from math import inf
from pathlib import Path
from typing import Any

import msgspec
from scrapy.utils.project import get_project_settings

from focused.lab.replay.server import serve
from focused.running.helper import Helper, HelperFailed
from focused.running.process import LOG, STATS, CrawlProcess, crawl_environment
from focused.warc.web import Web

HANDLER = "focused.lab.replay.handler.ReplayHandler"
FOLDED = "focused.lab.replay.fold.FoldedHttps"
FETCHES, JOB = "fetches.tsv", "job"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A crawl: its folder, the spider's arguments, settings; settings that are tables are added to the project's."""

    folder: str
    arguments: dict[str, str]
    settings: dict[str, Any]

    def path(self, name: str) -> Path:
        """A file of the crawl."""
        return Path(self.folder) / name


class JobFailed(RuntimeError):
    """A crawl that did not come to its end; the message shows the end of its log."""


def settings_of(job: Job) -> dict[str, Any]:
    """The settings of a crawl as Scrapy takes them from a command line: whole tables."""
    project = get_project_settings()
    own = {"JOBDIR": job.path(JOB), "FOCUSED_STATS_FILE": job.path(STATS)}
    told = {name: str(path) for name, path in own.items()} | job.settings
    return {
        name: {**project.getdict(name), **value} if isinstance(value, dict) else value for name, value in told.items()
    }


def run_real(jobs: Sequence[Job], web: Web) -> Iterator[Job]:
    """Run crawls one by one through the replay server, and yield each when it is done."""
    for job in jobs:
        folder = Path(job.folder)
        folder.mkdir(parents=True, exist_ok=True)
        settings = settings_of(_answered(job, {"https": FOLDED}))
        with serve(web, log=job.path(FETCHES)) as server:
            texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
            code = CrawlProcess(folder, job.arguments, texts, proxy=server.proxy).wait(inf)
        _check(job, "" if code == 0 else f"code {code}")
        yield job


def _answered(job: Job, handlers: dict[str, str], **settings: str) -> Job:
    """A job whose requests are answered by our handlers."""
    table = {**job.settings.get("DOWNLOAD_HANDLERS", {}), **handlers}
    return msgspec.structs.replace(job, settings={**job.settings, "DOWNLOAD_HANDLERS": table, **settings})


def run_fast(jobs: Sequence[Job], web: Sequence[Path], *, workers: int) -> Iterator[Job]:
    """Run crawls in worker processes, answered from memory, and yield each when it is done."""
    if not jobs:
        return
    paths = os.pathsep.join(str(path.resolve()) for path in web)
    helpers = [Helper("focused.lab.worker", crawl_environment()) for _ in range(min(workers, len(jobs)))]
    free: queue.SimpleQueue[Helper] = queue.SimpleQueue()
    for helper in helpers:
        free.put(helper)

    def run(job: Job) -> Job:
        Path(job.folder).mkdir(parents=True, exist_ok=True)
        log = {"FOCUSED_REPLAY_LOG": str(job.path(FETCHES)), "LOG_FILE": str(job.path(LOG))}
        asked = _answered(job, dict.fromkeys(("http", "https"), HANDLER), FOCUSED_REPLAY_WEB=paths, **log)
        helper = free.get()
        try:
            wrong = helper.ask(asked)
        except HelperFailed as error:
            wrong = str(error)
        finally:
            free.put(helper)
        _check(job, wrong)
        return job

    pool = ThreadPoolExecutor(len(helpers))
    try:
        for done in as_completed([pool.submit(run, job) for job in jobs]):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for helper in helpers:
            helper.close()


def _check(job: Job, wrong: str) -> None:
    if not wrong and job.path(STATS).exists():
        return
    log = job.path(LOG).read_text("utf-8", "replace") if job.path(LOG).exists() else ""
    raise JobFailed(f"the crawl in {job.folder} failed ({wrong.strip()[-2000:]}); its log ends:\n{log[-2000:]}")
