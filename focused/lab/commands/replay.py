"""``scrapy replay``: serve a recorded web on loopback, as a proxy for all its hosts."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.running import command

if TYPE_CHECKING:
    from focused.lab.replay.log import FetchLog
    from focused.warc.web import Web


class Command(command.Command):
    """Serve WARC files until interrupted."""

    usage = "[options] WEB.warc.gz ..."
    summary = "Serve a recorded web (WARC) on loopback, as an HTTP proxy for all its hosts"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--port", type=command.port, default=0, help="port to listen on (default: a free one)")
        parser.add_argument("--log", metavar="FILE", help="log every answer to this file: time, status, address")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.lab.replay.log import FetchLog
        from focused.warc.web import Web

        if not args:
            raise UsageError
        web = Web.open(*args)
        try:
            fetches = FetchLog(opts.log, remember=False)
        except OSError as error:
            raise ValueError(f"--log {opts.log!r}: {error.strerror}") from error
        with suppress(KeyboardInterrupt), fetches as log:
            try:
                asyncio.run(_serve(web, log, opts.port))
            except OSError as error:
                raise ValueError(f"--port {opts.port}: {error.strerror}") from error


async def _serve(web: Web, log: FetchLog, port: int) -> None:
    from focused.lab.replay.server import ReplayServer
    from focused.pages.urls import url_to_host

    server = ReplayServer(web, log)
    await server.start(port)
    hosts = len({url_to_host(url) for url in web.urls})
    print(f"{len(web.pages())} pages of {hosts} hosts at {server.proxy}")
    print(f"  http_proxy={server.proxy} scrapy crawl focused -a topic=… -a pages=…", flush=True)
    await asyncio.Event().wait()
