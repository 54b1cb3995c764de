"""What hostile pages cost while they are parsed: CPU on the event loop, and memory; each in a process of its own.

    python -m bench.pages [NAME …] [--patience 60] [--memory 4000]

A page is given to `focused.responses.response_to_page` on a running loop, as the crawl does it. Printed are the
page's megabytes; CPU seconds of the loop's thread and of all threads; the longest time that the loop was held (by its
own work, or by a thread that kept the interpreter's lock); the peak of memory above that before the page, and what is
still held when the page is forgotten; the links found, and what was left out. Pages that take longer than --patience
seconds or more than --memory megabytes are given up. `20 ×` are twenty pages one after another.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Thread
from time import monotonic, process_time, sleep, thread_time
from typing import Any

from scrapy.http import HtmlResponse
from scrapy.utils.reactor import install_reactor

MB = 1024 * 1024
AFTER = b"<p><a href=/after>after</a>"


def filled(piece: bytes, size: int = 10 * MB, before: bytes = b"") -> bytes:
    """A page of one piece again and again."""
    return before + piece * ((size - len(before)) // len(piece)) + AFTER


def with_base(size: int) -> bytes:
    """Many short links under one long address."""
    return (
        b"<base href='http://e.example/"
        + b"x" * size
        + b"/'>"
        + b"".join(b"<a href=%d>x</a>" % i for i in range(2_000))
    )


def numbered(piece: bytes, size: int = 10 * MB) -> bytes:
    """A page of pieces that each have a number."""
    return b"".join(piece % i for i in range(size // len(piece % 1_000_000))) + AFTER


def long_classes(number: int) -> bytes:
    """Links below elements with long classes and ids."""
    return b"".join(
        b"<div class='%d%s' id='%d%s'><a href=/%d>x</a></div>" % (number, b"x" * MB, number, b"y" * MB, i)
        for i in range(4)
    )


DEEP = b"<div>" * 3_000
PAGES: dict[str, Callable[[], Iterator[bytes]]] = {
    "an ordinary page, 60 KB": lambda: iter(
        [filled(b"<li><a class=item href=/page>Some words</a> and more\n", 60 * 1024)]
    ),
    "base of 1 MB, 2,000 links": lambda: iter([with_base(MB)]),
    "base of 9 MB, 2,000 links": lambda: iter([with_base(9 * MB)]),
    "links of 5 KB, 2,000": lambda: iter([numbered(b"<a href=/%%d%s>x</a>" % (b"x" * 5_000))]),
    "<p>x": lambda: iter([filled(b"<p>x")]),
    "<br id=…>x": lambda: iter([numbered(b"<br id=x%d>x")]),
    "<!---->": lambda: iter([filled(b"<!---->x")]),
    "</b>": lambda: iter([filled(b"</b>")]),
    "256 attributes each": lambda: iter([filled(b"<p " + b" ".join(b"a%d" % i for i in range(250)) + b">x")]),
    "one tag of attributes": lambda: iter([b"<p " + numbered(b"a%d ")[: -len(AFTER)] + b">" + AFTER]),
    "<meta>": lambda: iter([filled(b"<meta>")]),
    "<div>": lambda: iter([filled(b"<div>")]),
    "<i><div></i>": lambda: iter([filled(b"<i><div></i>", MB)]),
    "<dd>": lambda: iter([filled(b"<dd>", MB)]),
    "<script> without end, nested": lambda: iter([filled(b"<script>", MB, DEEP)]),
    "<p a without end, nested": lambda: iter([DEEP + b"<p a" * (MB // 4)]),
    "comment of dashes": lambda: iter([b"<!--" + b"-x" * (5 * MB) + b"-->" + AFTER]),
    "title of 10 MB": lambda: iter([b"<title>" + b"a " * (5 * MB) + b"</title>" + AFTER]),
    "10 MB of Chinese": lambda: iter([filled("中文字".encode())]),
    "64 KB of <b>": lambda: iter([filled(b"<b>", 65_000)]),
    "64 KB of links": lambda: iter([numbered(b"<a href=%d>x", 58_000)]),
    "64 KB of words": lambda: iter([numbered(b"a%x ", 62_000)]),
    "20 × long classes and ids": lambda: (long_classes(i) for i in range(20)),
    "20 × names of attributes": lambda: (numbered(b"<br a%d-%%d>" % i, 2 * MB) for i in range(20)),
}


def main() -> None:
    """Print a line for each page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(PAGES)}")
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--memory", type=int, default=4_000)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PAGES]
    if unknown:
        parser.error(f"no page is called {unknown[0]!r}; there are {', '.join(PAGES)}")
    if options.here:
        resource.setrlimit(resource.RLIMIT_AS, (options.memory * MB,) * 2)
        print(json.dumps(measure(PAGES[options.names[0]])))
        return
    print(
        f"{'page':30}  {'MB':>5}  {'CPU: loop':>9}  {'all':>6}  {'held':>6}  {'peak MB':>7}  {'after':>6}  {'links':>5}"
        "  left out"
    )
    for name in options.names or PAGES:
        print(f"{name:30}  {line(name, options)}", flush=True)


