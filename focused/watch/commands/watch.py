"""``scrapy watch JOBDIR|FOLDER|redis://…``: serve a page on loopback to watch crawls, and to mark pages on it."""

from __future__ import annotations

import argparse
import webbrowser
from contextlib import suppress

from focused.running import command

_PORT = 8899
_LOOPBACK = "127.0.0.1"


class Command(command.CrawlCommand):
    """Serve the page until interrupted. The crawls take no notice."""

    usage = "[options] JOBDIR | FOLDER-OF-JOBS | redis://HOST:PORT/DB"
    summary = "Serve a page on this machine to begin, watch and steer crawls, and to mark their pages"
    details = (
        "Prints the address to open in a browser; it has a token in it, without which nothing is shown. The page shows "
        "crawls that run, rest or have ended, and is updated about once a second. Marks go to the crawl as those of "
        "`scrapy mark` do. For a folder of jobs, which may be empty or new, the page also begins crawls. Ctrl-C ends "
        "it; crawls take no notice."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        words = f"port to listen on; 0: a free one (default: {_PORT})"
        add("--port", type=command.port, default=_PORT, help=words)
        words = f"address to listen on (default: {_LOOPBACK}, which nobody else can reach)"
        add("--host", default=_LOOPBACK, metavar="ADDRESS", help=words)
        add("--token-file", metavar="FILE", help="take the token from this file, which is made if it is not there")
        add("--open", action="store_true", help="open the page in a browser")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.watch.crawls import WatchedCrawls
        from focused.watch.drafts import Drafts
        from focused.watch.serving import address_of, bind, serve, token_in

        crawls = WatchedCrawls(self.place(args), opts.crawl, self.settings)
        crawls.find()
        drafts = Drafts(crawls.folder, self.settings, opts.set) if crawls.folder else None
        token, listening = token_in(opts.token_file), bind(opts.host, opts.port)
        with listening, suppress(KeyboardInterrupt):
            address = address_of(listening, opts.host, token)
            print(f"Open {address}\nCtrl-C ends the page; crawls go on.", flush=True)
            if opts.open:
                webbrowser.open(address)
            serve(crawls, listening, opts.host, token, drafts)
