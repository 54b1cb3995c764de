"""The figures of a crawl in Redis: read by one script, all of one moment and within a few milliseconds.

Whoever asks gives no sign of life and writes nothing, however large the frontier is. Memory is estimated from some
entries of each key.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from math import isfinite
from time import monotonic
from typing import Any

import msgpack
from redis import Redis

from focused.defaults import DEFAULTS
from focused.redis.reading.status import MemoryStatus, RedisStatus, StartList, WorkerStatus
from focused.redis.records import bytes_to_answer
from focused.redis.server import prefix_of
from focused.report.status import (
    CUT_SHORT,
    ENDED,
    RUNNING,
    UNFOLLOWED,
    AnswerCounts,
    HostWaiting,
    made_as,
    outcomes_by_name,
    per_minute,
    rounded,
)
from focused.scheduling.starts import ABOUT, parse_about
from focused.visits.training import MODEL

_SCRIPT = (files("focused.redis.reading") / "status.lua").read_text("utf-8")
# As the store's script counts them: pages of so many spans of so many seconds.
_SPAN, _SPANS = 10, 30
# Pages, duplicates among them, the sum of R of the others.
_RECENT = struct.Struct("<IId")
_BYTES = "surrogateescape"
# Of so many entries the memory of a key is estimated, and of so many hosts that of all their keys.
_ENTRIES, _SOME_HOSTS = 100, 50


def read_redis_status(
    client: Redis,
    crawl: str,
    server: str,
    start_urls: StartList,
    most_hosts: int,
    *,
    told: Mapping[str, Any] | None = None,
) -> RedisStatus | None:
    """The status of a crawl now; None if there is no such crawl. ``server`` is what to call the place."""
    began = monotonic()
    meta = f"{prefix_of(crawl)}meta"
    packed = client.eval_ro(_SCRIPT, 1, meta, MODEL, ABOUT, UNFOLLOWED, most_hosts, _ENTRIES, _SOME_HOSTS)
    # Some of it is bytes, which come back by the same way.
    found = _Found(msgpack.unpackb(packed, unicode_errors=_BYTES))
    if not found.is_there:
        return None
    return RedisStatus(
        crawl=crawl,
        server=server,
        start_urls=start_urls,
        **found.workers(),
        **found.made(),
        **found.pages(),
        **found.links(),
        **found.learned(),
        answers=found.answers(),
        **(told or {}),
        memory=found.memory(),
        read=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(monotonic() - began, 3),
    )


class _Found:
    """What the script has read."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.meta: dict[str, str] = dict(raw["meta"])
        self._about: dict[str, Any] = parse_about(raw["about"]) if raw["about"] else {}
        seconds, microseconds = map(int, raw["time"])
        # Nobody has called for so long; meanwhile the clock of the crawl is stopped.
        self._silence = max(seconds + microseconds / 1e6 - self._number("heard"), 0.0)
        self._clock = self._number("clock")

    @property
    def is_there(self) -> bool:
        return "of:format" in self.meta

    def workers(self) -> dict[str, Any]:
        now = self._clock + self._silence
        trains = self._number("trains_until") > self._clock
        trainer = self.meta["trainer"] if trains and "trainer" in self.meta else None
        workers = [
            WorkerStatus(
                name=name,
                leases=leases,
                silent=round(now - _finite(sign), 1),
                alive=now - _finite(sign) < self._setting("FOCUSED_LEASE_SECONDS"),
                trains=name == trainer,
            )
            for name, sign, leases in self.raw["workers"]
        ]
        state = RUNNING if any(worker.alive for worker in workers) else CUT_SHORT if workers else ENDED
        return {
            "state": state,
            "ran": round(self._clock, 1),
            "workers": sorted(workers, key=lambda worker: worker.name),
            "trainer": trainer,
        }

    def made(self) -> dict[str, Any]:
        # Before anything is noted of how it was made, it is known at least whose it is.
        made = {what: self.meta.get(f"of:{what}", "") for what in ("topic", "prioritizer", "critic")}
        return made_as(self._about) if self._about else made | {"topic": made["topic"].rpartition(" (")[0]}

    def pages(self) -> dict[str, Any]:
        pages = self._count("pages")
        first = max(int(self._clock // _SPAN) - _SPANS + 1, 0)
        lately = [value.encode(errors=_BYTES) for span, value in self.raw["recent"] if int(span) >= first]
        columns = zip((0, 0, 0.0), *map(_RECENT.unpack, lately), strict=True)
        recent_pages, copies, relevance = map(sum, columns)
        judged, judged_lately = pages - self._count("duplicates"), recent_pages - copies
        wanted = self._number("relevance")
        return {
            "pages": pages,
            "relevant": self._count("found"),
            "relevant_now": None,
            "wanted": rounded(wanted),
            "harvest": rounded(wanted / judged if judged else None),
            "harvest_now": rounded(relevance / judged_lately if judged_lately else None),
            "pace": per_minute(pages, self._clock) if pages else None,
            "pace_now": per_minute(recent_pages, self._clock - first * _SPAN) if pages else None,
        }

    def links(self) -> dict[str, Any]:
        hosts = self.raw["hosts"]
        return {
            "unfollowed": int(self.raw["unfollowed"] or 0),
            "outcomes": outcomes_by_name({int(outcome): int(count) for outcome, count in self.raw["outcomes"]}),
            "waiting": self._count("waiting"),
            "leased": self._count("leased"),
            "hosts_waiting": self.raw["hosts_waiting"],
            "waiting_by_host": [HostWaiting(name, int(links)) for name, links in hosts],
            **{what: self._count(what) for what in ("dropped", "taken_back", "refused")},
        }

    def learned(self) -> dict[str, Any]:
        version, upto = self.raw["model"]
        return {
            "model": int(version) if version else None,
            # Lessons that the model knows are removed, and counted.
            "pooled": self._count("lessons") + self.raw["pooled"],
            "learned": int(upto) if upto else 0,
        }

    def answers(self) -> AnswerCounts | None:
        said = (bytes_to_answer(0, raw.encode(errors=_BYTES)) for raw in self.raw["said"])
        return AnswerCounts.of((one.said, one.relevance) for one in said)

    def memory(self) -> MemoryStatus:
        memory = self.raw["memory"]
        server = dict(line.split(":", 1) for line in self.raw["server"].split("\r\n") if ":" in line)
        waiting, queued, seen = self._count("waiting"), memory["queued"], self.raw["seen"]
        order = memory["order"] / queued if queued else 0.0
        is_known = waiting and seen
        link = order + memory["links"] / (waiting + self._count("leased")) + memory["ids"] / seen if is_known else None
        return MemoryStatus(
            crawl=round(memory["links"] + memory["ids"] + memory["others"] + order * waiting),
            link=None if link is None else round(link),
            most_waiting=self._setting("FOCUSED_MOST_WAITING"),
            server=int(server["used_memory"]),
            most=int(server["maxmemory"]),
        )

    def _count(self, what: str) -> int:
        return round(self._number(what))

    def _number(self, what: str) -> float:
        return _finite(self.meta.get(what, 0))

    def _setting(self, name: str) -> Any:
        """One of our settings as the workers have it, if they have recorded it."""
        return self._about.get("settings", {}).get(name, DEFAULTS[name])


def _finite(text: Any) -> float:
    """A number with which figures can be made; ValueError if it is none."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text!r} is not a number")
    return number
