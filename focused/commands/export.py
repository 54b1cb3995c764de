"""``scrapy export JOBDIR`` or ``redis://…``: the whole output again, or what the crawl's prioritizer learned."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError

from focused.files import until_reader_stops, write_whole
from focused.running.command import CrawlCommand


class Command(CrawlCommand):
    """Write from the records of a crawl, which may be under way."""

    summary = "Write the items of a crawl again from its records, or what its prioritizer has learned"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("-o", "--out", metavar="FILE", help="file for the items; its ending gives the format; - is stdout")
        add("--relevant", type=float, default=0.0, metavar="R", help="only items with this relevance or more")
        add("--learned", type=Path, metavar="FILE", help="file for what was learned, for -a learned=FILE")
        train = "first learn from all lessons together (crawls by apprentice or best-first-observed)"
        add("--train", action="store_true", help=train)
        add("--apprentice", help=argparse.SUPPRESS)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.apprentice:
            raise ValueError(f"--apprentice {opts.apprentice} is now called --learned {opts.apprentice}")
        if len(args) != 1 or not (opts.out or opts.learned):
            raise UsageError(
                "give one crawl, and what to write: -o FILE for its items, --learned FILE for what it learned"
            )
        if not 0 <= opts.relevant <= 1:
            raise ValueError(f"--relevant {opts.relevant:g}: give a number from 0 to 1")
        if opts.train and not opts.learned:
            raise UsageError("--train needs --learned FILE: where to write what was learned")
        from focused.report.lessons import NothingLearned, study_lessons

        with self.open(args, opts) as reader:
            if opts.out:
                self._write_items(reader.items, opts)
            if opts.train:
                state, lessons = study_lessons(reader)
                _write_state(state, opts.learned, f"learned from {lessons} lessons")
            elif opts.learned:
                learned = reader.learned_state()
                if learned is None:
                    raise NothingLearned(f"{reader.where} has saved nothing learned so far")
                _write_state(learned[0], opts.learned, "what was learned")

    def _write_items(self, read: Callable[[], Iterable[dict[str, Any]]], opts: argparse.Namespace) -> None:
        from focused.report.items import format_of, write_items

        path, kind = format_of(opts.out, self.settings)
        write = partial(write_items, read, kind=kind, settings=self.settings, least=opts.relevant)
        if path == "-":
            with until_reader_stops(), open(sys.stdout.fileno(), "wb", closefd=False) as out:
                write(file=out)
            return
        with write_whole(Path(path)) as file:
            count = write(file=file)
        print(f"{count} items: {path}")


def _write_state(state: bytes, path: Path, words: str) -> None:
    with write_whole(path) as file:
        file.write(state)
    print(f"{words}: {path}")
