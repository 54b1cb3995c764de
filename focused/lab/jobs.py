"""One crawl of a comparison: what it is told, and the two ways of running it.

``real`` is the command a user types, in a process of its own, through the replay server. ``fast`` is the same spider
with the same settings, but worker processes run many crawls one after the other and answer them from memory.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from scrapy.utils.project import get_project_settings

from focused.lab.replay.server import serve
from focused.running.process import crawl_command, crawl_environment
from focused.warc.web import Web

HANDLER = "focused.lab.replay.handler.ReplayHandler"
FOLDED = "focused.lab.replay.fold.FoldedHttps"
FETCHES, STATS, LOG, JOB = "fetches.tsv", "stats.json", "crawl.log", "job"


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
    own = {"JOBDIR": job.path(JOB), "FOCUSED_STATS_FILE": job.path(STATS), "LOG_FILE": job.path(LOG)}
    told = {name: str(path) for name, path in own.items()} | job.settings
    return {
        name: {**project.getdict(name), **value} if isinstance(value, dict) else value for name, value in told.items()
    }


def run_real(jobs: Sequence[Job], web: Web) -> Iterator[Job]:
    """Run crawls one by one through the replay server, and give each when it is done."""
    for job in jobs:
        Path(job.folder).mkdir(parents=True, exist_ok=True)
        with serve(web, log=job.path(FETCHES)) as server:
            process = subprocess.run(  # noqa: S603  # our own command line
                _command(job), env=crawl_environment(server.proxy), capture_output=True, text=True, check=False
            )
        _check(job, process.returncode, process.stderr)
        yield job


def _command(job: Job) -> list[str]:
    settings = settings_of(_answered(job, {"https": FOLDED}))
    return crawl_command(job.arguments, {name: _to_text(value) for name, value in settings.items()})


def _answered(job: Job, handlers: dict[str, str], **settings: str) -> Job:
    """A job whose requests are answered by our handlers."""
    table = {**job.settings.get("DOWNLOAD_HANDLERS", {}), **handlers}
    return msgspec.structs.replace(job, settings={**job.settings, "DOWNLOAD_HANDLERS": table, **settings})


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def run_fast(jobs: Sequence[Job], web: Sequence[Path], *, workers: int) -> Iterator[Job]:
    """Run crawls in worker processes, each answered from memory, and give each when it is done."""
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    paths = os.pathsep.join(str(path.resolve()) for path in web)
    in_memory = dict.fromkeys(("http", "https"), HANDLER)
    for job in jobs:
        Path(job.folder).mkdir(parents=True, exist_ok=True)
        log = str(job.path(FETCHES))
        waiting.put(_answered(job, in_memory, FOCUSED_REPLAY_WEB=paths, FOCUSED_REPLAY_LOG=log))
    done: queue.SimpleQueue[Job | BaseException] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_feed, args=(waiting, done), daemon=True) for _ in range(min(workers, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    for _ in jobs:
        finished = done.get()
        if isinstance(finished, BaseException):
            raise finished
        yield finished
    for thread in threads:
        thread.join()


def _feed(waiting: queue.SimpleQueue[Job], done: queue.SimpleQueue[Job | BaseException]) -> None:
    """Give jobs to one worker process until there are none left."""
    command = [sys.executable, "-m", "focused.lab.worker"]
    with subprocess.Popen(  # noqa: S603  # our own command line
        command, env=crawl_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdin
        assert worker.stdout
        for job in _rest(waiting):
            try:
                worker.stdin.write(msgspec.json.encode(job).decode() + "\n")
                worker.stdin.flush()
                answer = worker.stdout.readline().strip()
                _check(job, 0 if answer == "done" else 1, answer)
            except (OSError, JobFailed) as error:
                done.put(error)
                return
            done.put(job)
        worker.stdin.close()


def _rest(waiting: queue.SimpleQueue[Job]) -> Iterable[Job]:
    while True:
        try:
            yield waiting.get_nowait()
        except queue.Empty:
            return


def _check(job: Job, code: int, words: str) -> None:
    if code == 0 and job.path(STATS).exists():
        return
    log = job.path(LOG).read_text("utf-8", "replace") if job.path(LOG).exists() else ""
    raise JobFailed(f"the crawl in {job.folder} failed ({words.strip()[-2000:]}); its log ends:\n{log[-2000:]}")
