"""``scrapy report JOBDIR`` or ``redis://…``: what a crawl found, as one HTML file."""

from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.report.places import add_crawl_option, is_in_redis


class Command(ScrapyCommand):
    """Write the report of a crawl, which may be under way."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] JOBDIR | redis://HOST:PORT/DB"

    def short_desc(self) -> str:
        return "Write what a crawl found as one HTML file: harvest, hosts, what was learned, pages"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--out",
            type=Path,
            metavar="FILE",
            help="where to write it (default: JOBDIR/report.html; of a crawl in Redis NAME.html)",
        )
        add_crawl_option(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl: its JOBDIR, or the Redis server on which it is")
        from focused.frontier.store import JobRefused

        try:
            in_redis = is_in_redis(args[0], opts.crawl)
            path = self._from_redis(args[0], opts) if in_redis else self._from_job(Path(args[0]), opts)
        except JobRefused as error:
            raise UsageError(str(error), print_help=False) from error
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"the report of {args[0]!r} cannot be made: {error}", print_help=False) from error
        print(path)

    def _from_job(self, job: Path, opts: argparse.Namespace) -> Path:
        from focused.report.html import write_report

        path: Path = opts.out or (job if job.is_dir() else job.parent) / "report.html"
        write_report(job, path)
        return path

    def _from_redis(self, url: str, opts: argparse.Namespace) -> Path:
        from focused.redis.reading.crawls import RedisCrawls

        assert self.settings is not None
        crawls = RedisCrawls(url, self.settings)
        crawl = crawls.one(opts.crawl)
        path: Path = opts.out or Path(f"{crawl}.html")
        crawls.report(crawl, path)
        return path
