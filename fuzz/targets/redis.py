"""What Redis holds of a crawl, as somebody else may have written it: the first byte chooses which of it is read.

Held: whatever is not what a worker wrote ends in the exceptions that the callers turn into one sentence, and what is
read is consistent: rows within what they point into, numbers that are finite, requests that were imported before.
Evidence that was written is read back, as far as it is looked at.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import msgpack
import numpy as np
from scrapy import Request
from scrapy.settings import Settings
from scrapy.spiders import Spider
from scrapy.statscollectors import DummyStatsCollector

from focused.arrays import Damaged
from focused.frontier.store import Answer, JobRefused, Outcome, Says
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons
from focused.prioritizers.best_first import BestFirst
from focused.redis.lessons import bytes_to_pooled, pooled_to_bytes
from focused.redis.reading.reader import RedisReader
from focused.redis.records import HEAD, Packing, answer_to_bytes, body, bytes_to_answer
from focused.redis.server import UNREADABLE, CrawlDamaged, Server, operation
from focused.redis.workers.seeds import PushedSeeds
from focused.scheduling.requests import BadRequest, request_from_bytes, request_to_bytes

BETWEEN = b"\xfd\xfe\xff"
BITS = (8, 17, 18, 20, 24, 32)
SPIDER = Spider("fuzz")


def some_evidence(rows: int = 3, width: int = 2) -> Evidence:
    starts = np.arange(rows + 1, dtype=np.int64) * 2
    ids = np.arange(rows * 2, dtype=np.uint32) * np.uint32(0x9E3779B1)
    numbers = np.arange(rows * width, dtype=np.float32).reshape(rows, width) / np.float32(7)
    return Evidence.of(starts, ids, numbers)


def some_record(pieces: list[bytes], url: bytes = b"http://h.example/") -> bytes:
    head = np.zeros(1, HEAD)
    head["state"], head["kept"], head["host"], head["length"] = 1, len(pieces), 5, len(url)
    return head.tobytes() + body(url, b"") + b"".join(pieces)


# --- one reader each -----------------------------------------------------------------------------------------------


def check_lessons(data: bytes) -> None:
    try:
        pooled = bytes_to_pooled(1, data)
    except UNREADABLE:
        return
    if pooled.lessons is None:
        return
    check_rows(pooled.lessons.evidence)
    again = bytes_to_pooled(1, pooled_to_bytes(pooled.is_page, [pooled.lessons], pooled.version)).lessons
    assert again is not None
    assert again.evidence.to_bytes() == pooled.lessons.evidence.to_bytes()
    assert (again.weight == pooled.lessons.weight).all()


def lessons_to_begin_with() -> Iterator[bytes]:
    evidence = some_evidence()
    yield pooled_to_bytes(True, [])
    yield pooled_to_bytes(True, [Lessons.of_page(evidence, 0.5, np.zeros(len(evidence), np.float32))], 3)


def check_records(data: bytes) -> None:
    bits, raw = BITS[(data[:1] or b"\0")[0] % len(BITS)], data[1:].split(BETWEEN)
    try:
        records = Packing(bits).read(raw, np.arange(len(raw)))
    except UNREADABLE:
        return
    assert len(records.state) == len(records.base) == len(raw)
    assert len(records.rows) == len(records.heads) == len(records.evidence)
    assert ((records.rows >= 0) & (records.rows < len(raw))).all()
    check_rows(records.evidence)


def records_to_begin_with() -> Iterator[bytes]:
    for i, bits in enumerate(BITS):
        pieces = Packing(bits).pieces(some_evidence(), 7)
        yield bytes([i]) + BETWEEN.join([some_record(pieces[:2]), some_record([]), some_record(pieces)])


def check_written(data: bytes) -> None:
    """Evidence with these ids, through a record and back."""
    bits, rows = BITS[(data[:1] or b"\0")[0] % len(BITS)], (data[1:2] or b"\0")[0] % 5 + 1
    ids = np.frombuffer(data[2 : 2 + (len(data) - 2) // 4 * 4] if len(data) > 2 else b"", "<u4")
    cuts = np.linspace(0, len(ids), rows + 1).astype(np.int64)
    evidence = Evidence.of(cuts, ids, np.arange(rows, dtype=np.float32))
    packing = Packing(bits)
    read = packing.read([some_record(packing.pieces(evidence, 7), data[:9])], np.array([4])).evidence
    assert read.starts.tolist() == cuts.tolist()
    assert (read.ids >> np.uint32(32 - bits) == ids >> np.uint32(32 - bits)).all()
    assert (read.dense == evidence.dense).all()


def written_to_begin_with() -> Iterator[bytes]:
    for i in range(len(BITS)):
        yield bytes([i, i]) + bytes(range(64))


def check_evidence(data: bytes) -> None:
    try:
        evidence = Evidence.from_bytes(data)
    except Damaged as error:
        assert str(error)
        return
    check_rows(evidence)
    assert Evidence.from_bytes(evidence.to_bytes()).to_bytes() == evidence.to_bytes()


def check_rows(evidence: Evidence) -> None:
    n = len(evidence)
    assert evidence.starts[0] == 0
    assert evidence.starts[-1] == len(evidence.ids)
    assert (np.diff(evidence.starts) >= 0).all()
    assert len(evidence.dense) == len(evidence.leaf) == len(evidence.link) == len(evidence.source) == n
    for row in range(min(n, 5)):
        assert len(evidence.row(row)) == 1


def check_answer(data: bytes) -> None:
    try:
        answer = bytes_to_answer(3, data)
    except UNREADABLE:
        return
    assert isinstance(answer.said, Says)
    assert bytes_to_answer(3, answer_to_bytes(answer)) == answer


def check_request(data: bytes) -> None:
    try:
        request = request_from_bytes(data, SPIDER)
    except BadRequest as error:
        assert str(error)
        return
    assert isinstance(request, Request)


def requests_to_begin_with() -> Iterator[bytes]:
    request = Request(
        "http://a.example/?x", method="POST", body=b"x", headers={"A": "b"}, meta={"a": [1]}, cookies={"c": "d"}
    )
    yield request_to_bytes(request, SPIDER)
    yield msgpack.packb({"url": "http://a.example/", "_class": "os.system", "callback": "parse", "priority": 1 << 60})


class _Stats(DummyStatsCollector):
    """Counts nothing, and says that enough was logged."""

    def __init__(self) -> None:
        pass

    def get_value(self, key: str, default: Any = None, spider: Any = None) -> Any:
        return 1_000


def check_seed(data: bytes) -> None:
    admitted: list[Request] = []
    engine = SimpleNamespace(crawl=admitted.append)
    crawler = SimpleNamespace(settings=Settings({"FOCUSED_SEED_META": "job"}), stats=_Stats(), engine=engine)
    PushedSeeds(crawler, SimpleNamespace(), "key")._admit(data)  # type: ignore[arg-type]  # stand-ins
    for request in admitted:
        assert request.url.startswith(("http://", "https://"))
        assert request.method in {"GET", "POST"}
        assert set(request.meta) <= {"depth", "job", "is_start_request"}


def seeds_to_begin_with() -> Iterator[bytes]:
    yield b"http://a.example/\xc3\xa9"
    for form in (
        {"meta": {"depth": 1, "job": 3}},
        {"method": "post", "q": ["a", 1]},
        {"meta": {"proxy": "x"}},
        {"method": 3},
    ):
        yield json.dumps({"url": "http://a.example/", **form}).encode()


def check_call(data: bytes) -> None:
    """The answer of the store's script."""
    server = Server(_Client([data]), "fuzz", "one", {})  # type: ignore[arg-type]  # a stand-in
    try:
        server.call([operation("beat")])
    except CrawlDamaged as error:
        assert "Restore it from a copy, or begin anew" in str(error)


