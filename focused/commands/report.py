"""``scrapy report JOBDIR`` or ``redis://…``: what a crawl found, as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path

from focused.running.command import CrawlCommand


class Command(CrawlCommand):
    """Write the report of a crawl, which may be under way."""

    summary = "Write what a crawl found as one HTML file: harvest, hosts, what was learned, found pages"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        where = "file to write (default: JOBDIR/report.html; for a crawl in Redis NAME.html)"
        parser.add_argument("--out", type=Path, metavar="FILE", help=where)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.report.html import write_report

        with self.open(args, opts) as reader:
            path: Path = opts.out or reader.report_path
            write_report(reader, path)
        print(path)
