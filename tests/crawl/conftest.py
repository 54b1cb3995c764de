"""What the end-to-end tests share: crawls of small sites by plain words, which need no teaching."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from focused.lab.demo.files import write_web
from focused.lab.demo.web import GeneratedWeb
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.server import SitePage, SiteServer

IMPATIENT = {"FOCUSED_BACKOFF_FIRST": 0.3, "FOCUSED_ROBOTS_RETRY": 0.3}


@pytest.fixture
def crawl(tmp_path: Path):
    """Crawl a small site from http://hub.example/ by plain words, in a folder of the test's own."""

    def run(pages: Mapping[str, SitePage], *, settings: Mapping[str, Any] | None = None, **how: Any) -> CrawlResult:
        arguments = {"topic": "star galaxy telescope", "seeds": "http://hub.example/", **how.pop("arguments", {})}
        with SiteServer(pages) as site:
            return run_crawl(arguments, folder=tmp_path, site=site, settings={**IMPATIENT, **(settings or {})}, **how)

    return run


@pytest.fixture(scope="session")
def topic_file(tmp_path_factory: pytest.TempPathFactory):
    """Write a generated web's topic file; options go into its tables."""

    def write(web: GeneratedWeb, tables: str = "") -> Path:
        folder = tmp_path_factory.mktemp("topic")
        [path] = [path for path in write_web(web, folder / "web.warc.gz") if path.suffix == ".toml"]
        with path.open("a", encoding="utf-8") as file:
            file.write(tables)
        return path

    return write
