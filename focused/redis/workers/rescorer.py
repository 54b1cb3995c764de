"""Scores all waiting links again; many of them in a separate process, beside that of the crawl.

A thread would slow down the crawl, since both need Python's lock. The process is given a snapshot of the prioritizer,
and answers when the work is done.
"""

from __future__ import annotations

import os
import signal
import traceback

from scrapy.settings import BaseSettings

from focused.frontier.store import JobRefused, StoreBroken
from focused.prioritizers.base import Prioritizer
from focused.redis.pool import Pool
from focused.redis.server import CallRefused, Server
from focused.redis.workers.connection import connect
from focused.running.helper import Helper, NotSendable, questions

# Fewer pieces of evidence are scored in a moment.
_MANY = 50_000
# Where processors are scarce the crawl goes first.
_NICE = 10


class Rescorer:
    """Re-scorings for one worker; `run` is called from one thread at a time, `close` from any."""

    def __init__(self, settings: BaseSettings, server: Server, pool: Pool) -> None:
        redis = {name: settings[name] for name in settings if name.startswith("REDIS_")}
        self._where = redis, server.crawl, server.worker, server.options
        self._pool = pool
        self._helper = Helper(__name__)

    def run(self, prioritizer: Prioritizer, rows: int) -> None:
        """Score all links by this snapshot; StoreBroken if Redis is away, RuntimeError if the process failed."""
        if rows >= _MANY:
            try:
                self._helper.ask(*self._where, prioritizer)
            except NotSendable:
                # A user's prioritizer, or a setting, that cannot leave this process.
                pass
            else:
                return
        self._pool.rescoring(prioritizer).score()

    def close(self) -> None:
        """End the process, whatever it is doing: links that it has not written keep their place."""
        self._helper.close()


def main() -> None:
    """The process."""
    # Ctrl-C in a terminal reaches all of its processes; the worker ends this one when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICE)
    pool: Pool | None = None
    for (redis, *where, prioritizer), answer in questions():
        try:
            pool = pool or Pool(Server(connect(BaseSettings(redis)), *where))
            pool.rescoring(prioritizer).score()
        except Exception as error:
            if isinstance(error, CallRefused):
                answer(CallRefused(str(error)))
            elif isinstance(error, StoreBroken | JobRefused):
                answer(StoreBroken(str(error)))
            else:
                answer(RuntimeError(f"in the process that scores again:\n{traceback.format_exc()}"))
        else:
            answer(None)


if __name__ == "__main__":
    main()
