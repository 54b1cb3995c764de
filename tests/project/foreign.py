"""A Scrapy project of somebody else's: a CrawlSpider with dataclass items, and nothing of ours but a line in ADDONS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from focused.lab.site.server import SiteServer

ROOT = Path(__file__).parents[2]
SPIDER = """
from dataclasses import dataclass

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


@dataclass
class Article:
    url: str
    heading: str
    relevance: float | None = None


class ArticlesSpider(CrawlSpider):
    name = "articles"
    start_urls = {start!r}
    rules = (Rule(LinkExtractor(), callback="parse_article", follow=True),)

    def parse_article(self, response):
        yield Article(response.url, response.css("h1::text").get(""))
"""
SETTINGS = """
BOT_NAME = "news"
SPIDER_MODULES = ["news.spiders"]
NEWSPIDER_MODULE = "news.spiders"
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 4
CONCURRENT_REQUESTS = 4
"""
ADDON = 'ADDONS = {"focused.Addon": 500}\n'


@dataclass(frozen=True)
class Ran:
    """What a command printed, and what the site was asked for while it ran."""

    code: int
    output: str
    log: str
    fetched: list[str]


@dataclass(frozen=True)
class ForeignProject:
    """The project's folder, and the Python that runs its commands."""

    folder: Path
    python: str = sys.executable
    path: str = str(ROOT)

    @classmethod
    def make(
        cls, folder: Path, start: list[str], *, settings: str = ADDON, spider: str = "", **how: str
    ) -> ForeignProject:
        """Write what ``scrapy startproject`` and ``genspider`` would, with more lines for settings and spider."""
        spiders = folder / "news" / "spiders"
        spiders.mkdir(parents=True)
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = news.settings\n")
        (folder / "news" / "__init__.py").touch()
        (folder / "news" / "settings.py").write_text(SETTINGS + settings)
        (spiders / "__init__.py").touch()
        (spiders / "articles.py").write_text(SPIDER.replace("{start!r}", repr(start)) + spider)
        return cls(folder, **how)

    def scrapy(self, *arguments: object, site: SiteServer | None = None, **environment: str) -> Ran:
        """Run a command of Scrapy's in the project."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
        proxy = {"http_proxy": site.url} if site else {}
        first = len(site.visits) if site else 0
        done = subprocess.run(
            [self.python, "-m", "scrapy", *map(str, arguments)],
            cwd=self.folder,
            env={**kept, **proxy, "PYTHONPATH": self.path, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        fetched = site.fetched(since=first) if site else []
        return Ran(done.returncode, done.stdout, done.stderr, fetched)

    def stats(self, ran: Ran, name: str = "stats.json") -> Mapping[str, Any]:
        """The final statistics, of a crawl that was given FOCUSED_STATS_FILE."""
        stats: Mapping[str, Any] = json.loads((self.folder / name).read_text("utf-8"))
        return stats
