"""What our commands have in common: how they describe themselves, what they refuse, and how they end."""

from __future__ import annotations

import argparse
import sqlite3
import sys
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.crawler import CrawlerProcessBase
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from focused.extras import way_out
from focused.files import until_reader_stops
from focused.report.text import clean
from focused.running.loop import Stopped

if TYPE_CHECKING:
    from focused.report.reader import CrawlReader


class Command(ScrapyCommand):
    """A command is a few words about itself, its options, and `execute`.

    Errors that a user can fix (ValueError, unreadable files and databases) end it with one line and exit code 2.
    """

    settings: Settings
    crawler_process: CrawlerProcessBase
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}
    usage: ClassVar[str] = "[options]"
    summary: ClassVar[str]
    """One line, for the list of commands."""
    details: ClassVar[str] = ""
    """For ``-h``; the summary if there is nothing else to say."""

    def syntax(self) -> str:
        return self.usage

    def short_desc(self) -> str:
        return self.summary

    def long_desc(self) -> str:
        return self.details or self.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.formatter_class = HelpFormatter
        parser.usage = f"{program()} {self._name} {self.syntax()}"
        super().add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            with until_reader_stops():
                self.execute(args, opts)
        except (KeyboardInterrupt, Stopped) as stopped:
            self.fail(str(stopped) or "interrupted: nothing was written")
        except (ValueError, OSError, sqlite3.Error) as error:
            # Whatever it quotes: a terminal obeys control characters.
            raise UsageError(clean(str(error)), print_help=False) from error
        except ModuleNotFoundError as error:
            if not way_out(error):
                raise
            raise UsageError(way_out(error), print_help=False) from error

    @abstractmethod
    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what the command is for."""

    def fail(self, message: str) -> None:
        """End with one line and exit code 1: the request was valid, but failed."""
        print(f"{program()} {self._name}: {clean(message)}", file=sys.stderr)
        self.exitcode = 1

    @property
    def _name(self) -> str:
        return type(self).__module__.rpartition(".")[2]


def program() -> str:
    """The program that the user has called: ``focused``, or else ``scrapy``."""
    return "focused" if Path(sys.argv[0]).stem == "focused" else "scrapy"


class HelpFormatter(ScrapyHelpFormatter):
    """Scrapy's makes a heading of every line that ends with a colon, and breaks names at their hyphens."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = wrap(" ".join(text.split()), width, break_on_hyphens=False)
        return [f"{line} " if line.endswith(":") else line for line in lines]


class CrawlCommand(Command):
    """A command that reads a crawl."""

    usage = "[options] JOBDIR | redis://HOST:PORT/DB"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", metavar="NAME", help="name of the crawl, if there are several on a Redis server")

    def open(self, args: list[str], opts: argparse.Namespace) -> CrawlReader:
        """The reader of the one crawl that is named."""
        from focused.report.places import open_crawl  # noqa: PLC0415  # commands are listed without what is heavy

        return open_crawl(self.place(args), opts.crawl, self.settings)

    def place(self, args: list[str]) -> str:
        """Where the crawl is."""
        if len(args) != 1:
            raise UsageError("give one crawl: a job folder (JOBDIR), or redis://HOST:PORT/DB")
        return args[0]


def whole_number(least: int = 1, most: int | None = None) -> Callable[[str], int]:
    """The type of an option that is a whole number."""
    bounds = f" from {least} to {most}" if most is not None else f", {least} or more"

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"{text!r}: give a whole number{bounds}")
        return number

    return parse


port = whole_number(0, 65535)


def split_words(text: str) -> list[str]:
    """The words of an option that takes several, separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]
