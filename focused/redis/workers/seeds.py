"""Seeds that are pushed to a list in Redis while the crawl runs, as scrapy-redis reads them.

They are read, admitted, and only then taken away. A worker that dies in between leaves them for another, to which they
are known or not: what two of them read is admitted once.

Whoever may push need not be whoever runs the crawl. An entry says where to begin, and nothing of how pages are fetched:
an address, a method, a form, the depth, and the keys of `meta` that FOCUSED_SEED_META names. An entry that asks for
more, is too long, or cannot be read is dropped, counted and logged; the entries after it are taken.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import msgpack
from redis import Redis
from redis.exceptions import ResponseError
from scrapy import FormRequest, Request
from scrapy.crawler import Crawler
from scrapy_redis import defaults

from focused.addresses import to_url
from focused.defaults import read
from focused.redis.server import Server
from focused.report.text import short
from focused.scheduling.requests import META

logger = logging.getLogger(__name__)

# So many entries, and bytes of them, are read at once, and so many entries one after the other: the crawl waits.
_AT_ONCE, _BYTES_AT_ONCE = 100, 1_000_000
_MOST = 1_000
_LONGEST = 65_536
_DEEPEST = 65_535
# A list of nothing but nonsense shall not fill the log.
_MOST_LOGGED, _SHOWN = 100, 100
_METHODS = ("GET", "POST")
_PLAIN = (str, int, float)


class PushedSeeds:
    """The list (or set, or sorted set: REDIS_START_URLS_AS_SET, REDIS_START_URLS_AS_ZSET) of pushed seeds."""

    def __init__(self, crawler: Crawler, server: Server, key: str) -> None:
        settings = crawler.settings
        self.crawler, self.key, self._server = crawler, key, server
        self._encoding: str = settings.get("REDIS_ENCODING") or defaults.REDIS_ENCODING
        as_set = settings.getbool("REDIS_START_URLS_AS_SET", defaults.START_URLS_AS_SET)
        as_zset = settings.getbool("REDIS_START_URLS_AS_ZSET", defaults.START_URLS_AS_ZSET)
        self._kind = "set" if as_set else "zset" if as_zset else "list"
        self._meta = frozenset({"depth", *read(settings, "FOCUSED_SEED_META")}) - {META}
        self._is_readable = True

    def take(self, is_safe: Callable[[], bool]) -> int:
        """Admit what was pushed; how much it was. What was admitted is taken away when ``is_safe`` says that it is."""
        taken = 0
        while taken < _MOST and (found := self._read()):
            kept = [data for data in found if isinstance(data, bytes)]
            for data in found:
                if isinstance(data, bytes):
                    self._admit(data)
                else:
                    size, begin = data
                    self._refuse(f"it has {size:,} bytes, more than {_LONGEST:,}", begin)
            if not is_safe():
                break
            self._server.wait_for(partial(self._remove, kept))
            taken += len(found)
            if len(found) < _AT_ONCE:
                break
        if taken:
            logger.info("%d entries of %r were taken in", taken, self.key)
        return taken

    def _read(self) -> list[bytes | list[Any]]:
        """The next entries; of one that is too long, and gone by now, how long it was and how it began."""
        if not self._is_readable:
            return []
        how = self._kind, _AT_ONCE, _BYTES_AT_ONCE, _LONGEST, _SHOWN
        try:
            found: list[bytes | list[Any]] = msgpack.unpackb(self._server.run("seeds", self.key, *how), raw=True)
        except ResponseError as error:
            self._is_readable = False
            logger.warning(
                "Seeds pushed to %r cannot be read (%s): see REDIS_START_URLS_AS_SET, …_AS_ZSET",
                self.key,
                short(error, 200),
            )
            return []
        return found

    def _remove(self, found: list[bytes]) -> None:
        client: Redis = self._server.client
        if not found:
            return
        if self._kind == "set":
            client.srem(self.key, *found)
        elif self._kind == "zset":
            client.zrem(self.key, *found)
        else:
            with client.pipeline(transaction=False) as pipe:
                for data in found:
                    pipe.lrem(self.key, 1, data)  # type: ignore[arg-type]  # bytes are as good as texts
                pipe.execute()

    def _admit(self, data: bytes) -> None:
        try:
            self.crawler.engine.crawl(self._to_request(data))
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            # Whatever stands in it: what was pushed behind it is read.
            self._refuse(short(error, 200), data)
            return
        self.crawler.stats.inc_value("focused/seed/pushed")

    def _refuse(self, why: str, data: bytes) -> None:
        stats = self.crawler.stats
        refused = stats.get_value("focused/seed/refused", 0)
        if refused < _MOST_LOGGED:
            logger.warning("Refused an entry that was pushed to %r (%s): %r", self.key, why, data[:_SHOWN])
        elif refused == _MOST_LOGGED:
            logger.warning("Further refused entries are only counted, in focused/seed/refused")
        stats.inc_value("focused/seed/refused")

    def _to_request(self, data: bytes) -> Request:
        """An address alone, or JSON with url, and if need be method, meta, and what is sent as a form."""
        text = data.decode(self._encoding).strip()
        form = json.loads(text) if text.startswith("{") else {"url": text}
        url, method, meta = form.pop("url", None), form.pop("method", "GET"), form.pop("meta", {})
        if not isinstance(url, str) or not isinstance(method, str) or not isinstance(meta, dict):
            raise TypeError("url and method must be texts, meta an object")
        if method.upper() not in _METHODS:
            raise ValueError(f"the method {method!r} is not GET or POST")
        url, meta = to_url(url), {**_checked(meta, self._meta), "is_start_request": True}
        if not form and method.upper() == "GET":
            return Request(url, meta=meta)
        return FormRequest(url, method=method.upper(), formdata=_form(form), meta=meta)


def _checked(meta: dict[str, Any], named: Collection[str]) -> dict[str, Any]:
    """The meta of others: nothing that changes how a page is fetched, and a depth that can be counted on."""
    for name in meta:
        if name not in named:
            raise ValueError(f"meta may hold {', '.join(sorted(named))}, not {name!r}: FOCUSED_SEED_META names others")
    depth = meta.get("depth", 0)
    if type(depth) is not int or not 0 <= depth <= _DEEPEST:
        raise TypeError(f"the depth {depth!r} is not a whole number from 0 to {_DEEPEST:,}")
    return meta


def _form(fields: dict[str, Any]) -> dict[str, Any]:
    """What a form can hold: texts, and lists of texts."""
    for name, value in fields.items():
        if not all(isinstance(each, _PLAIN) for each in (value if isinstance(value, list) else [value])):
            raise TypeError(f"the form field {name!r} (any key but url, method and meta) must be text")
    return {
        name: [str(each) for each in value] if isinstance(value, list) else str(value) for name, value in fields.items()
    }
