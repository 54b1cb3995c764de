"""Several workers on one crawl in Redis, as processes: started, killed, frozen and looked at."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from focused.redis.testing.server import RedisServer
from focused.running.process import crawl_command, crawl_environment
from focused.testing.crawl import read_items

CRAWL = "test"
_FAST = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False}
_TICK = 0.05


class Worker:
    """One process, with a folder of its own for all it writes."""

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        with (folder / "crawl.log").open("wb") as log:
            self.process = subprocess.Popen(  # noqa: S603  # our own command line
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @property
    def log(self) -> str:
        """All it said."""
        return (self.folder / "crawl.log").read_text("utf-8", "replace")

    @property
    def name(self) -> str:
        """How it is called in Redis; '' before it has joined."""
        found = re.search(r"Worker (\S+) joins", self.log)
        return found[1] if found else ""

    @property
    def stats(self) -> dict[str, Any]:
        """Its final statistics."""
        stats: dict[str, Any] = json.loads((self.folder / "stats.json").read_text("utf-8"))
        return stats

    @property
    def items(self) -> list[dict[str, Any]]:
        """What it wrote."""
        return read_items(self.folder / "items.jsonl")

    @property
    def is_running(self) -> bool:
        """Has it not ended?"""
        return self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Kill, interrupt, freeze or thaw it."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it at once."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def wait(self, timeout: float = 60.0) -> int:
        """The code with which it ends; AssertionError with the end of its log if it does not in time."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout} s:\n{self.log[-3_000:]}") from None


class Workers:
    """The workers of a crawl; those that are left on leaving are killed.

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
        self.settings = {**_FAST, **shared, "FOCUSED_MODELS": folder / "models", **settings}
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
        """What the crawl's counts are in Redis."""
        with self.redis.client() as client:
            found = client.hgetall(f"{{focused:{CRAWL}}}:meta")
        return {name.decode(): value.decode() for name, value in found.items()}

    def count(self, what: str) -> float:
        """One of these counts."""
        return float(self.meta().get(what, 0))

    def trainer(self) -> Worker | None:
        """Who has the role of the trainer."""
        name = self.meta().get("trainer")
        return next((worker for worker in self.running if name and worker.name == name), None)

    def until(self, condition: Callable[[], Any], timeout: float = 30.0) -> None:
        """Wait until something is true; AssertionError with the ends of all logs if it does not become so."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("\n".join(worker.log[-1_500:] for worker in self.started))
            time.sleep(_TICK)

    def wait(self, timeout: float = 60.0) -> list[int]:
        """The codes with which those end that still run."""
        return [worker.wait(timeout) for worker in self.running]

    def _start(
        self, settings: Mapping[str, Any], arguments: Mapping[str, Any], environment: Mapping[str, str] | None
    ) -> Worker:
        folder = self.folder / f"worker-{len(list(self.folder.glob('worker-*')))}"
        folder.mkdir()
        own = {**settings, "FOCUSED_STATS_FILE": folder / "stats.json"}
        command = crawl_command(arguments, own, "-o", f"{folder / 'items.jsonl'}:jsonlines")
        return Worker([*self._prefix, *command], folder, {**crawl_environment(self._proxy), **(environment or {})})
