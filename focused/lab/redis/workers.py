"""Several workers on one crawl in Redis, as processes: started, killed, frozen and inspected."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from focused.lab.process import LONGEST, OWN_SERVER, CrawlProcess
from focused.lab.redis.server import RedisServer

CRAWL = "test"
_TICK = 0.05


class Worker(CrawlProcess):
    """One process, with a folder of its own for all it writes."""

    @property
    def name(self) -> str:
        """Its name in Redis; '' before it has joined."""
        found = re.search(r"Worker (\S+) joins", self.log)
        return found[1] if found else ""


class Workers:
    """The workers of a crawl; those that still run at the end of the block are killed.

    Pages come through ``proxy``. Delays are off unless ``settings`` say otherwise. ``prefix`` (``nice``…) goes before
    the command line.
    """

    def __init__(
        self,
        folder: Path,
        redis: RedisServer,
        proxy: str,
        arguments: Mapping[str, Any],
        settings: Mapping[str, Any],
        *,
        prefix: Sequence[str] = (),
    ) -> None:
        self.folder, self.redis, self._prefix = folder, redis, prefix
        self.arguments, self._proxy = dict(arguments), proxy
        shared = {"FOCUSED_FRONTIER": "redis", "FOCUSED_CRAWL": CRAWL, "REDIS_URL": redis.url}
        self.settings = {**OWN_SERVER, **shared, "FOCUSED_MODELS": folder / "models", **settings}
        self.started: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.running:
            worker.kill()

    @property
    def running(self) -> list[Worker]:
        """Those that have not ended."""
        return [worker for worker in self.started if worker.is_running]

    def start(self, number: int = 1, *, environment: Mapping[str, str] | None = None, **arguments: Any) -> list[Worker]:
        """Start some more; settings (in capitals) and spider arguments of their own go before those of all."""
        own = {name: value for name, value in arguments.items() if name.isupper()}
        spiders = {name: value for name, value in arguments.items() if not name.isupper()}
        new = [self._start({**self.settings, **own}, {**self.arguments, **spiders}, environment) for _ in range(number)]
        self.started += new
        return new

    def meta(self) -> dict[str, str]:
        """The counts of the crawl in Redis."""
        with self.redis.client() as client:
            found = client.hgetall(f"{{focused:{CRAWL}}}:meta")
        return {name.decode(): value.decode() for name, value in found.items()}

    def count(self, what: str) -> float:
        """One of these counts."""
        return float(self.meta().get(what, 0))

    def trainer(self) -> Worker | None:
        """The worker that has the role of the trainer."""
        name = self.meta().get("trainer")
        return next((worker for worker in self.running if name and worker.name == name), None)

    def until(self, condition: Callable[[], Any], timeout: float = LONGEST) -> None:
        """Wait until something is true; AssertionError with the ends of all logs if it does not become so."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("\n".join(worker.log[-1_500:] for worker in self.started))
            time.sleep(_TICK)

    def wait(self, timeout: float = LONGEST) -> list[int]:
        """The exit codes of those that still run, when they have ended."""
        return [worker.wait(timeout) for worker in self.running]

    def _start(
        self, settings: Mapping[str, Any], arguments: Mapping[str, Any], environment: Mapping[str, str] | None
    ) -> Worker:
        folder = self.folder / f"worker-{len(list(self.folder.glob('worker-*')))}"
        folder.mkdir()
        return Worker(folder, arguments, settings, proxy=self._proxy, prefix=self._prefix, environment=environment)
