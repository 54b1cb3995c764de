"""Which waiting link comes next: the best score first, among the hosts that may be fetched now.

A million links must cost few bytes each and be re-ordered at once whenever the prioritizer has learned. So all
links known at the last re-ordering stand in one *run*: numbers sorted by host and score in one array, with a cursor
per host. Links that came since, or whose score changed, stand in small heaps, one per host. The next link of a host
is the better of the two heads. Entries are never deleted: an entry counts only while its link still waits and still
has the score that the entry was made with.

Hosts that wait for something that many of them share (`Closed`) stand in one *line*, and only the best of a line is
asked about when its time has come, the next one when that is gone: however many hosts stand in a line, each is asked
about once when it comes, and again when it is its turn.

Links are numbers given in order of discovery, and equal scores are served in that order. Scores are kept as the
bits of a float32, turned so that smaller means better; an entry is ``bits << 32 | link``, one int.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from focused.frontier.store import Closed
from focused.frontier.table import LinkTable

_FLOAT = struct.Struct("<f")
_UINT = struct.Struct("<I")
_SIGN = 0x80000000
_ALL = 0xFFFFFFFF
# Seconds; hosts that sleep longer (backed off, dead) are not waited for.
_SOON = 10.0

HostGate = Callable[[int], float]
"""Asked whether a host may be fetched now: 0 = yes, else the time to ask again (inf = when it is released).

