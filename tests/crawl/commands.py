"""A command in this process, which is a matter of milliseconds."""

from __future__ import annotations

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from focused.running.command import CrawlCommand


def run_here(command: CrawlCommand, place: object, *words: str, given: str = "") -> tuple[int, str]:
    """The exit code of a command about a crawl, and what it says; ``given`` is its standard input."""
    said = StringIO()
    command.settings = Settings()
    parser = ScrapyArgumentParser(prog="scrapy", conflict_handler="resolve")
    with redirect_stdout(said), redirect_stderr(said), pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stdin", TextIOWrapper(BytesIO(given.encode())))
        try:
            command.add_options(parser)
            opts, args = parser.parse_known_args([str(place), *words])
            command.run(args, opts)
        except UsageError as error:
            return 2, str(error)
        except SystemExit as ended:
            return int(str(ended.code)), said.getvalue()
    return command.exitcode, said.getvalue().strip()
