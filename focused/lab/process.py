"""``scrapy crawl focused`` in a process of its own: started, waited for, killed, and what it left behind."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

_ROOT = Path(__file__).parents[2]
_TICK = 0.02
_PEAK = re.compile(r"^VmHWM:\s*(\d+)", re.MULTILINE)
LONGEST = 280.0
"""Seconds. Only waiting for something that never happens takes that long."""
LOG, ITEMS, STATS = "crawl.log", "items.jsonl", "stats.json"
_CEILINGS = [f"FOCUSED_{group}_{what}" for group in ("DOMAIN", "ADDRESS") for what in ("RATE", "AT_ONCE", "NEW_HOSTS")]
OWN_SERVER: dict[str, Any] = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, **dict.fromkeys(_CEILINGS, 0)}
"""Settings for a crawl of pages on our own server."""


class CrawlTimeout(AssertionError):
    """A crawl did not end in its time, and was killed; the message shows the end of its log."""


class CrawlProcess:
    """One crawl. Its folder takes log, items and final statistics; with ``shown`` it writes where we write instead.

    Pages come through ``proxy``, if there is one. ``prefix`` (``nice``…) goes before the command line.
    """

    def __init__(
        self,
        folder: Path,
        arguments: Mapping[str, object],
        settings: Mapping[str, object],
        *,
        proxy: str = "",
        options: Sequence[str] = (),
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        shown: bool = False,
    ) -> None:
        self.folder = folder
        self.code: int | None = None
        self.usage: resource.struct_rusage | None = None
        self.peak_mb = 0.0
        own = {"FOCUSED_STATS_FILE": folder / STATS, **settings}
        command = crawl_command(arguments, own, "-o", f"{folder / ITEMS}:jsonlines", *options)
        with (folder / LOG).open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603  # our own command line
                [*prefix, *command],
                cwd=folder,
                env={**crawl_environment(proxy), **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=None if shown else log,
                stderr=None if shown else log,
            )
        self.pid = self._process.pid

    @property
    def log(self) -> str:
        """Its log."""
        return (self.folder / LOG).read_text("utf-8", "replace")

    @property
    def items(self) -> list[dict[str, Any]]:
        """All in its file of items; the last line of a crawl that was killed may be half written."""
        path = self.folder / ITEMS
        *whole, _ = path.read_text("utf-8").split("\n") if path.exists() else [""]
        return [json.loads(line) for line in whole]

    @property
    def stats(self) -> dict[str, Any]:
        """Its final statistics; {} if it was killed."""
        path = self.folder / STATS
        stats: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return stats

    @property
    def is_running(self) -> bool:
        """Has it not ended?"""
        return self._poll() is None

    def wait(self, timeout: float = LONGEST, *, is_enough: Callable[[], bool] = lambda: False) -> int:
        """The code with which it ends, below 0 if it was killed; it is killed as soon as ``is_enough``.

        CrawlTimeout if it does not end in time.
        """
        until = monotonic() + timeout
        while self._poll() is None:
            if is_enough():
                self.kill()
            elif monotonic() > until:
                self.kill()
                raise CrawlTimeout(f"still running after {timeout} s:\n{self.log[-3_000:]}")
            else:
                sleep(_TICK)
        assert self.code is not None
        return self.code

    def signal(self, number: signal.Signals) -> None:
        """Interrupt, freeze or thaw it."""
        if self.is_running:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.signal(signal.SIGKILL)
        self._poll(0)

    def _poll(self, how: int = os.WNOHANG) -> int | None:
        """Its exit code; also notes its resource usage, which Popen does not give."""
        if self.code is None:
            self._note_peak()
            ended, status, usage = os.wait4(self.pid, how)
            if ended:
                self.usage = usage
                self.code = self._process.returncode = os.waitstatus_to_exitcode(status)
        return self.code

    def _note_peak(self) -> None:
        """The most memory until now. That of its usage would also be that of whoever started it."""
        with suppress(OSError):
            found = _PEAK.search(Path(f"/proc/{self.pid}/status").read_text("ascii", "replace"))
            self.peak_mb = int(found[1]) / 1024 if found else self.peak_mb


def crawl_command(arguments: Mapping[str, object], settings: Mapping[str, object], *options: str) -> list[str]:
    """The command line, with this Python; what is not text is written as Python writes it."""
    return [
        *(sys.executable, "-m", "scrapy", "crawl", "focused", *options),
        *(part for name, value in arguments.items() for part in ("-a", f"{name}={value}")),
        *(part for name, value in settings.items() for part in ("-s", f"{name}={value}")),
    ]


def crawl_environment(proxy: str = "") -> dict[str, str]:
    """Our own environment with this proxy for everything, or with none.

    The project is found from whatever folder the process runs in.
    """
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    path = os.pathsep.join(filter(None, (str(_ROOT), kept.get("PYTHONPATH"))))
    own = {"PYTHONPATH": path, "SCRAPY_SETTINGS_MODULE": kept.get("SCRAPY_SETTINGS_MODULE", "focused.settings")}
    return kept | own | ({"http_proxy": proxy, "https_proxy": proxy} if proxy else {})
