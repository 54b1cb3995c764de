"""``scrapy paths record`` as a user has it, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.watch.served import ROOT, Served

# What is polite to strangers would be a test of patience.
FAST = ("-s", "DOWNLOAD_DELAY=0")


class Recording(Served):
    """One that runs, and what it has printed when it has ended."""

    said = ""

    def end(self, *, interrupt: bool = False) -> list[str]:
        """The lines that it prints, when it was finished on its page, or is interrupted."""
        if interrupt:
            self.process.send_signal(signal.SIGINT)
        self.said = self.process.stdout.read()
        assert self.process.wait(60) == 0, self.said
        return self.said.splitlines()


@contextmanager
def recording(topic: Path, out: Path, *options: str, proxy: str = "") -> Iterator[Recording]:
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "paths",
        "record",
        str(topic),
        "--out",
        str(out),
        "--port",
        "0",
        *options,
    ]
    own = {"http_proxy": proxy, "no_proxy": ""} if proxy else {}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **own}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("Open http://"), line + process.stdout.read()
        yield Recording(process, line.removeprefix("Open ").strip())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
