"""When requests went out, told to a shared store: a host is closed for all workers until they know."""

from __future__ import annotations

from time import monotonic

from scrapy import Request

from focused.frontier.engine import EngineAccess
from focused.frontier.store import FrontierStore

# Seconds until somebody looks. Where it took longer, the event loop was busy, and so was the request not sent at once.
_USUAL = 0.06


class Departures:
    """Watches the requests that were handed out. What robots.txt asked for on the way is in the pace that is told."""

    def __init__(self, engine: EngineAccess, store: FrontierStore) -> None:
        self._engine, self._store = engine, store
        self._watched: dict[int, tuple[Request, str, float]] = {}

    def watch(self, token: int, request: Request, host: str) -> None:
        """A request was handed out under a lease."""
        self._watched[token] = request, host, monotonic()

    def look(self) -> bool:
        """Tell of those that went out; True if there are others left."""
        out = [token for token, (request, _, _) in self._watched.items() if self._engine.is_out(request)]
        for token in out:
            self.came_back(token)
        return bool(self._watched)

    def came_back(self, token: int) -> None:
        """A request is out or over, one way or another: tell when its host was asked last, if it was since then."""
        watched = self._watched.pop(token, None)
        if watched is None:
            return
        request, host, since = watched
        pace = self._engine.pace(request.meta.get("download_slot") or host)
        if pace.last >= since:
            self._store.sent(token, pace.delay, pace.concurrency, min(monotonic() - pace.last, _USUAL))
