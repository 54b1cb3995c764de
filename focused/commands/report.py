"""``scrapy report JOBDIR``: what a crawl found, as one HTML file."""

from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError


class Command(ScrapyCommand):
    """Write the report of a job, which may be under way."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] JOBDIR"

    def short_desc(self) -> str:
        return "Write what a crawl found as one HTML file: harvest, hosts, what was learned, pages"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default: JOBDIR/report.html)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.frontier.store import JobRefused
        from focused.report.html import write_report

        if len(args) != 1:
            raise UsageError("name one job: the JOBDIR of a crawl")
        job = Path(args[0])
        path = opts.out or (job if job.is_dir() else job.parent) / "report.html"
        try:
            write_report(job, path)
        except JobRefused as error:
            raise UsageError(str(error), print_help=False) from error
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"the report of {args[0]!r} cannot be written: {error}", print_help=False) from error
        print(path)
