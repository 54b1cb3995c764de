"""``scrapy status JOBDIR`` or ``redis://…``: the status of a crawl, while it runs and after."""

from __future__ import annotations

import argparse
from contextlib import suppress

from scrapy.exceptions import UsageError

from focused.running.command import CrawlCommand

_EVERY = "2"


class Command(CrawlCommand):
    """Show the status of a crawl, which is not disturbed."""

    summary = "Show the status of a crawl: whether it is running, harvest, pace, waiting links, what was learned"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        again = f"show it again every so many seconds (default: {_EVERY}) until the crawl ends or Ctrl-C is pressed"
        add("--watch", nargs="?", const=_EVERY, metavar="SECONDS", help=again)
        add("--json", action="store_true", help="print the figures as a JSON object, one per line")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        args, every = _without_job(args, opts.watch)
        from focused.report.places import open_crawls
        from focused.report.watching import follow, show

        # Ctrl-C is how watching ends.
        with suppress(KeyboardInterrupt):
            if every is None:
                show(open_crawls(self.place(args), opts.crawl, self.settings), as_json=opts.json)
            else:
                with self.open(args, opts) as reader:
                    follow(reader.status, every, as_json=opts.json)


def _without_job(args: list[str], watch: str | None) -> tuple[list[str], float | None]:
    """The job follows ``--watch`` when no seconds are given, and is taken for them."""
    if watch is None:
        return args, None
    try:
        seconds = float(watch)
    except ValueError:
        if args:
            raise UsageError(f"--watch {watch}: give a number of seconds above 0") from None
        return [watch], float(_EVERY)
    if not 0 < seconds < float("inf"):
        raise UsageError(f"--watch {watch}: give a number of seconds above 0")
    return args, seconds
