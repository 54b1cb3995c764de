"""``scrapy paths record``: serves the page on loopback, as long as somebody records."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path as File

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings
from uvicorn import Server

from focused.papers.paths.path import Path
from focused.papers.paths.visited import LONGEST_WAY
from focused.report.text import counted, short
from focused.responses import limits_of
from focused.running.loop import run_to_end
from focused.warc.web import Web
from focused.watch.guard import Guard
from focused.watch.recording.app import make_app
from focused.watch.recording.browsing import RecordedBrowser, browsing
from focused.watch.recording.clicks import ShownClicks
from focused.watch.recording.session import Session
from focused.watch.serving import address_of, bind, config_of, names_of

HOST = "127.0.0.1"


class _RecordingServer(Server):
    """Ctrl-C ends it as the button does; the crawl behind it ends after it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def record_paths(
    out: str, start: str, settings: Settings, *, web: str, port: int, opened: bool
) -> tuple[list[Path], list[str]]:
    """Serve until somebody has finished; the paths, which are written to ``out``, and the names of milestones."""
    recorded = RecordedBrowser(Web.open(web), limits_of(settings)) if web else None
    with bind(HOST, port) as listening, closing(ShownClicks(File(out))) as clicks:
        if clicks.was_cut:
            print(f"{clicks.journal}: the last click was half written, and is left out", file=sys.stderr)
        process = AsyncCrawlerProcess(settings)

        async def serve() -> None:
            async with nullcontext(recorded) if recorded else browsing(process, settings) as pages:
                await _serve(Session(clicks, pages), listening, start, opened=opened)

        run_to_end(process, serve())
        ways = clicks.ways()
        for url in ways.unreached:
            print(f"no way leads to {short(url, 500)}: it was opened without a link", file=sys.stderr)
        if ways.cut:
            long = f"{counted(ways.cut, 'way')} of more than {LONGEST_WAY} steps"
            print(f"{long}: the last {LONGEST_WAY} are kept", file=sys.stderr)
        clicks.write()
        return ways.paths, clicks.milestones()


async def _serve(session: Session, listening: socket.socket, start: str, *, opened: bool) -> None:
    token, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    server: list[Server] = []

    def finish() -> None:
        server[0].should_exit = True

    app = make_app(session, key, finish, lambda: server[0].should_exit)
    guarded = Guard(app, token, listening.getsockname()[1], names_of(HOST), frame_key=key)
    server.append(_RecordingServer(config_of(guarded)))
    address = address_of(listening, HOST, token)
    print(f"Open {address}\nFinish on the page, or by Ctrl-C; each click is kept.", flush=True)
    if opened:
        webbrowser.open(address)
    beginning = asyncio.create_task(session.open(start))
    await server[0].serve(sockets=[listening])
    beginning.cancel()
