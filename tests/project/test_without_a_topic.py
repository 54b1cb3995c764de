"""Scrapy's own commands in this project: they have no topic, and work as Scrapy's users expect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import focused
from focused.lab.site.reply import linking
from focused.lab.site.server import SiteServer

ROOT = Path(focused.__file__).parents[1]


def scrapy(*arguments: str, site: SiteServer) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=ROOT,
        env={**os.environ, "http_proxy": site.url},
        capture_output=True,
        text=True,
        timeout=280,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_shell_and_fetch_work():
    with SiteServer({"http://h.example/": linking(text="a page of its own")}) as site:
        shell = scrapy("shell", "http://h.example/", "-c", "response.css('body ::text').getall()", site=site)
        fetch = scrapy("fetch", "--nolog", "http://h.example/", site=site)
    assert "a page of its own" in shell.stdout
    assert "a page of its own" in fetch.stdout
    assert "Traceback" not in shell.stderr + fetch.stderr
