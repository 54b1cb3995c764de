"""How a crawl in Redis stands, in words for a terminal: laid out as that of a job."""

from __future__ import annotations

from collections.abc import Iterator

from focused.redis.reading.status import MemoryStatus, RedisStatus, WorkerStatus
from focused.report.status import CUT_SHORT, RUNNING
from focused.report.status_text import WIDE, counted, figure_lines, host_lines, span
from focused.report.text import short

_MOST_WORKERS = 20
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def redis_status_lines(status: RedisStatus) -> Iterator[str]:
    """Some lines of words, workers and hosts at the end."""
    yield f"{short(status.crawl, WIDE)}: {state_in_words(status)}"
    yield f"  crawl        {short(status.topic or status.crawl, WIDE)}, at {short(status.server, WIDE)}"
    yield from figure_lines(status, _learned(status))
    yield f"  start list   {short(status.start_urls.key, WIDE)}: {_entries(status.start_urls.waiting)}"
    yield f"  memory       {_memory(status.memory, status.waiting)}"
    if losses := _losses(status):
        yield f"  losses       {losses}"
    yield from _worker_lines(status)
    yield from host_lines(status)
    if status.state != RUNNING:
        yield ""
        yield _how_to_go_on(status)


def redis_status_line(status: RedisStatus) -> str:
    """One line, where there are several crawls."""
    links = f"{counted(status.pages, 'page')}, {counted(status.waiting, 'link')} waiting"
    return f"  {short(status.crawl, WIDE)}: {state_in_words(status)}; {links}"


def state_in_words(status: RedisStatus) -> str:
    """Who is at work, or since when nobody is."""
    if status.state == RUNNING:
        at_work = sum(worker.alive for worker in status.workers)
        return f"running on {counted(at_work, 'worker')}, for {span(status.ran)}"
    after = f"after {span(status.ran)}"
    if status.state == CUT_SHORT:
        silent = span(min(worker.silent for worker in status.workers))
        return f"not running; its workers were cut short {after}: nothing was heard of them for {silent}"
    return f"not running; its workers have ended, {after}"


def _how_to_go_on(status: RedisStatus) -> str:
    if status.state == CUT_SHORT:
        return "To go on, start workers by the same command: what was under way is fetched again, the rest is kept."
    if status.waiting or status.start_urls.waiting:
        return "To go on, start workers by the same command; they go on as far as their limits allow."
    return "Nothing is left to follow."


def _learned(status: RedisStatus) -> str:
    if status.model is None:
        return "no model is published"
    learned = f", learned from {status.learned:,} of {counted(status.pooled, 'link')}" if status.pooled else ""
    return f"model {status.model:,}{learned}"


def _entries(waiting: int) -> str:
    return f"{counted(waiting, 'seed')} to be fetched" if waiting else "empty"


def _memory(memory: MemoryStatus, waiting: int) -> str:
    link = "" if memory.link is None else f", {memory.link:,} bytes a waiting link"
    cap = f", {waiting / memory.most_waiting:.0%} of {memory.most_waiting:,} links" if memory.most_waiting else ""
    most = f" of {_bytes(memory.most)}" if memory.most else ", without a limit"
    return f"about {_bytes(memory.crawl)}{link}{cap}; the server {_bytes(memory.server)}{most}"


def _bytes(number: float) -> str:
    unit = 0
    while number >= 1_000 and unit < len(_UNITS) - 1:
        number, unit = number / 1_000, unit + 1
    return f"{number:.{1 if unit > 1 else 0}f} {_UNITS[unit]}"


def _losses(status: RedisStatus) -> str:
    told = (
        (status.dropped, "dropped, as there was no room for them"),
        (status.taken_back, "taken back from dead workers"),
        (status.refused, "that a worker had lost when it came with them"),
    )
    return ", ".join(f"{number:,} {words}" for number, words in told if number)


def _worker_lines(status: RedisStatus) -> Iterator[str]:
    if not status.workers:
        return
    yield ""
    yield "  links under way, by worker"
    for worker in status.workers[:_MOST_WORKERS]:
        yield f"  {worker.leases:>10,}  {short(worker.name, WIDE)}{_sign(worker)}"
    more = len(status.workers) - _MOST_WORKERS
    if more > 0:
        yield f"              and {counted(more, 'more worker')}"


def _sign(worker: WorkerStatus) -> str:
    if not worker.alive:
        return f", silent for {span(worker.silent)}: taken for dead"
    silent = f", last heard of {worker.silent:.0f} seconds ago" if worker.silent >= 2 else ""
    return f"{silent}{', trains' if worker.trains else ''}"
