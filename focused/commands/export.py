"""``scrapy export JOBDIR``: the whole output again from a job's records, or what its prioritizer learned."""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.files import write_whole


class Command(ScrapyCommand):
    """Write from a job, which may be under way; the job is only read."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] JOBDIR"

    def short_desc(self) -> str:
        return "Write the items of a crawl again from its job, or what its prioritizer has learned"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-o", "--out", metavar="FILE", help="items; the ending tells the format; - is stdout")
        parser.add_argument("--relevant", type=float, default=0.0, help="only items of this relevance or more")
        parser.add_argument("--apprentice", type=Path, metavar="FILE", help="what was learned, for -a apprentice=FILE")
        parser.add_argument(
            "--train", action="store_true", help="have an apprentice study all lessons of the job first"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or not (opts.out or opts.apprentice):
            raise UsageError(
                "name one job, and what to write: -o FILE for its items, --apprentice FILE for what it learned"
            )
        if opts.train and not opts.apprentice:
            raise UsageError("--train needs --apprentice FILE: where to write what was learned")
        from focused.frontier.records import read_records
        from focused.frontier.store import JobRefused
        from focused.registry import UnknownName
        from focused.report.items import UnknownFormat
        from focused.teaching.apprentice import NothingLearned

        try:
            with closing(read_records(args[0])) as connection:
                if opts.out:
                    self._items(connection, opts.out, opts.relevant)
                if opts.apprentice:
                    _apprentice(connection, opts.apprentice, train=opts.train)
        except (JobRefused, NothingLearned, UnknownFormat, UnknownName, OSError, sqlite3.Error) as error:
            raise UsageError(str(error), print_help=False) from error

    def _items(self, connection: sqlite3.Connection, name: str, least: float) -> None:
        from focused.report.items import format_of, write_items

        assert self.settings is not None
        path, kind = format_of(name, self.settings)
        if path == "-":
            _to_stdout(connection, kind, self.settings, least)
            return
        with write_whole(Path(path)) as file:
            count = write_items(connection, file, kind, settings=self.settings, least=least)
        print(f"{count} items: {path}")


def _to_stdout(connection: sqlite3.Connection, kind: str, settings: Any, least: float) -> None:
    from focused.report.items import write_items

    # The exporters close what they are given.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        try:
            write_items(connection, out, kind, settings=settings, least=least)
            out.flush()
        except BrokenPipeError:
            # The reader (head, say) has seen enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def _apprentice(connection: sqlite3.Connection, path: Path, *, train: bool) -> None:
    from focused.teaching.apprentice import saved_apprentice, trained_apprentice

    if train:
        state, lessons = trained_apprentice(connection)
        words = f"an apprentice that studied {lessons} lessons"
    else:
        state, words = saved_apprentice(connection), "what was learned"
    with write_whole(path) as file:
        file.write(state)
    print(f"{words}: {path}")