def calls_to_begin_with() -> Iterator[bytes]:
    standing = {"pages": 3, "waiting": 2, "relevance": 0.5, "model": 1}
    yield msgpack.packb([1, standing])
    yield msgpack.packb([1, {**standing, "pages": float("nan")}])


class _Client:
    """A client of Redis that answers with given values, whatever it is asked, and then with nothing."""

    def __init__(self, values: list[bytes]) -> None:
        self._values = values

    def _next(self, *_: Any, **__: Any) -> bytes | None:
        value = self._values.pop(0) if self._values else None
        return value or None

    def _pair(self) -> tuple[bytes, bytes]:
        return self._next() or b"", self._next() or b""

    hget = get = fcall = _next

    def set_retry(self, retry: Any) -> None:
        pass

    def hmget(self, key: str, fields: list[Any]) -> list[bytes | None]:
        return [self._next() for _ in fields]

    def hlen(self, key: str) -> int:
        return 3

    llen = scard = zcard = hlen

    def type(self, key: str) -> bytes:
        return b"list"

    def hscan_iter(self, key: str, **_: Any) -> Iterator[tuple[bytes, bytes]]:
        while self._values:
            yield self._pair()

    def zrange(self, key: str, *_: Any, withscores: bool = False) -> list[Any]:
        found = [self._next() or b"" for _ in range(min(len(self._values), 2))]
        return [(member, 0.5) for member in found] if withscores else found

    def eval_ro(self, script: str, keys: int, *arguments: Any) -> Any:
        if len(arguments) > 4:
            return self._next() or b""
        found = [each for _ in range(min(len(self._values) // 2, 3)) for each in self._pair()]
        return [b"0", found]


READINGS: tuple[Callable[[RedisReader], Any], ...] = (
    lambda reader: reader.status(),
    lambda reader: reader.about(),
    lambda reader: reader.page_count(),
    lambda reader: reader.page_table(),
    lambda reader: reader.pages([1, 2]),
    lambda reader: list(reader.items()),
    lambda reader: reader.link_at("http://a.example/"),
    lambda reader: reader.link(3),
    lambda reader: reader.waiting_links(BestFirst()),
    lambda reader: reader.details(Outcome.DEAD, 5),
    lambda reader: reader.learned_state(),
    lambda reader: reader.words(),
    lambda reader: reader.evidence_of(1, 2),
)


def check_reader(data: bytes) -> None:
    """What the commands show of a crawl."""
    reading = READINGS[(data[:1] or b"\0")[0] % len(READINGS)]
    reader = RedisReader(_Client(data[1:].split(BETWEEN)), "fuzz", "redis://h/", Settings())  # type: ignore[arg-type]
    try:
        reading(reader)
    except JobRefused as error:
        assert str(error)


def readings_to_begin_with() -> Iterator[bytes]:
    record = some_record(Packing(32).pieces(some_evidence(), 7))
    page = struct.pack("<dBIIIHB", 0.5, 1, 1, 1, 1, 0, 3) + b"yeshttp://a.example/"
    link = (1).to_bytes(4, "big")
    values = {
        0: [b"status", msgpack.packb(SOME_STATUS)],
        3: [b"", link, page, link, b"a.example"],
        4: [b"", page, page, b'{"title": "x", "score": 0.5}', b"{}", answer_to_bytes(ANSWER)],
        5: [b"2", b"0", b'{"url": "http://a.example/"}', b"[]"],
        6: [b"", link, record, b"a.example"],
        7: [record, b"", b"a.example", link],
        8: [b"", link, record[:44], link, record[:44], link],
        9: [link, bytes([2, 3]) + b"404"],
        10: [b"3", b"data"],
        11: [b"18", link, b"word"],
        12: [record, record, b"32"],
    }
    for number in range(len(READINGS)):
        yield bytes([number]) + BETWEEN.join(values.get(number, [b"1", b'{"topic": "x"}']))


ANSWER = Answer(3, Says("yes"), "me", "2024-01-01T00:00:00+00:00", 0.5)
SOME_STATUS: dict[str, Any] = {
    "meta": [["of:format", "1"], ["of:topic", "x (1)"], ["heard", "5"], ["clock", "9"], ["pages", "2"]],
    "about": "",
    "time": ["9", "1"],
    "workers": [["one", "3", 2]],
    "recent": [["0", struct.pack("<IId", 2, 1, 0.5).decode("latin-1")]],
    "hosts": [["a.example", 3]],
    "hosts_waiting": 1,
    "unfollowed": "3",
    "outcomes": [["1", "2"]],
    "model": ["1", "2"],
    "pooled": 3,
    "said": [answer_to_bytes(ANSWER).decode()],
    "memory": {"order": 1, "queued": 2, "links": 3, "ids": 4, "others": 5},
    "server": "used_memory:1\r\nmaxmemory:0",
    "seen": 2,
}

Check = Callable[[bytes], None]
READERS: tuple[tuple[Check, Callable[[], Iterator[bytes]]], ...] = (
    (check_lessons, lessons_to_begin_with),
    (check_records, records_to_begin_with),
    (check_written, written_to_begin_with),
    (check_evidence, lambda: iter([some_evidence().to_bytes(), some_evidence(0).to_bytes()])),
    (check_answer, lambda: iter([answer_to_bytes(ANSWER), b'["no", "", "", NaN]', b"[[1]]"])),
    (check_request, requests_to_begin_with),
    (check_seed, seeds_to_begin_with),
    (check_call, calls_to_begin_with),
    (check_reader, readings_to_begin_with),
)


def seeds() -> Iterator[bytes]:
    for number, (_, to_begin_with) in enumerate(READERS):
        for data in to_begin_with():
            yield bytes([number]) + data


def check(data: bytes) -> None:
    READERS[(data[:1] or b"\0")[0] % len(READERS)][0](data[1:])
