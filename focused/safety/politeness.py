"""How hosts feel: which of them asked for time, which cannot be reached, and for how long to leave them alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from itertools import islice
from time import monotonic, time

from focused.bounded import Bounded

_HOSTS = 100_000
# Once given up, a host gets another chance after this many seconds.
_CLOSED_FOR = 3_600.0
# So many different hosts failing, and none answering in between: it is our own network that is down.
_OUTAGE_HOSTS = 20
# For those who want to know who is in trouble, so many hosts are looked at.
_LOOKED_AT = 1_000


def retry_after(header: bytes | None, now: float | None = None) -> float | None:
    """Seconds to wait, from a Retry-After header (seconds or a date); None when it is absent or says nothing."""
    if header is None:
        return None
    text = header.decode("latin-1").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:10])
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, when.timestamp() - (time() if now is None else now))


@dataclass(frozen=True, slots=True)
class Patience:
    """How much is borne with. Waits are ``first`` seconds, doubled each time up to ``longest``."""

    failures: int
    """Connections to a host that fail in a row before it is left alone."""
    first: float
    longest: float
    times: int
    """A host is left alone so many times in a row, then given up; a link is put off so many times."""
    longest_asked: float
    """A host that asks for more than this is given up."""


@dataclass(slots=True)
class _Host:
    failures: int = 0
    slowdowns: int = 0
    sleeps: int = 0
    asleep_until: float = 0.0
    closed_until: float = 0.0
    dead: bool = False


class HostHealth:
    """Keeps count of the hosts that are in trouble; forgets a host's troubles when it answers."""

    def __init__(self, patience: Patience, clock: Callable[[], float] = monotonic) -> None:
        self.patience = patience
        self._clock = clock
        self._troubled: Bounded[str, _Host] = Bounded(_HOSTS)
        self._answered: Bounded[str, None] = Bounded(_HOSTS)
        self._failing: Bounded[str, None] = Bounded(_OUTAGE_HOSTS)

    def asleep(self, host: str) -> float:
        """For how many seconds a host is still to be left alone."""
        state = self._troubled.get(host)
        return 0.0 if state is None else max(0.0, state.asleep_until - self._clock())

    def closed(self, host: str) -> str:
        """'dead' or 'unwilling' for a host that was given up, else ''."""
        state = self._troubled.get(host)
        if state is None or state.closed_until <= self._clock():
            return ""
        return "dead" if state.dead else "unwilling"

    def troubles(self, most: int) -> list[tuple[str, float, str]]:
        """Hosts that are left alone or given up, for how many seconds more, and why; the latest first."""
        now, found = self._clock(), list[tuple[str, float, str]]()
        for host, state in islice(reversed(self._troubled.items()), _LOOKED_AT):
            why = "it asked for time" if state.slowdowns else "it cannot be reached"
            if state.closed_until > now:
                given_up = "given up: it never answered" if state.dead else "given up: it asked for too much time"
                found.append((host, state.closed_until - now, given_up))
            elif state.asleep_until > now:
                found.append((host, state.asleep_until - now, why))
            if len(found) == most:
                break
        return found

    def answered(self, host: str) -> None:
        """A host has answered like one that is well."""
        if self._failing:
            self._failing.clear()
        self._answered.setdefault(host, None)
        self._troubled.pop(host, None)

    def failed(self, host: str) -> float:
        """A connection failed; how long the host is to be left alone now (0: not at all). It may be `closed` by it."""
        state = self._troubled.setdefault(host, _Host())
        waiting = state.asleep_until - self._clock()
        if waiting > 0:
            return waiting
        state.failures += 1
        self._failing[host] = None
        if state.failures < self.patience.failures:
            return 0.0
        if len(self._failing) >= _OUTAGE_HOSTS:
            return self._sleep(state, self.patience.first)
        # A host that never answered gets no second chance before an hour has passed.
        if host not in self._answered or state.sleeps >= self.patience.times:
            return self._close(state, _CLOSED_FOR, dead=True)
        state.sleeps += 1
        return self._sleep(state, self._wait(state.sleeps))

    def asked_for_time(self, host: str, seconds: float | None) -> float:
        """A host answered 429 or 503, perhaps naming seconds; how long to leave it alone. It may be `closed` by it."""
        state = self._troubled.setdefault(host, _Host())
        self._answered[host] = None
        self._failing.clear()
        waiting = state.asleep_until - self._clock()
        if seconds is None and waiting > 0:
            return waiting
        state.slowdowns += 1
        if seconds is not None and seconds > self.patience.longest_asked:
            return self._close(state, seconds, dead=False)
        if state.slowdowns > self.patience.times:
            return self._close(state, _CLOSED_FOR, dead=False)
        return self._sleep(state, max(self._wait(state.slowdowns) if seconds is None else seconds, 1.0, waiting))

    def _wait(self, times: int) -> float:
        return min(self.patience.first * 2.0 ** min(times - 1, 60), self.patience.longest)

    def _sleep(self, state: _Host, seconds: float) -> float:
        state.asleep_until = self._clock() + seconds
        return seconds

    def _close(self, state: _Host, seconds: float, *, dead: bool) -> float:
        """Give a host up: there is nothing to wait for."""
        state.closed_until = self._clock() + seconds
        state.dead = dead
        return 0.0
