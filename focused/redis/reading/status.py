"""The status of a crawl in Redis: its figures and words beside those that every crawl has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.filesize import decimal

from focused.report.status import CUT_SHORT, Status
from focused.report.text import WIDE, counted, listed, short, time_span

_MOST_WORKERS = 20


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """A worker: how many links it has, how many seconds ago it gave a sign of life, and whether it trains."""

    name: str
    leases: int
    silent: float = field(compare=False)
    alive: bool
    trains: bool


@dataclass(frozen=True, slots=True)
class StartList:
    """The list of seeds that others push, and how many wait in it."""

    key: str
    waiting: int


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """Bytes: of the crawl, of one waiting link with its evidence, of the whole server, and the most it may take.

    ``most_waiting`` is the cap on waiting links. 0 is none, for both.
    """

    crawl: int
    link: int | None
    most_waiting: int
    server: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisStatus(Status):
    """The status of a crawl in Redis; the last pages are those of the last five minutes in which anybody was at work.

    ``ran`` is for how many seconds anybody was. ``pooled`` counts the acknowledged links that teach or that count for
    the trainer, ``learned`` those of them that the published model knows; ``model`` is its version.
    """

    crawl: str
    server: str
    ran: float
    workers: list[WorkerStatus]
    trainer: str | None
    model: int | None
    pooled: int
    learned: int
    start_urls: StartList
    memory: MemoryStatus
    dropped: int
    taken_back: int
    refused: int

    @property
    def title(self) -> str:
        return self.crawl

    def state_in_words(self) -> str:
        if self.is_running:
            at_work = sum(worker.alive for worker in self.workers)
            return f"running on {counted(at_work, 'worker')}, for {time_span(self.ran)}"
        after = f"after {time_span(self.ran)}"
        if self.state == CUT_SHORT:
            silent = time_span(min(worker.silent for worker in self.workers))
            return f"not running; its workers were cut short {after}: none has given a sign of life for {silent}"
        return f"not running; its workers have ended, {after}"

    def place_line(self) -> tuple[str, str]:
        return "crawl", f"{short(self.topic or self.crawl, WIDE)}, at {short(self.server, WIDE)}"

    def learned_in_words(self) -> str:
        if self.model is None:
            return "no model is published"
        learned = f", learned from {self.learned:,} of {counted(self.pooled, 'link')}" if self.pooled else ""
        return f"model {self.model:,}{learned}"

    def further_lines(self) -> Iterator[tuple[str, str]]:
        seeds = self.start_urls.waiting
        waiting = f"{counted(seeds, 'seed')} waiting" if seeds else "empty"
        yield "start list", f"{short(self.start_urls.key, WIDE)}: {waiting}"
        yield "memory", _memory(self.memory, self.waiting)
        losses = (
            (self.dropped, "dropped (no room)"),
            (self.taken_back, "taken back from dead workers"),
            (self.refused, "results rejected (lease expired)"),
        )
        if any(number for number, _ in losses):
            yield "losses", ", ".join(f"{number:,} {words}" for number, words in losses if number)

    def further_lists(self) -> Iterator[str]:
        workers = [(one.leases, short(one.name, WIDE) + _sign_of_life(one)) for one in self.workers[:_MOST_WORKERS]]
        return listed("links in progress, by worker", workers, len(self.workers), "worker")

    @property
    def again(self) -> str:
        return "start workers with the same command"

    @property
    def has_more(self) -> bool:
        return bool(self.waiting or self.start_urls.waiting)


def _memory(memory: MemoryStatus, waiting: int) -> str:
    link = "" if memory.link is None else f", {memory.link:,} bytes per waiting link"
    cap = f", {waiting / memory.most_waiting:.0%} of {memory.most_waiting:,} links" if memory.most_waiting else ""
    most = f" of {decimal(memory.most)}" if memory.most else ", without a limit"
    return f"about {decimal(memory.crawl)}{link}{cap}; the server {decimal(memory.server)}{most}"


def _sign_of_life(worker: WorkerStatus) -> str:
    if not worker.alive:
        return f", no sign of life for {time_span(worker.silent)}: taken for dead"
    silent = f", last sign of life {worker.silent:.0f} seconds ago" if worker.silent >= 2 else ""
    return f"{silent}{', trains' if worker.trains else ''}"
