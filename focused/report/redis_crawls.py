"""The crawls on a Redis server, for those who only look: where it is, which there are, how each stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

from redis import Redis
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from scrapy.settings import BaseSettings
from scrapy_redis.connection import get_redis_from_settings
from scrapy_redis.defaults import START_URLS_KEY

from focused.frontier.redis_server import crawls_on
from focused.frontier.store import JobRefused
from focused.report.redis_status import RedisStatus, StartList, read_redis_status

# Nobody waits for half a minute to be told that there is no server.
_TIMEOUT = 5
# By its name the seeds are asked for that others push.
_SPIDER = "focused"


class RedisCrawls:
    """The server is where ``url`` says; how to talk to it (REDIS_PARAMS) is what Scrapy's settings say.

    JobRefused where there is no answer, or no such crawl. ``place`` is what to call the server.
    """

    def __init__(self, url: str, settings: BaseSettings) -> None:
        _check(url)
        self.place = _without_secrets(url)
        self._settings = settings.copy()
        timeouts = {"socket_timeout": _TIMEOUT, "socket_connect_timeout": _TIMEOUT}
        self._settings.set("REDIS_PARAMS", {**timeouts, **settings.getdict("REDIS_PARAMS")}, "cmdline")
        self._settings.set("REDIS_URL", url, "cmdline")
        with self._told_clearly():
            self._client: Redis = get_redis_from_settings(self._settings)

    def names(self) -> list[str]:
        """The names of the crawls."""
        with self._told_clearly():
            return sorted(set(crawls_on(self._client)))

    def read(self, crawl: str) -> RedisStatus:
        """How a crawl stands now."""
        with self._told_clearly():
            status = read_redis_status(self._client, crawl, server=self.place, start_urls=self._start_urls(crawl))
        if status is None:
            names = ", ".join(map(repr, self.names())) or "none"
            raise JobRefused(f"there is no crawl {crawl!r} at {self.place}; there is: {names}")
        return status

    def _start_urls(self, crawl: str) -> StartList:
        pattern = self._settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY
        key = pattern % {"name": _SPIDER, "crawl": crawl}
        count = {b"list": self._client.llen, b"set": self._client.scard, b"zset": self._client.zcard}
        kind = self._client.type(key)
        return StartList(key, count[kind](key) if kind in count else 0)

    @contextmanager
    def _told_clearly(self) -> Iterator[None]:
        try:
            yield
        except (ResponseError, AuthenticationError) as error:
            raise JobRefused(f"the Redis server at {self.place} refuses: {error}") from error
        except (RedisError, OSError, ValueError) as error:
            raise JobRefused(f"no Redis server answers at {self.place}: {error}") from error


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_one = parts.scheme == "unix" or (
            parts.scheme in {"redis", "rediss"} and parts.port != 0 and re.fullmatch(r"(/[0-9]*)?", parts.path)
        )
    except ValueError:
        is_one = False
    if not is_one:
        raise JobRefused(f"{_without_secrets(url)!r} is not the address of a Redis server: give redis://HOST:PORT/DB")


def _without_secrets(url: str) -> str:
    """The address without its password, and without options: they may hold one, too."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
