"""Everything that waits is scored again: if it is much, in a process of its own, beside that of the crawl.

A thread would hold up the crawl: both hold Python's lock by turns. The process is started when it is first needed. It
reads snapshots of the prioritizer from its standard input, answers on its standard output when the work is done, and
ends when its input does, however the worker died.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from scrapy.settings import BaseSettings

from focused.frontier.store import JobRefused, StoreBroken
from focused.prioritizers.base import Prioritizer
from focused.redis.pool import Pool
from focused.redis.records import Packing
from focused.redis.server import CallRefused, Server
from focused.redis.workers.connection import connect

# Fewer pieces of evidence are scored in a moment.
_MANY = 50_000
# Where processors are scarce the crawl goes first.
_NICE = 10


@dataclass(frozen=True, slots=True)
class _Crawl:
    """What the process has to know."""

    settings: Mapping[str, Any]
    crawl: str
    worker: str
    options: Mapping[str, Any]
    most_waiting: int

    def pool(self, id_bits: int) -> Pool:
        client = connect(BaseSettings(self.settings))
        server = Server(client, self.crawl, self.worker, patience=0.0, is_ending=lambda: False)
        server.options = dict(self.options)
        return Pool(server, Packing(id_bits), most_waiting=self.most_waiting)


class Rescorer:
    """Re-scorings for one worker; `run` is called from one thread at a time, `close` from any."""

    def __init__(self, settings: BaseSettings, server: Server, pool: Pool, *, most_waiting: int) -> None:
        redis = {name: settings[name] for name in settings if name.startswith("REDIS_")}
        self._crawl = _Crawl(redis, server.crawl, server.worker, server.options, most_waiting)
        self._pool = pool
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, prioritizer: Prioritizer, rows: int) -> None:
        """Score all by this snapshot; StoreBroken if Redis is away, RuntimeError if the process failed."""
        message = _pickled(self._crawl, prioritizer) if rows >= _MANY else None
        if message is None:
            self._pool.rescoring(prioritizer).run()
            return
        if self._process is None or self._process.poll() is not None:
            self._process = _start()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(message)
            process.stdin.flush()
            error = pickle.load(process.stdout)  # noqa: S301  # from our own process
        except (EOFError, OSError, pickle.UnpicklingError) as failed:
            self.close()
            raise RuntimeError(f"the process that scores again failed (code {process.returncode})") from failed
        if error is not None:
            raise error

    def close(self) -> None:
        """End the process, whatever it is doing: what it has not written keeps the place that it has."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            # Waits for its end, and lets go of its pipes.
            process.communicate()


def _pickled(crawl: _Crawl, prioritizer: Prioritizer) -> bytes | None:
    """What the process needs to score; None if a user's prioritizer, or a setting, cannot leave this process."""
    try:
        return pickle.dumps((crawl, prioritizer), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def _start() -> subprocess.Popen[bytes]:
    # Modules are found where this process found them: that may be an egg, or a user's folder.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-m", "focused.redis.workers.rescorer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )


def main() -> None:
    """The process."""
    # Ctrl-C in a terminal reaches all of its processes; the worker ends this one when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICE)
    # The pipe is ours alone: what a user's prioritizer prints goes where the log goes.
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    pool: Pool | None = None
    with suppress(EOFError, BrokenPipeError):
        while True:
            crawl, prioritizer = pickle.load(sys.stdin.buffer)  # noqa: S301  # from our own process
            error: Exception | None = None
            try:
                pool = pool or crawl.pool(prioritizer.id_bits)
                pool.rescoring(prioritizer).run()
            except CallRefused:
                error = RuntimeError(f"in the process that scores again:\n{traceback.format_exc()}")
            except (StoreBroken, JobRefused) as away:
                error = StoreBroken(str(away))
            except Exception:
                error = RuntimeError(f"in the process that scores again:\n{traceback.format_exc()}")
            pickle.dump(error, answers)
            answers.flush()


if __name__ == "__main__":
    main()
