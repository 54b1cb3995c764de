"""Messages of users to a crawl in Redis: a list of records, the same as in the file beside a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from focused.frontier.inbox import Letter, Letters, letter_to_bytes, to_letters
from focused.frontier.store import JobRefused
from focused.redis.server import prefix_of
from focused.report.text import short

# A crawl that is deleted leaves no inbox behind, from which the next one of its name would read. Where the list is
# gone, nothing of it was read.
_APPEND = """
if redis.call('HEXISTS', KEYS[1], 'of:format') == 0 then return false end
if redis.call('RPUSH', KEYS[2], unpack(ARGV)) == #ARGV then redis.call('HDEL', KEYS[3], 'inbox') end
return true
"""
_AT_ONCE = 1_000
_SHOWN = 200


class RedisInbox:
    """The inbox of a crawl. ``wait_for`` makes a call that may have to be made again, as a worker's server does."""

    def __init__(self, client: Redis, crawl: str, wait_for: Callable[[Callable[[], Any]], Any] | None = None) -> None:
        self._client, self._crawl = client, crawl
        self._wait_for = wait_for or (lambda call: call())
        self._prefix = prefix_of(crawl)
        self._key = f"{self._prefix}inbox"

    def end(self) -> int:
        return int(self._wait_for(lambda: self._client.llen(self._key)))

    def read_from(self, place: int, most: int) -> Letters:
        found = self._wait_for(lambda: self._client.lrange(self._key, place, place + most - 1))
        return to_letters(found, place + len(found))

    def append(self, letters: Sequence[Letter]) -> None:
        keys = (f"{self._prefix}meta", self._key, f"{self._prefix}notes")
        for begin in range(0, len(letters), _AT_ONCE):
            some = [letter_to_bytes(one) for one in letters[begin : begin + _AT_ONCE]]
            try:
                is_there = self._client.eval(_APPEND, len(keys), *keys, *some)
            except (RedisError, OSError) as error:
                raise JobRefused(
                    f"nothing can be told to the crawl {self._crawl!r} in Redis ({short(error, _SHOWN)}); "
                    f"{begin:,} of {len(letters):,} records were noted"
                ) from error
            if not is_there:
                raise JobRefused(f"there is no crawl {self._crawl!r} in Redis any more")
