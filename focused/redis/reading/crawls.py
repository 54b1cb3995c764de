"""The crawls on a Redis server, for those who only look: which there are, how each stands, and what it has found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from focused.frontier.resume import MODEL
from focused.frontier.store import JobRefused
from focused.redis.reading.source import RedisSource, items_of
from focused.redis.reading.status import RedisStatus, StartList, read_redis_status
from focused.redis.server import crawls_on, prefix_of
from focused.redis.workers.connection import connect, server_name, start_urls_key
from focused.report.html import write_report_of

# By its spider's name the seeds are asked for that others push.
_SPIDER = "focused"


class RedisCrawls:
    """The server is where ``url`` says; how to talk to it (REDIS_PARAMS) is what Scrapy's settings say.

    JobRefused where there is no answer, or no such crawl. ``place`` is what to call the server.
    """

    def __init__(self, url: str, settings: BaseSettings) -> None:
        self._settings = settings.copy()
        self._settings.set("REDIS_URL", url, "cmdline")
        self.place = server_name(self._settings)
        if not _is_address(url):
            raise JobRefused(f"{self.place!r} is not the address of a Redis server: give redis://HOST:PORT/DB")
        self._client = connect(self._settings, key="")

    def names(self) -> list[str]:
        """The names of the crawls."""
        with self._told_clearly():
            return sorted(set(crawls_on(self._client)))

    def one(self, name: str | None) -> str:
        """The crawl of this name; without a name, the only one that there is."""
        names = self.names()
        if name is None and len(names) > 1:
            told = ", ".join(names)
            raise JobRefused(f"there are {len(names)} crawls at {self.place}: name one with --crawl ({told})")
        if not names or (name is not None and name not in names):
            raise self._none(name)
        return name or names[0]

    def read(self, crawl: str) -> RedisStatus:
        """How a crawl stands now."""
        with self._told_clearly():
            start_urls = self._start_urls(crawl)
            status = read_redis_status(self._client, crawl, server=self.place, start_urls=start_urls)
        if status is None:
            raise self._none(crawl)
        return status

    def items(self, crawl: str) -> Iterator[dict[str, Any]]:
        """The items of all its workers, in the order of fetching."""
        with self._told_clearly():
            yield from items_of(self._client, crawl)

    def report(self, crawl: str, path: Path) -> None:
        """Write a crawl's report."""
        status = self.read(crawl)
        with self._told_clearly():
            write_report_of(RedisSource(self._client, status), path)

    def learned(self, crawl: str) -> bytes:
        """The model that its workers share; b'' if there is none."""
        with self._told_clearly():
            data = self._client.hget(f"{prefix_of(crawl)}model:{MODEL}", "data")
        return data if isinstance(data, bytes) else b""

    def _none(self, crawl: str | None) -> JobRefused:
        if crawl is None:
            return JobRefused(f"there is no crawl at {self.place}")
        names = ", ".join(map(repr, self.names())) or "none"
        return JobRefused(f"there is no crawl {crawl!r} at {self.place}; there is: {names}")

    def _start_urls(self, crawl: str) -> StartList:
        key = start_urls_key(_SPIDER, crawl, self._settings)
        count = {b"list": self._client.llen, b"set": self._client.scard, b"zset": self._client.zcard}
        kind = self._client.type(key)
        return StartList(key, count[kind](key) if kind in count else 0)

    @contextmanager
    def _told_clearly(self) -> Iterator[None]:
        try:
            yield
        except (RedisError, OSError) as error:
            raise JobRefused(f"Redis at {self.place} does not tell ({error})") from error


def _is_address(url: str) -> bool:
    """A wrong number of the database would be taken for none."""
    try:
        parts = urlsplit(url)
        if parts.scheme == "unix":
            return True
        return parts.scheme in {"redis", "rediss"} and parts.port != 0 and bool(re.fullmatch("(/[0-9]*)?", parts.path))
    except ValueError:
        return False
