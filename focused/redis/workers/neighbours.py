"""The ceilings above the hosts of a shared crawl: kept in Redis, for all workers together.

Which requests are out, and which hosts have a relevant page, is known there anyway; told is what only a worker sees.
"""

from __future__ import annotations

from collections.abc import Callable

from focused.bounded import Bounded
from focused.redis.store import RedisStore
from focused.safety.addresses import Address, literal_address
from focused.safety.neighbourhoods import Neighbours, address_group, is_inner

_HOSTS = 100_000


class SharedNeighbours(Neighbours):
    """One worker's part."""

    def __init__(self, store: RedisStore, is_exempt: Callable[[Address], bool] = is_inner) -> None:
        self._store, self._is_exempt = store, is_exempt
        self._resolved: Bounded[str, None] = Bounded(_HOSTS)

    def ask_beside(self, host: str) -> None:
        self._store.ask_beside(host)

    def is_unresolved(self, host: str) -> bool:
        return host not in self._resolved and literal_address(host) is None

    def resolved(self, host: str, address: str) -> float:
        self._resolved[host] = None
        return self._store.resolved(host, address_group(address, self._is_exempt))
