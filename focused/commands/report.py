"""``scrapy report JOBDIR`` or ``redis://…``: what a crawl found, as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from focused.running import command


class Command(command.Command):
    """Write the report of a crawl, which may be under way."""

    requires_project = False
    usage = "[options] JOBDIR | redis://HOST:PORT/DB"
    summary = "Write what a crawl found as one HTML file: harvest, hosts, what was learned, found pages"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        where = "file to write (default: JOBDIR/report.html; for a crawl in Redis NAME.html)"
        parser.add_argument("--out", type=Path, metavar="FILE", help=where)
        command.add_crawl_option(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give one crawl: a job folder (JOBDIR), or redis://HOST:PORT/DB")
        from focused.report.html import write_report
        from focused.report.places import open_crawl

        assert self.settings is not None
        with open_crawl(args[0], opts.crawl, self.settings) as reader:
            path: Path = opts.out or reader.report_path
            write_report(reader, path)
        print(path)
