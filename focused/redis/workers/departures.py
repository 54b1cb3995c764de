"""When requests went out, told to a shared store: a host is closed for all workers until they know."""

from __future__ import annotations

from time import monotonic

from scrapy import Request

from focused.frontier.store import Lease
from focused.job import Company
from focused.redis.store import RedisStore
from focused.scheduling.engine import EngineAccess

# Seconds until somebody looks. Where it took longer, the event loop was busy, and so was the request not sent at once.
_USUAL = 0.06


class Departures(Company):
    """Watches the requests that were handed out. What robots.txt asked for on the way is in the pace that is told."""

    def __init__(self, engine: EngineAccess, store: RedisStore) -> None:
        self._engine, self.store = engine, store
        self._watched: dict[int, tuple[Lease, Request, float]] = {}

    def watch(self, lease: Lease, request: Request) -> None:
        self._watched[lease.token] = lease, request, monotonic()

    def look(self) -> bool:
        out = [token for token, (_, request, _) in self._watched.items() if self._engine.is_out(request)]
        for token in out:
            self.came_back(token)
        return bool(self._watched)

    def came_back(self, token: int) -> None:
        """Tell when the host of a request was asked last, if it was since then."""
        watched = self._watched.pop(token, None)
        if watched is None:
            return
        lease, request, since = watched
        pace = self._engine.pace(request.meta.get("download_slot") or lease.host.name)
        if pace.last >= since:
            self.store.sent(lease, pace.delay, pace.concurrency, min(monotonic() - pace.last, _USUAL))
