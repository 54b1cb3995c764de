"""``scrapy why URL --job JOBDIR``: why a page was fetched when it was, or why it was not; or what comes next."""

from __future__ import annotations

import argparse
import sys

from scrapy.exceptions import UsageError

from focused.running.command import CrawlCommand, whole_number


class Command(CrawlCommand):
    """Explain addresses from the records of a crawl, which may be under way."""

    usage = "[options] --job JOBDIR|redis://HOST:PORT/DB [URL ...]"
    summary = "Explain why a page was fetched when it was: the links to it, and what counted for and against them"
    details = (
        "Explains what became of each URL, and why: the links to it, the words around them, and what counted for and "
        "against them. Without a URL: the links that the crawl would follow next."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--job", metavar="PLACE", help="job folder, or redis://HOST:PORT/DB (default: the setting JOBDIR)")
        links = "links to a URL to show, or without a URL links that come next (default: 10)"
        add("--links", type=whole_number(), default=10, metavar="N", help=links)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.report.waiting import list_next
        from focused.report.why import UnknownLink, explain_link

        place = opts.job or self.settings.get("JOBDIR")
        if not place:
            raise UsageError("give a URL and a crawl: scrapy why URL --job JOBDIR (or redis://HOST:PORT/DB)")
        with self.open([place], opts) as reader:
            if not args:
                for line in list_next(reader, most=opts.links):
                    print(line)
            for url in args:
                try:
                    for line in explain_link(reader, url, most=opts.links):
                        print(line)
                except UnknownLink as error:
                    print(error.args[0], file=sys.stderr)
                    self.exitcode = 1
