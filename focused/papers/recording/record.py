"""``scrapy paths record``: serves the page on loopback, as long as somebody records."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path as File

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings
from uvicorn import Server

from focused.lab.replay.handler import open_web
from focused.papers.paths.path import Path
from focused.papers.paths.visited import LONGEST_WAY
from focused.papers.recording.app import make_app
from focused.papers.recording.browsing import browsing
from focused.papers.recording.clicks import Clicks
from focused.papers.recording.session import Session
from focused.report.text import counted, short
from focused.running.loop import run_to_end
from focused.watch.guard import Guard
from focused.watch.serving import address_of, bind, config_of, names_of

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Recorded:
    """What somebody has shown."""

    paths: list[Path]
    milestones: list[str]


class _Page(Server):
    """Ctrl-C ends it as the button does; the crawl behind it ends after it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def record_paths(out: str, start: str, settings: Settings, *, web: str, port: int, opened: bool) -> Recorded:
    """Serve until somebody has finished; the paths, which are written to ``out``."""
    if web:
        # What is wrong with it is said before anything begins.
        open_web(web)
    with bind(HOST, port) as listening, closing(Clicks(File(out))) as clicks:
        if clicks.was_cut:
            print(f"{clicks.journal}: the last click was half written, and is left out", file=sys.stderr)
        process = AsyncCrawlerProcess(settings)
        run_to_end(process, _serve(process, settings, clicks, listening, start, web=web, opened=opened))
        ways = clicks.ways()
        for url in ways.unreached:
            print(f"no way leads to {short(url, 500)}: it was opened without a link", file=sys.stderr)
        if ways.cut:
            long = f"{counted(ways.cut, 'way')} of more than {LONGEST_WAY} steps"
            print(f"{long}: the last {LONGEST_WAY} are kept", file=sys.stderr)
        clicks.write()
        return Recorded(ways.paths, clicks.milestones())


async def _serve(
    process: AsyncCrawlerProcess,
    settings: Settings,
    clicks: Clicks,
    listening: socket.socket,
    start: str,
    *,
    web: str,
    opened: bool,
) -> None:
    token, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    async with browsing(process, settings, web) as browser:
        session = Session(clicks, browser)
        server: list[Server] = []

        def finish() -> None:
            server[0].should_exit = True

        app = make_app(session, key, finish, lambda: server[0].should_exit)
        guarded = Guard(app, token, listening.getsockname()[1], names_of(HOST), frame_key=key)
        server.append(_Page(config_of(guarded)))
        address = address_of(listening, HOST, token)
        print(f"Open {address}\nFinish on the page, or by Ctrl-C; each click is kept.", flush=True)
        if opened:
            webbrowser.open(address)
        beginning = asyncio.create_task(session.open(start))
        await server[0].serve(sockets=[listening])
        beginning.cancel()
