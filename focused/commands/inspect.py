"""``scrapy inspect JOBDIR``: is a job whole? ``--repair FOLDER`` saves what can be read of one that is not."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from focused.running.command import Command as OurCommand


class Command(OurCommand):
    """Look at a job folder, and save what is left of it."""

    usage = "[options] JOBDIR"
    summary = "Check whether a job folder is whole; save what can be read of one that is damaged"
    details = (
        "Checks the file of a job, its tables, and whether they agree. Exit code 0: it is whole; 1: it is damaged. "
        "With --repair, saves what can be read into a new job folder, with which the crawl can go on."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        words = "save what can be read into this new job folder, and list what was lost"
        parser.add_argument("--repair", type=Path, metavar="FOLDER", help=words)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.report.inspection import inspect_job

        if len(args) != 1:
            raise UsageError("give one job folder (JOBDIR)")
        found = inspect_job(args[0])
        print(f"{args[0]}: {'whole' if found.is_whole else 'damaged'}")
        for table, rows in found.rows.items():
            print(f"  {table:<10} {'cannot be read' if rows is None else f'{rows:,} rows'}")
        for problem in found.problems:
            print(f"  {problem}")
        self.exitcode = 0 if found.is_whole else 1
        if opts.repair:
            self._repair(args[0], opts.repair)
        elif not found.is_whole:
            print(f"To save what can be read: scrapy inspect {args[0]} --repair NEW_FOLDER")

    def _repair(self, job: str, folder: Path) -> None:
        from focused.report.repair import repair_job

        saved = repair_job(job, folder)
        rows = ", ".join(f"{count:,} {table}" for table, count in saved.rows.items())
        print(f"Saved in {folder}: {rows}")
        for what in saved.lost or ["nothing"]:
            print(f"  lost: {what}")
        print(f"To continue, run the same command again with -s JOBDIR={folder}")