A time that is `Closed` puts the host into a line."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The links that waited at one moment, for re-scoring in a thread."""

    links: NDArray[np.int64]
    hosts: NDArray[np.uint32]
    is_listed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished re-ordering: links by host and score, and where each host's links begin and end.

    ``by_link`` has the scores' bits by link number, so that adopting them is one copy: the event loop waits for it.
    """

    links: NDArray[np.uint32]
    bits: NDArray[np.uint32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    by_link: NDArray[np.uint32]
    is_listed: NDArray[np.bool_]


class _Hosts:
    """Some hosts by their best entry. ``listed`` says which entry of a host counts."""

    def __init__(self, entries: Sequence[tuple[int, int]] = ()) -> None:
        self.heap = list(entries)
        self.listed = {host: entry for entry, host in entries}
        heapify(self.heap)

    def put(self, entry: int, host: int) -> None:
        """A host has this entry, if it had no better one."""
        listed = self.listed.get(host)
        if listed is None or entry < listed:
            self.listed[host] = entry
            heappush(self.heap, (entry, host))

    def pop(self) -> None:
        """Take out the best."""
        del self.listed[heappop(self.heap)[1]]


class _Line:
    """Hosts that wait for the same: all asleep until ``opens``, or (0) the best of them is ready, and goes before."""

    def __init__(self) -> None:
        self.hosts = _Hosts()
        self.opens = 0.0


class LinkOrder:
    """The waiting links in order. Not for several threads; `sort` alone may run in another one.

    Hosts and places of links are kept in the table that all who know of links share.
    """

    def __init__(self, table: LinkTable) -> None:
        self._table = table
        self._count = 0
        empty = Snapshot(np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.bool_))
        self._run = sort(empty, np.zeros(0, np.float32))
        self._heaps: dict[int, list[int]] = {}
        # Hosts that have links and are not known to be asleep.
        self._ready = _Hosts()
        self._asleep: list[tuple[float, int]] = []
        self._wakes: dict[int, float] = {}
        # Lines, when they open, and of hosts: the line in which one stands, was last, or of which it goes before.
        self._lines: dict[str, _Line] = {}
        self._closed: list[tuple[float, str]] = []
        self._stands_in: dict[int, str] = {}
        self._stood_in: dict[int, str] = {}
        self._goes_before: dict[int, str] = {}
        self._since: list[int] | None = None

    def __len__(self) -> int:
        return self._count

    def put(self, link: int, rank: float) -> None:
        """A link waits at this place; if it waited already, its place changes."""
        table, bits = self._table, _rank_to_bits(rank)
        if not table.is_listed[link]:
            table.is_listed[link] = True
            self._count += 1
        elif table.bits[link] == bits:
            return
        table.bits[link] = bits
        if self._since is not None:
            self._since.append(link)
        self._push(bits << 32 | link, int(table.host[link]))

    def remove(self, link: int) -> None:
        """A link no longer waits."""
        if self._table.is_listed[link]:
            self._table.is_listed[link] = False
            self._count -= 1

    def pop(self, now: float, gate: HostGate, patience: float = 0.0) -> int | None:
        """Take out the best link whose host may be fetched now; None if there is none.

        With ``patience`` a link below that share of the best score that waits for its host is not worth taking: None,
        until that host is ready or the link's own score is enough.
        """
        self._wake_due(now)
        while (head := self._head()) is not None:
            entry, host = head
            wait = gate(host)
            if wait <= now and patience and _bits_to_rank(entry >> 32) < patience * self._best_asleep(now):
                return None
            self._ready.pop()
            if wait <= now:
                self.remove(entry & _ALL)
                self._relist(host)
                self._let_next_go(host)
                return entry & _ALL
            if isinstance(wait, Closed):
                self._stand_in_line(host, entry, wait)
            else:
                self._sleep(host, wait)
                self._let_next_go(host)
        return None

    def best(self) -> float:
        """The best place among hosts that are not asleep; -inf if there is none."""
        head = self._head()
        return _bits_to_rank(head[0] >> 32) if head is not None else float("-inf")

    def _head(self) -> tuple[int, int] | None:
        """The best entry among hosts that are not asleep, and its host."""
        while (head := self._first(self._ready)) is None and self._ready.heap:
            host = self._ready.heap[0][1]
            self._ready.pop()
            self._let_next_go(host)
        return head

    def _first(self, hosts: _Hosts) -> tuple[int, int] | None:
        """The best of some hosts, with its entry. None if there are none, or the first of them has no link left."""
        while hosts.heap:
            entry, host = hosts.heap[0]
            if hosts.listed.get(host) != entry:
                heappop(hosts.heap)
                continue
            best = self._best(host)
            if best == entry:
                return entry, host
            if best is None:
                return None
            hosts.pop()
            hosts.put(best, host)
        return None

    def _best_asleep(self, now: float) -> float:
        """The best score, at most 1, that waits for a host which will be ready soon.

        Where hosts stand in line, none of them will be: others are not held up by an endless supply of hosts.
        """
        soon = [
            host
            for host, wake in self._wakes.items()
            if (wake == float("inf") or wake - now < _SOON) and self._stood_in.get(host) not in self._lines
        ]
        entries = [entry for host in soon if (entry := self._best(host)) is not None]
        return min(_bits_to_rank(min(entries) >> 32), 1.0) if entries else 0.0

    def release(self, host: int) -> None:
        """Something changed for a host (a fetch ended, it was told to sleep less): ask its gate again."""
        if host in self._wakes:
            del self._wakes[host]
            self._relist(host)

    def next_wake(self) -> float | None:
        """When the first sleeping host is to be asked again; None if no time is known."""
        while self._asleep and self._wakes.get(self._asleep[0][1]) != self._asleep[0][0]:
            heappop(self._asleep)
        while self._closed and not self._is_asleep(*self._closed[0]):
            heappop(self._closed)
        return min((heap[0][0] for heap in (self._asleep, self._closed) if heap), default=None)

    def snapshot(self, size: int) -> Snapshot:
        """The waiting links numbered below ``size``, to be scored anew; from now on changes are noted until `adopt`."""
        is_listed = self._table.is_listed[:size].copy()
        links = np.flatnonzero(is_listed)
        self._since = []
        return Snapshot(links, self._table.host[links], is_listed)

    def adopt(self, run: Run) -> list[int]:
        """Take over a re-ordering. Links that came or changed since its snapshot keep the place they have now;
        these are returned."""
        table = self._table
        # Where a place changed after the snapshot, the newer one stands; its entry is pushed again below.
        fresh = {link: int(table.bits[link]) for link in self._since or [] if table.is_listed[link]}
        np.copyto(table.bits[: len(run.by_link)], run.by_link, where=run.is_listed)
        for link, bits in fresh.items():
            table.bits[link] = bits
        self._run, self._since = run, None
        self._heaps.clear()
        self._list_all()
        for link, bits in fresh.items():
            self._push(bits << 32 | link, int(table.host[link]))
        return list(fresh)

    def abandon(self) -> None:
        """Forget a snapshot that will not be adopted."""
        self._since = None

    def _push(self, entry: int, host: int) -> None:
        heappush(self._heaps.setdefault(host, []), entry)
        if host in self._stands_in:
            self._lines[self._stands_in[host]].hosts.put(entry, host)
        elif host not in self._wakes:
            self._ready.put(entry, host)

    def _relist(self, host: int) -> None:
        best = self._best(host)
        if best is not None:
            self._ready.put(best, host)

    def _list_all(self) -> None:
        """List every host of a new run that is not asleep."""
        begin, end, run = self._run.begin, self._run.end, self._run
        hosts = np.flatnonzero(end > begin)
        first = begin[hosts]
        entries = (run.bits[first].astype(np.uint64) << np.uint64(32)) | run.links[first].astype(np.uint64)
        ready: list[tuple[int, int]] = []
        lines: dict[str, list[tuple[int, int]]] = {name: [] for name in self._lines}
        for entry, host in zip(entries.tolist(), hosts.tolist(), strict=True):
            if host in self._stands_in:
                lines[self._stands_in[host]].append((entry, host))
            elif host not in self._wakes:
                ready.append((entry, host))
        self._ready = _Hosts(ready)
        for name, listed in lines.items():
            self._lines[name].hosts = _Hosts(listed)
        self._stands_in = {host: name for name, listed in lines.items() for _, host in listed}
        for host in self._goes_before.keys() - self._ready.listed.keys():
            # Its links are among those that came since, if it has any left.
            self._let_next_go(host)

    def _sleep(self, host: int, until: float) -> None:
        self._wakes[host] = until
        if until != float("inf"):
            heappush(self._asleep, (until, host))

    def _wake_due(self, now: float) -> None:
        while self._asleep and self._asleep[0][0] <= now:
            when, host = heappop(self._asleep)
            if self._wakes.get(host) == when:
                self.release(host)
        while self._closed and self._closed[0][0] <= now:
            opened = heappop(self._closed)
            if self._is_asleep(*opened):
                self._send_first(opened[1])

    def _is_asleep(self, when: float, name: str) -> bool:
        line = self._lines.get(name)
        return line is not None and line.opens == when

    def _stand_in_line(self, host: int, entry: int, until: Closed) -> None:
        """A host waits among others; if it was the first of them to be asked, all of them wait."""
        name, went_before = until.line, self._goes_before.pop(host, None)
        if went_before is not None and went_before != name:
            self._send_first(went_before)
        is_closed_now = went_before == name or name not in self._lines
        line = self._lines.setdefault(name, _Line())
        line.hosts.put(entry, host)
        self._stands_in[host] = self._stood_in[host] = name
        if is_closed_now:
            line.opens = float(until)
            heappush(self._closed, (line.opens, name))

    def _let_next_go(self, host: int) -> None:
        """A host is not asked about any more: if it went before a line, the next one does."""
        name = self._goes_before.pop(host, None)
        if name is not None:
            self._send_first(name)

    def _send_first(self, name: str) -> None:
        """The best host of a line is to be asked about."""
        line = self._lines[name]
        line.opens, hosts = 0.0, line.hosts
        while hosts.heap:
            first = self._first(hosts)
            if not hosts.heap:
                break
            host = hosts.heap[0][1]
            hosts.pop()
            del self._stands_in[host]
            if first is not None:
                self._goes_before[host] = name
                self._ready.put(*first)
                return
        del self._lines[name]

    def _best(self, host: int) -> int | None:
        """The best entry of a host that still counts; passes over those that do not."""
        bits, is_listed = self._table.bits, self._table.is_listed
        heap = self._heaps.get(host)
        while heap:
            entry = heap[0]
            link = entry & _ALL
            if is_listed[link] and bits[link] == entry >> 32:
                break
            heappop(heap)
        if heap is not None and not heap:
            del self._heaps[host]
        in_run = self._best_in_run(host)
        if not heap:
            return in_run
        return heap[0] if in_run is None else min(heap[0], in_run)

    def _best_in_run(self, host: int) -> int | None:
        run, table = self._run, self._table
        if host >= len(run.begin):
            return None
        at, end = int(run.begin[host]), int(run.end[host])
        while at < end:
            link = int(run.links[at])
            if table.is_listed[link] and table.bits[link] == run.bits[at]:
                run.begin[host] = at
                return int(run.bits[at]) << 32 | link
            at += 1
        run.begin[host] = at
        return None


def sort(snapshot: Snapshot, scores: NDArray[np.float32]) -> Run:
    """Order the links of a snapshot by host and new score. Pure, and lets go of the GIL for most of the time."""
    bits = scores_to_bits(scores)
    by_score = np.argsort((bits.astype(np.uint64) << np.uint64(32)) | snapshot.links.astype(np.uint64))
    by_host = by_score[np.argsort(snapshot.hosts[by_score], kind="stable")]
    hosts = snapshot.hosts[by_host]
    most = int(hosts[-1]) + 1 if len(hosts) else 0
    every = np.arange(most)
    begin = np.searchsorted(hosts, every, "left")
    end = np.searchsorted(hosts, every, "right")
    by_link = np.zeros(len(snapshot.is_listed), np.uint32)
    by_link[snapshot.links] = bits
    return Run(snapshot.links[by_host].astype(np.uint32), bits[by_host], begin, end, by_link, snapshot.is_listed)


def scores_to_bits(scores: Sequence[float] | NDArray[np.float32]) -> NDArray[np.uint32]:
    """Scores as sortable bits, the best first."""
    raw = np.ascontiguousarray(scores, np.float32).view(np.uint32)
    return np.where(raw & np.uint32(_SIGN), raw, ~raw & np.uint32(_SIGN - 1))


def _rank_to_bits(rank: float) -> int:
    (raw,) = _UINT.unpack(_FLOAT.pack(rank))
    return int(raw if raw & _SIGN else ~raw & (_SIGN - 1))


def _bits_to_rank(bits: int) -> float:
    raw = bits if bits & _SIGN else ~bits & (_SIGN - 1)
    return float(_FLOAT.unpack(_UINT.pack(raw))[0])
