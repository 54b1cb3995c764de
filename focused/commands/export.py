"""``scrapy export JOBDIR`` or ``redis://…``: the whole output again, or what the crawl's prioritizer learned."""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.files import write_whole
from focused.report.places import add_crawl_option, is_in_redis


class Command(ScrapyCommand):
    """Write from a job or from Redis, while the crawl is under way or after; it is only read."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] JOBDIR | redis://HOST:PORT/DB"

    def short_desc(self) -> str:
        return "Write the items of a crawl again from its job or Redis, or what its prioritizer has learned"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-o", "--out", metavar="FILE", help="items; the ending tells the format; - is stdout")
        parser.add_argument("--relevant", type=float, default=0.0, help="only items of this relevance or more")
        parser.add_argument("--learned", type=Path, metavar="FILE", help="what was learned, for -a learned=FILE")
        parser.add_argument("--apprentice", help=argparse.SUPPRESS)
        parser.add_argument(
            "--train", action="store_true", help="have an apprentice study all lessons of the job first"
        )
        add_crawl_option(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.apprentice:
            raise UsageError(
                f"--apprentice {opts.apprentice} is now called --learned {opts.apprentice}", print_help=False
            )
        if len(args) != 1 or not (opts.out or opts.learned):
            raise UsageError(
                "name one job, and what to write: -o FILE for its items, --learned FILE for what it learned"
            )
        if not 0 <= opts.relevant <= 1:
            raise UsageError(f"--relevant {opts.relevant:g}: give a number from 0 to 1", print_help=False)
        if opts.train and not opts.learned:
            raise UsageError("--train needs --learned FILE: where to write what was learned")
        in_redis = is_in_redis(args[0], opts.crawl)
        if opts.train and in_redis:
            raise UsageError("--train reads a JOBDIR: in Redis lessons are let go of when they are learned")
        from focused.frontier.store import JobRefused
        from focused.papers.teaching.apprentice import NothingLearned
        from focused.registry import UnknownName
        from focused.report.items import UnknownFormat

        try:
            if in_redis:
                self._from_redis(args[0], opts)
            else:
                self._from_job(args[0], opts)
        except (JobRefused, NothingLearned, UnknownFormat, UnknownName, OSError, sqlite3.Error) as error:
            raise UsageError(str(error), print_help=False) from error

    def _from_job(self, job: str, opts: argparse.Namespace) -> None:
        from focused.frontier.records import read_items, read_records
        from focused.papers.teaching.apprentice import saved_apprentice, trained_apprentice

        with closing(read_records(job)) as connection:
            if opts.out:
                self._write_items(read_items(connection), opts)
            if opts.train:
                state, lessons = trained_apprentice(connection)
                _write_state(state, opts.learned, f"an apprentice that studied {lessons} lessons")
            elif opts.learned:
                _write_state(saved_apprentice(connection), opts.learned)

    def _from_redis(self, url: str, opts: argparse.Namespace) -> None:
        from focused.papers.teaching.apprentice import NothingLearned
        from focused.redis.reading.crawls import RedisCrawls

        assert self.settings is not None
        crawls = RedisCrawls(url, self.settings)
        crawl = crawls.one(opts.crawl)
        if opts.out:
            self._write_items(crawls.items(crawl), opts)
        if opts.learned:
            state = crawls.learned(crawl)
            if not state:
                raise NothingLearned(f"the crawl {crawl!r} has learned nothing so far")
            _write_state(state, opts.learned)

    def _write_items(self, items: Iterable[dict[str, Any]], opts: argparse.Namespace) -> None:
        from focused.report.items import format_of, write_items

        settings = self.settings
        assert settings is not None
        path, kind = format_of(opts.out, settings)
        write = partial(write_items, items, kind=kind, settings=settings, least=opts.relevant)
        if path == "-":
            _to_stdout(write)
            return
        with write_whole(Path(path)) as file:
            count = write(file=file)
        print(f"{count} items: {path}")


def _to_stdout(write: Callable[..., int]) -> None:
    # The exporters close what they are given.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        try:
            write(file=out)
            out.flush()
        except BrokenPipeError:
            # The reader (head, say) has seen enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def _write_state(state: bytes, path: Path, words: str = "what was learned") -> None:
    with write_whole(path) as file:
        file.write(state)
    print(f"{words}: {path}")
