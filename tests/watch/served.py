"""The page as a user has it: a process of its own, and Chromium."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect, sync_playwright

ROOT = Path(__file__).parents[2]
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 800}
LONG = 12_000


class Served:
    """`scrapy watch`, with the address that it has printed."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process, self.address = process, address
        parts = urlsplit(address)
        self.url, self.token, self.port = f"http://{parts.netloc}", parts.query.removeprefix("token="), parts.port


@contextmanager
def served(place: object, *options: str, proxy: str = "") -> Iterator[Served]:
    command = [sys.executable, "-m", "scrapy", "watch", str(place), "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    environment |= {"http_proxy": proxy} if proxy else {}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("Open http://"), line + process.stdout.read()
        yield Served(process, line.removeprefix("Open ").strip())
        process.send_signal(signal.SIGINT)
        said = process.stdout.read()
        assert (process.wait(60), said) == (0, "Ctrl-C ends the page; crawls go on.\n"), said
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    # Root has no sandbox.
    expect.set_options(timeout=LONG)
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        try:
            yield browser
        finally:
            browser.close()
