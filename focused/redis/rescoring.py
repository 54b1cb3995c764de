"""Everything that waits is scored again: host by host, in slices, beside the crawl.

For a slice of hosts the links are read, scored at once and put in order here; the new order goes back as one string of
eight bytes a link. What came or changed meanwhile keeps the place that it has. So nobody waits for longer than it takes
Redis to read a thousand records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import sleep, thread_time
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from focused.frontier.combining import AnyFloats, combined
from focused.frontier.steering import STEERING, Steering, fitting, lifted
from focused.frontier.store import State
from focused.prioritizers.base import Prioritizer
from focused.redis.records import HEAD, Packing, Records, RelevanceOf, version_of
from focused.redis.server import Server, operation
from focused.safety.patterns import Patterns

T = TypeVar("T")

_RUN = np.dtype([("rank", "<f4"), ("link", "<u4")])
# Links whose new order is written together, if they are not all on one host; so many are read and scored together: what
# is made of them stays in the processor's cache.
_SLICE = 4_000
_TOGETHER = 600
# Redis serves nobody else while it reads so many records, or counts the links of so many hosts.
_AT_ONCE = 200
_FEW = 250
# In between there is rest, as long as the work took: the machine and Redis are there for the crawl first.
_REST = 1.0
# With so much of the room left after links were dropped, they need not be dropped again at once.
_KEPT = 0.95


@dataclass(frozen=True, slots=True)
class _Slice:
    """The waiting links of some hosts as they were when they were read: ``where`` says of each which host it is of."""

    hosts: Sequence[int]
    turns: list[int]
    links: NDArray[np.int64]
    where: NDArray[np.int64]


class SharedRescoring:
    """One re-scoring by one snapshot of the prioritizer."""

    def __init__(self, server: Server, prioritizer: Prioritizer, relevance_of: RelevanceOf) -> None:
        self._server, self._relevance_of = server, relevance_of
        self._packing = Packing(prioritizer.id_bits)
        self._prioritizer = prioritizer
        self._most_waiting: int = server.options["most_waiting"]
        self._written: list[tuple[int, NDArray[Any]]] = []
        self._preferred = Patterns()

    def score(self) -> None:
        """The whole work, unless the crawl ends meanwhile."""
        with self._server.whole(f"the note {STEERING!r}"):
            self._preferred = Patterns(Steering.of(self._server.ask("noted", STEERING) or None).preferred)
        for hosts in self._slices():
            if self._server.is_ending():
                return
            self._rescore(hosts)
        if self._most_waiting:
            self._drop_the_worst()

    def adopt(self) -> None:
        """Redis has everything."""

    def _slices(self) -> Iterator[list[int]]:
        """All hosts with waiting links, so many at a time that their links make a slice."""
        self._call([])
        all_hosts, hosts, size = self._server.standing.hosts, list[int](), 0
        for first in range(1, all_hosts + 1, _AT_ONCE):
            last = min(first + _AT_ONCE - 1, all_hosts)
            for host, links in enumerate(self._server.ask("sizes", first, last), first):
                if not links:
                    continue
                hosts.append(host)
                size += int(links)
                if size >= _SLICE:
                    yield hosts
                    hosts, size = [], 0
        if hosts:
            yield hosts

    def _rescore(self, hosts: Sequence[int]) -> None:
        links = self._read(hosts)
        self._write(links, *self._score(links.links))

    def _read(self, hosts: Sequence[int]) -> _Slice:
        """What waits on some hosts, each link once, though it may stand in two places."""
        found = self._call([operation("snapshot", host) for host in hosts])
        with self._server.whole("the order of links"):
            return self._to_slice(hosts, found)

    def _to_slice(self, hosts: Sequence[int], found: Sequence[Any]) -> _Slice:
        turns, runs, listed = zip(*found, strict=True)
        in_runs = np.frombuffer(b"".join(runs), _RUN)["link"].astype(np.int64)
        in_lists = np.frombuffer(b"".join(listed), ">u4").astype(np.int64)
        every = np.arange(len(hosts))
        of_runs = np.repeat(every, [len(run) // _RUN.itemsize for run in runs])
        of_lists = np.repeat(every, [len(links) // 4 for links in listed])
        both = np.unique(np.concatenate([of_runs << 32 | in_runs, of_lists << 32 | in_lists]))
        return _Slice(hosts, [int(turn) for turn in turns], both & 0xFFFFFFFF, both >> 32)

    def _score(self, links: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Which of the links wait, and their ranks; some at a time, and with rests."""
        waits, ranks = np.zeros(len(links), np.bool_), np.zeros(len(links), np.float32)
        for begin in range(0, len(links), _TOGETHER):
            some, began = links[begin : begin + _TOGETHER], thread_time()
            raw = self._read_links(some)
            there = np.array([i for i, record in enumerate(raw) if record], np.int64)
            if len(there):
                with self._server.whole("the evidence of waiting links"):
                    records = self._packing.read([raw[i] for i in there], some[there])
                    if not np.all(np.isfinite(records.base)):
                        raise ValueError("a rank is not a number")
                waits[begin + there] = records.state == State.WAITING.value
                is_lifted = self._is_preferred([raw[i] or b"" for i in there], records)
                ranks[begin + there] = lifted(self._combined(records), is_lifted) + records.base
            sleep(_REST * (thread_time() - began))
        return waits, ranks

    def _is_preferred(self, raw: Sequence[bytes], records: Records) -> NDArray[np.bool_]:
        """Which records with evidence are of links that go before others."""
        if not self._preferred:
            return np.zeros(len(raw), np.bool_)
        lengths = [int(np.frombuffer(one, HEAD, 1)["length"][0]) for one in raw]
        urls = [
            one[HEAD.itemsize :][:length].decode("utf-8", "replace") for one, length in zip(raw, lengths, strict=True)
        ]
        has_evidence: NDArray[np.bool_] = np.bincount(records.rows, minlength=len(raw)) > 0
        return fitting(self._preferred, urls) & has_evidence

    def _read_links(self, links: NDArray[np.int64]) -> list[bytes | None]:
        keys = links.astype(">u4").view("V4").tolist()
        where, client = f"{self._server.prefix}links", self._server.client
        records: list[bytes | None] = []
        for some in _chunks(keys, _AT_ONCE):
            records += self._server.read(partial(client.hmget, where, some))
        return records

    def _combined(self, records: Records) -> AnyFloats:
        """The score of each record from all its evidence; 0 where there is none."""
        if not len(records.rows):
            return np.zeros(len(records.state), np.float32)
        self._write_seen(records, records.see_again(self._prioritizer, self._relevance_of))
        scores = self._prioritizer.finite_scores(records.evidence)
        return combined(scores, records.rows, len(records.state), self._prioritizer.combine)

    def _write_seen(self, records: Records, rows: NDArray[np.int64]) -> None:
        """Evidence that is seen otherwise since the critic has learned is written, so that this is done once."""
        evidence, links = records.evidence, dict[int, list[Any]]()
        for row, link in zip(rows.tolist(), evidence.link[rows].tolist(), strict=True):
            links.setdefault(link, [link]).extend([records.heads[row].tobytes(), evidence.dense[row].tobytes()])
        for some in _chunks(list(links.values()), _AT_ONCE):
            self._server.ask("see_again", version_of(self._prioritizer), some)

    def _write(self, read: _Slice, waits: NDArray[np.bool_], ranks: NDArray[np.float32]) -> None:
        """Put the links that still wait in order, host by host, the best first."""
        order = np.lexsort((read.links, -ranks, read.where))
        order = order[waits[order]]
        run = np.zeros(len(order), _RUN)
        run["rank"], run["link"] = ranks[order], read.links[order]
        ends = np.searchsorted(read.where[order], np.arange(len(read.hosts) + 1)).tolist()
        runs = [run[begin:end] for begin, end in pairwise(ends)]
        hosts = zip(read.hosts, read.turns, runs, strict=True)
        adopted = self._call([operation("adopt", host, turn, own.tobytes()) for host, turn, own in hosts])
        if self._most_waiting:
            pairs = zip(read.hosts, runs, adopted, strict=True)
            self._written += [(host, own) for host, own, is_adopted in pairs if is_adopted]

    def _drop_the_worst(self) -> None:
        waiting = sum(len(run) for _, run in self._written)
        if waiting <= self._most_waiting:
            return
        ranks = np.concatenate([run["rank"] for _, run in self._written])
        kept = int(_KEPT * self._most_waiting)
        floor = np.partition(ranks, waiting - kept)[waiting - kept]
        self._server.ask("set_floor", float(floor))
        for host, run in self._written:
            for some in _chunks(run["link"][run["rank"] < floor].tolist(), _FEW):
                self._server.ask("drop", host, some)

    def _call(self, operations: Sequence[bytes]) -> list[Any]:
        # Each of them may be carried out twice.
        return self._server.call(operations, numbered=False)


def _chunks(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (values[i : i + size] for i in range(0, len(values), size))
