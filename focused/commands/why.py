"""``scrapy why URL --job JOBDIR``: why a page was fetched when it was, or why it was not; or what comes next."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from contextlib import closing
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.files import until_reader_stops
from focused.running.command import HelpFormatter


class Command(ScrapyCommand):
    """Tell the story of addresses in a job, which may be under way."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] --job JOBDIR [URL ...]"

    def short_desc(self) -> str:
        return "Tell why a page was fetched when it was: its links, the words around them, what spoke for and against"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.formatter_class = HelpFormatter
        super().add_options(parser)
        parser.add_argument("--job", metavar="JOBDIR", help="the job (default: the setting JOBDIR)")
        parser.add_argument(
            "--links",
            type=int,
            default=10,
            help="how many links to it, or without an address how many links that come next, are shown (default: 10)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.frontier.records import read_records
        from focused.frontier.store import JobRefused
        from focused.report.why import tell_next

        assert self.settings is not None
        job = opts.job or self.settings.get("JOBDIR")
        if opts.links < 1:
            raise UsageError(f"--links {opts.links}: give a number from 1 on", print_help=False)
        if not job:
            raise UsageError("name an address and a job: scrapy why URL --job JOBDIR")
        if "://" in job:
            raise UsageError(
                f"--job {job}: `scrapy why` reads a job folder (JOBDIR) only; of a crawl in Redis tell "
                "`scrapy status`, `report` and `export`",
                print_help=False,
            )
        try:
            with closing(read_records(job)) as connection, until_reader_stops():
                if not args:
                    for line in tell_next(connection, most=opts.links):
                        print(line)
                for url in args:
                    self._tell(connection, url, opts.links)
        except (JobRefused, sqlite3.Error) as error:
            raise UsageError(str(error), print_help=False) from error

    def _tell(self, connection: sqlite3.Connection, url: str, most: int) -> None:
        from focused.report.why import UnknownLink, tell_why

        try:
            for line in tell_why(connection, url, most=most):
                print(line)
        except UnknownLink as error:
            print(error.args[0], file=sys.stderr)
            self.exitcode = 1
