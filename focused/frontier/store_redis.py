"""The frontier of many machines: everything in Redis, changed by one script.

Any number of workers open it under the same crawl's name; each has a name of its own. What the script does is
explained in the files in ``lua``; all times are Redis's. What a worker adds is kept back until its next call, so that a
page costs three of them: its links are numbered; it is recorded, and the evidence for its lessons read; it is
acknowledged and the next link is leased. Only a worker's own leases are in its memory.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import isinf, isnan, nan
from random import Random
from typing import Any, ClassVar

import msgpack
import numpy as np
from numpy.typing import NDArray
from redis import Redis

from focused.arrays import load_arrays, save_arrays
from focused.bounded import Bounded
from focused.critics.base import RELEVANT
from focused.frontier.order import Gate
from focused.frontier.redis_records import Packing, body
from focused.frontier.redis_rescoring import Rescoring
from focused.frontier.redis_server import Server, operation
from focused.frontier.store import (
    SEED_RANK,
    FrontierStore,
    JobRefused,
    Known,
    Lease,
    NewLink,
    Outcome,
    PageRecord,
    State,
    StoreBroken,
)
from focused.pages.evidence import Evidence
from focused.pages.page import url_to_key
from focused.pages.tokens import LEXICON
from focused.prioritizers.base import Lessons, Prioritizer

FORMAT = 1
_ENTRY = struct.Struct(">IBB")
_RELEVANCE = struct.Struct("<f")
_DONE, _WAITING, _RESERVED = State.DONE.value, State.WAITING.value, State.RESERVED.value
# Of addresses met on the last pages it is remembered what Redis said of them.
_MOST_REMEMBERED = 20_000
_LONGEST_URL = 65_535
# How many links may be given back because this worker's own gate says later, before there is none for now.
_MOST_REFUSED = 16
# Seconds after which a host is asked again whose gate does not say when.
_UNKNOWN = 0.5
_LOOK_AGAIN = 1.0
# A link that was found after its page says less: it was not followed, and most are links that many pages have.
_WEIGHT_OF_LATE = 0.5
_AT_ONCE = 500


@dataclass(slots=True)
class _Seen:
    """What Redis said of an address when it was numbered."""

    key: bytes
    state: int
    seen: int
    relevance: float


@dataclass(frozen=True, slots=True)
class Pooled:
    """The lessons that came with one acknowledgement, with their number; ``is_page`` says whether of a page."""

    number: int
    is_page: bool
    lessons: Lessons | None


class RedisStore(FrontierStore):
    """One worker's view of a crawl in Redis. ``identity`` says whose crawl it is: checked on opening."""

    is_shared: ClassVar[bool] = True
    rescoring_is_cheap = False

    def __init__(
        self,
        client: Redis,
        crawl: str,
        worker: str,
        prioritizer: Prioritizer,
        *,
        identity: Mapping[str, str] | None = None,
        most_pieces: int = 8,
        most_bytes: int = 600,
        most_deaths: int = 3,
        most_late: int = 0,
        most_waiting: int = 0,
        lease_seconds: float = 60.0,
        patience: float = 0.0,
        redis_patience: float = 600.0,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self.worker = worker
        self._server = Server(client, crawl, worker, patience=redis_patience, is_ending=is_ending)
        self._server.options = {
            "pieces": most_pieces,
            "bytes": most_bytes,
            "most_deaths": most_deaths,
            "most_waiting": most_waiting,
            "lease_seconds": lease_seconds,
            "combine": prioritizer.combine,
            "failed": Outcome.FAILED.value,
            "redirect": Outcome.REDIRECT.value,
        }
        self._most_pieces, self._most_late, self._most_waiting = most_pieces, most_late, most_waiting
        self._patience = patience
        self._random = Random()
        self._packing = Packing(prioritizer.id_bits)
        self._prioritizer = prioritizer
        # Of the snapshot that scores: the same for all workers that have the same one.
        self._stamp, self._loaded_stamp = 0, 0
        self._pending: list[bytes] = []
        self._standing: dict[bytes, Any] = {}
        self._hosts: Bounded[int, str] = Bounded(_MOST_REMEMBERED)
        self._pages_of: Bounded[int, int] = Bounded(_MOST_REMEMBERED)
        self._known: Bounded[int, _Seen] = Bounded(_MOST_REMEMBERED)
        self._unadmitted: Bounded[int, tuple[int, list[Any]]] = Bounded(_MOST_REMEMBERED)
        self._leases: dict[int, Lease] = {}
        self._lost: set[int] = set()
        self._parents: dict[int, str] = {}
        self._suspects: set[int] = set()
        self._returned: set[int] = set()
        self._records: dict[int, PageRecord] = {}
        # Acknowledged, and not told to Redis yet.
        self._acknowledged: list[PageRecord] = []
        self._led_here: dict[int, Lessons | None] = {}
        self._ended_at: dict[int, tuple[int, float]] = {}
        self._lessons: dict[int, list[Lessons]] = {}
        self._tokens = 0
        self._wake: float | None = None
        self._join(dict(identity or {}))

    def _join(self, identity: dict[str, str]) -> None:
        whose = {"format": str(FORMAT), "id bits": str(self._prioritizer.id_bits), **identity}
        other, standing = self._server.call([operation("join", whose)], numbered=False)
        if other:
            key, kept = (part.decode() for part in other)
            raise JobRefused(
                f"the crawl {self._server.prefix[:-1]} in Redis was made with {key} {kept!r}, this one has "
                f"{whose[key]!r}: name it otherwise (FOCUSED_CRAWL), or start the crawl as it was"
            )
        self._standing = standing

    # --- how it stands -----------------------------------------------------------------------------------------

    @property
    def prioritizer(self) -> Prioritizer:
        """The snapshot that scores."""
        return self._prioritizer

    @prioritizer.setter
    def prioritizer(self, new: Prioritizer) -> None:
        self._prioritizer = new
        self._stamp, self._loaded_stamp = self._loaded_stamp or self._random.getrandbits(32), 0

    @property
    def waiting(self) -> int:
        return self._count("waiting")

    @property
    def leased(self) -> int:
        return self._count("leased")

    @property
    def leased_elsewhere(self) -> int:
        return self._count("leased") - self._count("mine")

    @property
    def hosts(self) -> int:
        return self._count("hosts")

    @property
    def pages(self) -> int:
        return self._count("pages") + len(self._own_pages())

    @property
    def last_page(self) -> int:
        return self._count("order")

    @property
    def found(self) -> int:
        return self._count("found") + sum(map(self._is_found, self._own_pages()))

    @property
    def relevance_sum(self) -> float:
        return float(self._standing.get(b"relevance", 0.0)) + sum(page.relevance for page in self._own_pages())

    @property
    def rows(self) -> int:
        return self._count("rows")

    @property
    def model_version(self) -> int:
        """How often a model was published."""
        return self._count("model")

    @property
    def dropped(self) -> int:
        """How many links there was no room for."""
        return self._count("dropped")

    @property
    def taken_back(self) -> int:
        """How many leases of dead workers were taken back."""
        return self._count("taken_back")

    @property
    def refused(self) -> int:
        """How often a worker that was taken for dead spoke under a lease that it had lost."""
        return self._count("refused")

    def pages_of(self, host: int) -> int:
        return self._pages_of.get(host) or 0

    # --- links and evidence ------------------------------------------------------------------------------------

    def reserve(self, urls: Sequence[str]) -> Known:
        keys = [_key(url_to_key(url)) for url in urls]
        unique = list(dict.fromkeys(keys))
        (entries,) = self._call(operation("reserve", unique)) if unique else ([],)
        found: dict[bytes, tuple[int, _Seen]] = {}
        for key, entry in zip(unique, entries, strict=True):
            number, state, seen = _ENTRY.unpack_from(entry)
            relevance = _RELEVANCE.unpack_from(entry, _ENTRY.size)[0] if state == _DONE else nan
            found[key] = number, _Seen(key, state, seen, relevance)
            self._known[number] = found[key][1]
        rows = [found[key] for key in keys]
        wanted = [self._is_wanted(known) for _, known in rows]
        self._count_unwanted([row for row, keep in zip(rows, wanted, strict=True) if not keep])
        return Known(
            np.array([number for number, _ in rows], np.int64),
            np.array([known.state for _, known in rows], np.uint8),
            np.array(wanted, np.bool_),
            np.array([known.relevance for _, known in rows], np.float32),
        )

    def add(self, new: NewLink) -> bool:
        url, request = new.url.encode("utf-8", "surrogatepass"), new.request or b""
        if len(url) > _LONGEST_URL:
            return False
        known = self._known.get(new.link) if new.link and not new.key else None
        source, found = self._unadmitted.pop(new.link) if new.link in self._unadmitted else (new.source, [])
        link = {
            "key": known.key if known else _key(new.key or url_to_key(new.url)),
            "host": new.host,
            "depth": new.depth,
            "source": source,
            "base": float(np.float32(new.base)),
            "length": len(url),
            "request": len(request),
            "body": body(url, request),
            "found": found,
            "stamp": self._stamp,
        }
        if known is not None and known.state == _RESERVED:
            # It was not known a moment ago. Should another worker be first after all, the script finds out.
            known.state = _WAITING
            self._pending.append(operation("add", link))
            return True
        return bool(self._call(operation("add", link))[0])

    def new_number(self) -> int:
        return int(self._call(operation("number"))[0])

    def link_with(self, key: int) -> int:
        return int(self._call(operation("find", _key(key)))[0])

    def add_evidence(self, source: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        evidence.source = np.full(len(evidence), source, np.uint32)
        by_link: dict[int, list[Any]] = {}
        pieces = self._packing.pieces(evidence, source)
        for link, score, piece in zip(evidence.link.tolist(), scores.tolist(), pieces, strict=True):
            by_link.setdefault(link, []).append([score, piece])
        known_elsewhere = []
        for link, found in by_link.items():
            known = self._known.get(link)
            if known is not None and known.state == _RESERVED:
                self._unadmitted[link] = source, found
            elif known is None or known.state != _DONE:
                known_elsewhere.append([link, (known.seen if known else 0) + len(found), found])
        if known_elsewhere:
            self._pending.append(operation("see", source, known_elsewhere, self._stamp))

    def evidence_of(self, link: int) -> Evidence | None:
        found = self._evidence(link)
        return found[0] if found else None

    # --- leases ------------------------------------------------------------------------------------------------

    def lease(self, now: float, gate: Gate) -> Lease | None:
        for _ in range(_MOST_REFUSED):
            self._tokens += 1
            answer = self._call(operation("lease", self._tokens, self._patience, sorted(self._returned)))[0]
            if not answer or b"token" not in answer:
                wake = now + answer[b"wake"] if answer and b"wake" in answer else now + _LOOK_AGAIN
                self._wake = min(wake, now + _LOOK_AGAIN) if self._count("waiting") or self._returned else None
                return None
            token = answer[b"token"]
            if token in self._returned:
                self._returned.discard(token)
                if b"gone" in answer:
                    self._lost.add(token)
                    continue
                return self._leases[token]
            lease = self._take(answer)
            at = gate(lease.host)
            if at <= now:
                return lease
            self.postpone(token)
            self.sleep(self.host_name(lease.host), _UNKNOWN if isinf(at) else at - now)
        self._wake = now + _UNKNOWN
        return None

    def sent(self, token: int, delay: float, concurrency: int, ago: float) -> None:
        self._pending.append(operation("sent", token, float(delay), concurrency, float(ago)))

    def sleep(self, host: str, seconds: float) -> None:
        self._pending.append(operation("sleep", host, float(seconds)))

    def beat(self) -> None:
        self._call(operation("beat"))
        if self._count("mine") < len(self._leases) - len(self._lost):
            mine = {int(token) for token in self._call(operation("mine"))[0] or []}
            self._lost.update(token for token in self._leases if token not in mine)

    def train(self, seconds: float) -> bool:
        """Take or keep the role of the one who trains, for so many seconds; False if another worker has it."""
        return bool(self._call(operation("train", float(seconds)))[0])

    def release(self, host: int) -> None:
        """Redis knows by itself when a host may be fetched."""

    def next_wake(self) -> float | None:
        return self._wake

    def link_of(self, token: int) -> int:
        lease = self._leases.get(token)
        return lease.link if lease and token not in self._lost else 0

    def host_of(self, token: int) -> int:
        return self._leases[token].host

    def host_name(self, host: int) -> str:
        return self._hosts.get(host) or ""

    def parent_url(self, token: int) -> str:
        return self._parents.get(token, "")

    def begin_work(self, token: int) -> None:
        if token in self._suspects:
            self._call(operation("at_work", token))

    def redirect(self, token: int, url: str, host: str) -> bool:
        lease = self._leases[token]
        key, raw = _key(url_to_key(url)), url.encode("utf-8", "surrogatepass")
        answer = self._call(operation("redirect", token, key, raw, host, dict.fromkeys(lease.chain, True)))[0]
        target = int(answer[b"link"])
        if answer[b"followed"] and target == lease.link:
            return True
        lease.chain.append(lease.link)
        if not answer[b"followed"]:
            self._ended_at[token] = target, answer.get(b"relevance", nan)
            return False
        if target in lease.chain:
            # There and back: a cookie was set on the way. Scrapy bounds how often.
            lease.chain.remove(target)
        lease.link, lease.url, lease.host = target, url, int(answer[b"host"])
        self._hosts[lease.host] = host
        return True

    def was_redirected(self, token: int) -> bool:
        return bool(self._leases[token].chain) and token not in self._records

    def return_lease(self, token: int) -> None:
        self._returned.add(token)
        self._pending.append(operation("give_back", token))

    def postpone(self, token: int) -> None:
        self._forget(token)
        self._pending.append(operation("postpone", token, 0))

    # --- pages and lessons -------------------------------------------------------------------------------------

    def record(self, token: int, page: PageRecord) -> PageRecord:
        page.link = self._leases[token].link
        answer = self._call(operation("record", token, _key(page.digest), self._prioritizer.learns))[0]
        if not answer:
            self._lost.add(token)
            page.outcome = Outcome.OTHER
            return page
        order, is_duplicate, evidence = answer
        page.order = int(order)
        if is_duplicate:
            page.outcome = Outcome.DUPLICATE
        self._records[token] = page
        if self._prioritizer.learns:
            relevance = page.relevance if page.outcome is Outcome.PAGE else 0.0
            self._led_here[token] = self._to_lessons(page.link, evidence, relevance)
        return page

    def outcome_of(self, token: int) -> Outcome:
        record = self._records.get(token)
        return record.outcome if record else Outcome.NONE

    def lessons_of(self, token: int) -> Lessons | None:
        lease = self._leases.get(token)
        if lease is None:
            return None
        if token in self._led_here:
            return self._led_here[token]
        _, relevance = self._ended_at.get(token, (0, nan))
        return self._to_lessons(lease.link, self._call(operation("evidence", lease.link))[0], relevance)

    def late_lessons(self, evidence: Evidence, source_relevance: float) -> Lessons | None:
        rows, keys = [], []
        for row, link in enumerate(evidence.link.tolist()):
            known = self._known.get(link)
            if known is not None and self._is_for_late(known):
                rows.append(row)
                keys.append(known)
        if not rows:
            return None
        for known in keys:
            known.seen += 1
        self._pending.append(operation("late", [known.key for known in keys]))
        n = len(rows)
        return Lessons(
            evidence.take(rows),
            np.array([known.relevance for known in keys], np.float32),
            np.full(n, source_relevance, np.float32),
            np.full(n, _WEIGHT_OF_LATE, np.float32),
            np.ones(n, np.bool_),
        )

    def pool(self, token: int, lessons: Lessons | None) -> None:
        if lessons is not None and token in self._leases:
            self._lessons.setdefault(token, []).append(lessons)

    def lessons_since(self, order: int) -> list[Lessons | None]:
        return [pooled.lessons for pooled in self.pooled_since(order)]

    def pooled_since(self, number: int) -> list[Pooled]:
        """All lessons that came after those with a number."""
        found: list[Pooled] = []
        while True:
            first, raw = self._call(operation("lessons", number, _AT_ONCE))[0]
            found += [_to_pooled(int(first) + 1 + i, data) for i, data in enumerate(raw or [])]
            if len(raw or []) < _AT_ONCE:
                return found
            number = found[-1].number

    def acknowledge(self, token: int, outcome: Outcome, detail: str = "") -> Outcome:
        page, lessons = self._records.get(token), self._lessons.get(token, [])
        is_lost, (target, _) = token in self._lost, self._ended_at.get(token, (0, nan))
        self._forget(token)
        if is_lost:
            return Outcome.OTHER
        if page is not None:
            outcome = page.outcome
            self._acknowledged.append(page)
        elif target:
            outcome = Outcome.REDIRECT
        told = self._to_told(page) if page is not None else False
        pooled = _from_lessons(page is not None, lessons) if self._teaches(page, lessons) else False
        self._pending.append(operation("acknowledge", token, outcome.value, told, target, pooled))
        # Nobody keeps the words of a crawl in Redis: what was learned is told by numbers.
        LEXICON.take_new()
        return outcome

    # --- what was learned, and notes ---------------------------------------------------------------------------

    def rescore(self) -> Callable[[], Callable[[], None]]:
        self.commit()
        rescoring = Rescoring(self._server, self._packing, self._prioritizer, most_waiting=self._most_waiting)
        return rescoring.run

    def save_model(self, name: str, data: Mapping[str, NDArray[Any]], order: int) -> None:
        raw = save_arrays(data)
        digest = _digest(raw)
        if self._call(operation("save_model", name, order, digest, raw))[0]:
            self._stamp = int.from_bytes(digest[:4], "big")

    def load_model(self, name: str) -> tuple[dict[str, NDArray[Any]], int] | None:
        kept = self._call(operation("load_model", name))[0]
        if not kept:
            return None
        _, upto, digest, raw = kept
        if _digest(raw) != digest:
            raise StoreBroken(f"the model {name!r} of {self._server.prefix[:-1]} in Redis is damaged: delete its key")
        self._loaded_stamp = int.from_bytes(digest[:4], "big")
        return load_arrays(raw), int(upto)

    def note(self, key: str, value: str) -> None:
        self._pending.append(operation("note", key, value))

    def noted(self, key: str) -> str | None:
        value = self._call(operation("noted", key))[0]
        return value.decode() if value else None

    def commit(self) -> None:
        if self._pending:
            self._call()

    def close(self) -> None:
        try:
            self._call(operation("leave"))
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of everything as if the process had died."""
        self._pending.clear()
        self._server.client.close()

    # --- inside ------------------------------------------------------------------------------------------------

    def _call(self, *operations: bytes) -> list[Any]:
        """Carry out what is pending and some more; the answers to the latter."""
        answers = self._server.call([*self._pending, *operations])
        self._pending.clear()
        self._acknowledged.clear()
        self._standing = answers.pop()
        return answers[len(answers) - len(operations) :]

    def _own_pages(self) -> list[PageRecord]:
        """Pages that Redis does not count yet."""
        return [*self._records.values(), *self._acknowledged]

    def _count(self, what: str) -> int:
        return int(self._standing.get(what.encode(), 0))

    def _is_wanted(self, known: _Seen) -> bool:
        if known.state == _DONE:
            return self._is_for_late(known)
        if known.state == _RESERVED or known.seen < self._most_pieces:
            return True
        return self._random.random() * (known.seen + 1) < self._most_pieces

    def _is_for_late(self, known: _Seen) -> bool:
        return not isnan(known.relevance) and known.seen < self._most_late

    def _count_unwanted(self, rows: list[tuple[int, _Seen]]) -> None:
        unwanted = [[known.key, link, known.seen + 1] for link, known in rows if known.state != _DONE]
        if unwanted:
            self._pending.append(operation("unwanted", unwanted))

    def _take(self, answer: dict[bytes, Any]) -> Lease:
        token, link = int(answer[b"token"]), int(answer[b"link"])
        self._hosts[int(answer[b"host"])] = answer[b"name"].decode("utf-8", "surrogatepass")
        self._pages_of[int(answer[b"host"])] = int(answer[b"pages"])
        lease = Lease(
            token,
            link,
            answer[b"url"].decode("utf-8", "surrogatepass"),
            int(answer[b"host"]),
            int(answer[b"depth"]),
            int(answer[b"source"]),
            score=answer[b"rank"] - answer[b"base"],
            tries=int(answer[b"tries"]),
            seed=answer[b"base"] == SEED_RANK,
            request=answer[b"request"] or None,
        )
        self._parents[token] = answer[b"parent"].decode("utf-8", "surrogatepass")
        if b"suspect" in answer:
            self._suspects.add(token)
        self._leases[token] = lease
        return lease

    def _forget(self, token: int) -> None:
        for kept in (self._leases, self._parents, self._records, self._led_here, self._ended_at, self._lessons):
            kept.pop(token, None)
        for tokens in (self._lost, self._suspects, self._returned):
            tokens.discard(token)

    def _evidence(self, link: int) -> tuple[Evidence, list[float]] | None:
        return self._decode(link, self._call(operation("evidence", int(link)))[0])

    def _decode(self, link: int, found: Any) -> tuple[Evidence, list[float]] | None:
        if not found:
            return None
        raw, sources = found
        evidence = self._packing.read([raw], np.array([link], np.int64)).evidence
        return (evidence, sources) if len(evidence) else None

    def _to_lessons(self, link: int, found: Any, relevance: float) -> Lessons | None:
        decoded = self._decode(link, found)
        if decoded is None:
            return None
        evidence, sources = decoded
        n, alive = len(evidence), not isnan(relevance)
        return Lessons(
            evidence,
            np.full(n, relevance if alive else 0.0, np.float32),
            np.array(sources, np.float32),
            np.full(n, 1 / n, np.float32),
            np.full(n, alive, np.bool_),
        )

    def _teaches(self, page: PageRecord | None, lessons: list[Lessons]) -> bool:
        """Pages count for whoever trains, also those that teach nothing."""
        return bool(lessons) or (page is not None and self._prioritizer.learns)

    @staticmethod
    def _is_found(page: PageRecord) -> bool:
        return page.outcome is Outcome.PAGE and page.relevance >= RELEVANT

    def _to_told(self, page: PageRecord) -> dict[str, Any]:
        return {
            "relevance": float(page.relevance),
            "url": page.url.encode("utf-8", "surrogatepass"),
            "found": int(self._is_found(page)),
            "item": json.dumps(page.item, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        }


def _key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _from_lessons(is_page: bool, lessons: list[Lessons]) -> bytes:
    if not lessons:
        return bytes([is_page])
    all_of_them = Lessons.concat(lessons)
    columns = (all_of_them.relevance, all_of_them.source_relevance, all_of_them.weight, all_of_them.alive)
    packed: bytes = msgpack.packb([all_of_them.evidence.to_bytes(), *(column.tobytes() for column in columns)])
    return bytes([is_page]) + packed


def _to_pooled(number: int, data: bytes) -> Pooled:
    if len(data) == 1:
        return Pooled(number, bool(data[0]), None)
    evidence, *columns = msgpack.unpackb(data[1:])
    relevance, source_relevance, weight = (np.frombuffer(column, np.float32).copy() for column in columns[:3])
    alive = np.frombuffer(columns[3], np.bool_).copy()
    lessons = Lessons(Evidence.from_bytes(evidence), relevance, source_relevance, weight, alive)
    return Pooled(number, bool(data[0]), lessons)
