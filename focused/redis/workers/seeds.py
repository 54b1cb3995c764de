"""Seeds that are pushed to a list in Redis while the crawl runs, as scrapy-redis reads them.

They are read, admitted, and only then taken away. A worker that dies in between leaves them for another, to which they
are known or not: what two of them read is admitted once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError
from scrapy import FormRequest, Request
from scrapy.crawler import Crawler
from scrapy_redis import defaults

from focused.addresses import to_url
from focused.redis.server import Server
from focused.scheduling.requests import META

logger = logging.getLogger(__name__)

_AT_ONCE = 100
# A list of nothing but nonsense shall not fill the log.
_MOST_TOLD = 100


class PushedSeeds:
    """The list (or set, or sorted set: REDIS_START_URLS_AS_SET, REDIS_START_URLS_AS_ZSET) of pushed seeds."""

    def __init__(self, crawler: Crawler, server: Server, key: str) -> None:
        settings = crawler.settings
        self.crawler, self.key, self._server = crawler, key, server
        self._encoding: str = settings.get("REDIS_ENCODING") or defaults.REDIS_ENCODING
        self._as_set = settings.getbool("REDIS_START_URLS_AS_SET", defaults.START_URLS_AS_SET)
        self._as_zset = settings.getbool("REDIS_START_URLS_AS_ZSET", defaults.START_URLS_AS_ZSET)
        self._is_readable = True

    def take(self, is_safe: Callable[[], bool]) -> int:
        """Admit what was pushed; how much it was. What was admitted is taken away when ``is_safe`` says that it is."""
        taken = 0
        while found := self._read():
            for data in found:
                self._admit(data)
            if not is_safe():
                break
            self._server.wait_for(lambda: self._remove(found))
            taken += len(found)
            if len(found) < _AT_ONCE:
                break
        if taken:
            logger.info("%d entries of %r were taken in", taken, self.key)
        return taken

    def _read(self) -> list[bytes]:
        if not self._is_readable:
            return []
        try:
            found: list[bytes] = self._server.wait_for(self._look)
        except ResponseError as error:
            self._is_readable = False
            logger.warning(
                "Seeds pushed to %r cannot be read (%s): see REDIS_START_URLS_AS_SET, …_AS_ZSET", self.key, error
            )
            return []
        return found

    def _look(self) -> Any:
        client: Redis = self._server.client
        if self._as_set:
            return client.srandmember(self.key, _AT_ONCE)
        if self._as_zset:
            return client.zrevrange(self.key, 0, _AT_ONCE - 1)
        return client.lrange(self.key, 0, _AT_ONCE - 1)

    def _remove(self, found: list[bytes]) -> None:
        client: Redis = self._server.client
        if self._as_set:
            client.srem(self.key, *found)
        elif self._as_zset:
            client.zrem(self.key, *found)
        else:
            with client.pipeline(transaction=False) as pipe:
                for data in found:
                    pipe.lrem(self.key, 1, data)  # type: ignore[arg-type]  # bytes are as good as texts
                pipe.execute()

    def _admit(self, data: bytes) -> None:
        stats = self.crawler.stats
        try:
            self.crawler.engine.crawl(self._to_request(data))
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            # Whatever stands in it: what was pushed behind it is read.
            if stats.get_value("focused/seed/refused", 0) < _MOST_TOLD:
                logger.warning("What was pushed to %r is no seed (%s): %r", self.key, error, data[:200])
            stats.inc_value("focused/seed/refused")
            return
        stats.inc_value("focused/seed/pushed")

    def _to_request(self, data: bytes) -> Request:
        """An address alone, or JSON with url, and if need be method, meta, and what is sent as a form."""
        text = data.decode(self._encoding).strip()
        form = json.loads(text) if text.startswith("{") else {"url": text}
        url, method, meta = form.pop("url", None), form.pop("method", "GET"), form.pop("meta", {})
        if not isinstance(url, str) or not isinstance(method, str) or not isinstance(meta, dict):
            raise TypeError("url and method are texts, meta is an object")
        url, meta = to_url(url), {**_own(meta), "is_start_request": True}
        if not form and method.upper() == "GET":
            return Request(url, meta=meta)
        return FormRequest(url, method=method.upper(), formdata=_form(form), meta=meta)


def _own(meta: dict[str, Any]) -> dict[str, Any]:
    """The meta of others: not what this crawler keeps there, and a depth that can be counted on."""
    depth = meta.get("depth", 0)
    if not isinstance(depth, int) or depth < 0:
        raise TypeError(f"the depth {depth!r} is no number")
    return {name: value for name, value in meta.items() if name != META}


def _form(fields: dict[str, Any]) -> dict[str, Any]:
    """What a form can hold: texts, and lists of texts."""
    return {
        name: [str(each) for each in value] if isinstance(value, list) else str(value) for name, value in fields.items()
    }
