"""``scrapy replay``: serve a recorded web on loopback, as a proxy for all its hosts."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from focused.lab.replay.log import FetchLog
    from focused.warc.web import Web


class Command(ScrapyCommand):
    """Serve WARC files until interrupted."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "[options] WEB.warc.gz ..."

    def short_desc(self) -> str:
        return "Serve a recorded web (WARC) on loopback, as an HTTP proxy for all its hosts"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
        parser.add_argument("--log", metavar="FILE", help="note every answer here: time, status, address")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.lab.replay.log import FetchLog
        from focused.warc.web import Web

        if not args:
            raise UsageError
        if not 0 <= opts.port <= 65535:
            raise UsageError(f"--port {opts.port}: give a number up to 65535, or 0 for any free port", print_help=False)
        try:
            web = Web.open(*args)
        except (OSError, ValueError) as error:
            raise UsageError(str(error), print_help=False) from error
        try:
            fetches = FetchLog(opts.log, remember=False)
        except OSError as error:
            raise UsageError(f"--log {opts.log!r}: {error.strerror}", print_help=False) from error
        with suppress(KeyboardInterrupt), fetches as log:
            try:
                asyncio.run(_serve(web, log, opts.port))
            except OSError as error:
                raise UsageError(f"--port {opts.port}: {error.strerror}", print_help=False) from error


async def _serve(web: Web, log: FetchLog, port: int) -> None:
    from focused.lab.replay.server import ReplayServer
    from focused.pages.urls import url_to_host

    server = ReplayServer(web, log)
    await server.start(port)
    hosts = len({url_to_host(url) for url in web.urls})
    print(f"{len(web.pages())} pages of {hosts} hosts at {server.proxy}")
    print(f"  http_proxy={server.proxy} scrapy crawl focused -a topic=… -a pages=…", flush=True)
    await asyncio.Event().wait()