def line(name: str, options: argparse.Namespace) -> str:
    """What one page costs, in words."""
    command = [sys.executable, "-m", "bench.pages", "--here", "--memory", str(options.memory), name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.patience, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {options.patience:g} s"
    if done.returncode:
        is_memory = "MemoryError" in done.stderr
        return f"more than {options.memory} MB" if is_memory else f"died: {(done.stderr.splitlines() or ['?'])[-1]}"
    m: dict[str, Any] = json.loads(done.stdout)
    left_out = ", ".join(f"{what} {count}" for what, count in m["left_out"].items())
    return (
        f"{m['size'] / MB:5.1f}  {m['loop']:9.2f}  {m['all']:6.2f}  {m['held']:6.2f}  {m['peak']:7.0f}"
        f"  {m['after']:6.0f}  {m['links']:5}  {left_out}"
    )


def measure(pages: Callable[[], Iterator[bytes]]) -> dict[str, Any]:
    """The costs of some pages, one after another, in this process."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor  # noqa: PLC0415  # the one that was just installed
    from twisted.internet.defer import Deferred  # noqa: PLC0415  # with it

    costs: dict[str, Any] = {}

    async def run() -> None:
        try:
            costs.update(await _measured(pages))
        finally:
            reactor.stop()  # type: ignore[misc]  # Twisted's own types

    done: list[Any] = []
    # The outcome is looked at when the reactor has stopped.
    reactor.callWhenRunning(lambda: Deferred.fromFuture(asyncio.ensure_future(run())).addBoth(done.append))
    reactor.run()  # type: ignore[misc]  # Twisted's own types
    if not costs:
        raise done[0].value if done else SystemExit("nothing was measured")
    return costs


async def _measured(pages: Callable[[], Iterator[bytes]]) -> dict[str, Any]:
    from focused.pages.page import PageLimits  # noqa: PLC0415  # with the reactor
    from focused.pages.tokens import Lexicon  # noqa: PLC0415
    from focused.responses import response_to_page  # noqa: PLC0415

    warm = HtmlResponse("http://e.example/", body=b"<p>x</p>" * 5_000, encoding="utf-8")
    await response_to_page(warm, PageLimits(), Lexicon())
    total = dict.fromkeys(("size", "loop", "all", "held", "peak", "after", "links"), 0.0)
    left_out: dict[str, int] = {}
    start: float | None = None
    for body in pages():
        response: HtmlResponse | None = HtmlResponse("http://e.example/", body=body, encoding="utf-8")
        assert response is not None
        total["size"] += len(body)
        start = _resident() if start is None else start
        watch, ticker = _Peak(), asyncio.ensure_future(_longest_pause())
        await asyncio.sleep(0)
        loop, everything = thread_time(), process_time()
        page = await response_to_page(response, PageLimits(), Lexicon())
        total["loop"] += thread_time() - loop
        total["all"] += process_time() - everything
        await asyncio.sleep(0.01)
        ticker.cancel()
        total["held"] = max(total["held"], await ticker)
        total["peak"] = max(total["peak"], watch.stop() - start)
        total["links"] += len(page.links)
        for what, count in page.left_out.items():
            left_out[what] = left_out.get(what, 0) + count
        del page, response, body
        gc.collect()
    _give_back()
    return {**total, "links": int(total["links"]), "after": _resident() - (start or 0.0), "left_out": left_out}


async def _longest_pause() -> float:
    longest, last = 0.0, monotonic()
    try:
        while True:
            await asyncio.sleep(0.001)
            longest, last = max(longest, monotonic() - last), monotonic()
    except asyncio.CancelledError:
        return longest


def _give_back() -> None:
    import ctypes  # noqa: PLC0415  # for this alone

    ctypes.CDLL(None).malloc_trim(0)


def _resident() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / MB


class _Peak:
    """The most memory from now on, looked at by a thread a hundred times a second."""

    def __init__(self) -> None:
        self._most, self._is_over = _resident(), False
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._is_over:
            self._most = max(self._most, _resident())
            sleep(0.01)

    def stop(self) -> float:
        """The most in megabytes."""
        self._is_over = True
        self._thread.join()
        return self._most


if __name__ == "__main__":
    main()
