"""What a report of a crawl in Redis is made from, which is less than a job keeps.

Of a link that ended without a page it is only known how, features are nothing but numbers, and of the starts of the
workers nothing tells which page is whose.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from redis import Redis

from focused.frontier.starts import ABOUT
from focused.frontier.store import Outcome
from focused.redis.reading.status import RedisStatus
from focused.redis.reading.status_text import state_in_words
from focused.redis.server import prefix_of
from focused.report.learned import AtOffset, Model
from focused.report.source import ClassLine, Judged, PageLine, Source, StartLine

# As the store's script writes it, before the address.
_PAGE = np.dtype([("relevance", "<f4"), ("outcome", "u1"), ("order", "<u4"), ("host", "<u4")])
_AT_ONCE = 1_000


def items_of(client: Redis, crawl: str) -> Iterator[dict[str, Any]]:
    """The items of all workers of a crawl, in the order of fetching."""
    prefix = prefix_of(crawl)
    last = int(client.hget(f"{prefix}meta", "order") or 0)
    for first in range(1, last + 1, _AT_ONCE):
        orders = [str(order) for order in range(first, first + _AT_ONCE)]
        yield from (json.loads(item) for item in client.hmget(f"{prefix}items", orders) if item)


class RedisSource(Source):
    """A crawl as it is kept in Redis, and stands by its ``status``."""

    def __init__(self, client: Redis, status: RedisStatus) -> None:
        self._client = client
        self._status = status
        self._prefix = prefix_of(status.crawl)
        self.place = f"{status.crawl}, at {status.server}"

    def about(self) -> dict[str, Any] | None:
        text = self._client.hget(f"{self._prefix}notes", ABOUT)
        about: dict[str, Any] | None = json.loads(text) if text else None
        return about

    def judged(self) -> Judged:
        heads = bytearray()
        for _, page in self._client.hscan_iter(f"{self._prefix}pages", count=_AT_ONCE):
            heads += page[: _PAGE.itemsize]
        pages = np.frombuffer(heads, _PAGE)
        # In order, and each once: what is scanned while it grows may come twice.
        pages = pages[np.unique(pages["order"], return_index=True)[1]]
        numbers, host = np.unique(pages["host"], return_inverse=True)
        names = self._names()
        return Judged(
            order=pages["order"].astype(np.int64),
            relevance=pages["relevance"].astype(np.float64),
            is_new=pages["outcome"] == Outcome.PAGE,
            host=host.astype(np.int64),
            hosts=[names[number.to_bytes(4, "big")] for number in numbers.tolist()],
        )

    def page(self, order: int) -> PageLine:
        item = json.loads(self._client.hget(f"{self._prefix}items", str(order)) or "{}")
        return PageLine(
            order, item.get("url", ""), item.get("title") or "", item.get("relevance", 0.0), item.get("class") or ""
        )

    def classes(self, most: int) -> list[ClassLine]:
        pages, sums = Counter[str](), Counter[str]()
        for item in items_of(self._client, self._status.crawl):
            if item.get("class"):
                pages[item["class"]] += 1
                sums[item["class"]] += item["relevance"]
        names = sorted(pages, key=lambda name: (-pages[name], name))
        return [ClassLine(name, pages[name], sums[name] / pages[name]) for name in names[:most]]

    def waiting(self) -> int:
        return self._status.waiting + self._status.leased

    def waiting_by_host(self) -> dict[str, int]:
        crowds = list(self._client.zscan_iter(f"{self._prefix}crowds", count=_AT_ONCE))
        names = self._names()
        return {names[number]: int(links) for number, links in crowds}

    def outcomes(self) -> dict[Outcome, int]:
        return {Outcome[name.upper()]: count for name, count in self._status.outcomes.items() if count}

    def details(self, outcome: Outcome, most: int) -> list[tuple[str, int]]:
        return []

    def starts(self) -> list[StartLine]:
        return []

    def ended(self) -> str:
        state = state_in_words(self._status)
        return f"{state[0].upper()}{state[1:]}."

    def learned(self) -> tuple[Model, list[AtOffset]] | None:
        return None

    def _names(self) -> dict[bytes, str]:
        """The hosts by their numbers; those of all that was read before."""
        names = self._client.hscan_iter(f"{self._prefix}names", count=_AT_ONCE)
        return {number: name.decode("utf-8", "replace") for number, name in names}
