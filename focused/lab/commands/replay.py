"""``scrapy replay``: serve a recorded web on loopback, as a proxy for all its hosts."""

from __future__ import annotations

import argparse
from contextlib import suppress
from threading import Event

from scrapy.exceptions import UsageError

from focused.running import command


class Command(command.Command):
    """Serve WARC files until interrupted."""

    usage = "[options] WEB.warc.gz ..."
    summary = "Serve a recorded web (WARC) on loopback, as an HTTP proxy for all its hosts"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--port", type=command.port, default=0, help="port to listen on (default: a free one)")
        parser.add_argument("--log", metavar="FILE", help="log every answer to this file: time, status, address")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.lab.replay.server import serve
        from focused.pages.urls import url_to_host
        from focused.warc.web import Web

        if not args:
            raise UsageError("give a recorded web (WARC)", print_help=False)
        web = Web.open(*args)
        hosts = len({url_to_host(url) for url in web.urls})
        try:
            with suppress(KeyboardInterrupt), serve(web, port=opts.port, log=opts.log) as server:
                print(f"{len(web.pages())} pages of {hosts} hosts at {server.url}")
                print(f"  http_proxy={server.url} scrapy crawl focused -a topic=… -a pages=…", flush=True)
                Event().wait()
        except OSError as error:
            option = f"--log {opts.log!r}" if error.filename else f"--port {opts.port}"
            raise ValueError(f"{option}: {error.strerror}") from error
