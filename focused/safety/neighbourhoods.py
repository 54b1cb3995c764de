"""Hosts of one owner, and hosts of one server: what they may be asked together.

Politeness is a host's own, and hosts cost nothing: with a wildcard name a domain has as many as it likes, each with a
page that links to more of them. So there is a ceiling above hosts. A host has up to two *neighbourhoods*: its
registrable domain, and the address of its server once its name was resolved. For each of them there is a `Ceiling`: how
many requests go out in a second and are out at once, and how many hosts are met in a minute that have shown nothing
relevant. Where a neighbourhood is full its hosts wait, and all others go on.

Both sections of the list of public suffixes count, so that ``a.github.io`` and ``b.github.io`` are domains of their
own: those who are listed there give names away to people who have nothing to do with one another. What protects the
servers of such a hoster is the ceiling of their addresses.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from ipaddress import IPv6Address, ip_network
from time import monotonic

from tldextract import TLDExtract

from focused.bounded import Bounded
from focused.safety.addresses import Address, is_public, literal_address

logger = logging.getLogger(__name__)

DOMAIN, ADDRESS = "domain", "address"
MINUTE = 60.0
LOOK_AGAIN = 0.1
"""Seconds after which hosts of a neighbourhood are asked again of which as many requests are out as may be."""
_HOSTS = 100_000
_GROUPS = 10_000
_TOLD = 100
# Whoever has a network of IPv6 has all addresses of it.
_PREFIX = 64


def is_inner(address: Address) -> bool:
    """Can an address be connected to only because our user has allowed it?"""
    return not is_public(address)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What the hosts of a neighbourhood may be asked together; 0 stands for any number."""

    rate: float
    """Requests a second."""
    at_once: int
    new_hosts: int
    """A minute: hosts that have no relevant page so far."""

    def above(self, delay: float, concurrency: int) -> Ceiling:
        """No lower than the pace of a single host, which has its own limits: without a delay, any rate."""
        rate = max(self.rate, 1 / delay) if self.rate and delay > 0 else 0.0
        return Ceiling(rate, max(self.at_once, concurrency) if self.at_once else 0, self.new_hosts)

    @property
    def spacing(self) -> float:
        """Seconds from one request to the next."""
        return 1 / self.rate if self.rate else 0.0


class Neighbours:
    """What a scheduler asks and tells of hosts, by their names. By itself there is no ceiling above any host."""

    def opens(self, host: str, *, is_new: bool) -> tuple[float, str]:
        """When the neighbourhoods of a host may be asked for something, 0 = now; and the line in which it waits for it.

        ``is_new``: it was never asked.
        """
        return 0.0, ""

    def begin(self, host: str, *, is_new: bool) -> None:
        """A request of the frontier goes out to a host."""

    def end(self, host: str) -> None:
        """It is over."""

    def ask_beside(self, host: str) -> None:
        """Another request goes out to a host, for its robots.txt."""

    def has_shown(self, host: str) -> None:
        """A host has a relevant page."""

    def is_unresolved(self, host: str) -> bool:
        """Is the address of a host wanted?"""
        return False

    def resolved(self, host: str, address: str) -> float:
        """A host has this address, '' for none; for how many seconds it is not to be asked for that."""
        return 0.0


@dataclass(slots=True)
class _Neighbourhood:
    """How a neighbourhood stands: when the next request may go out, how many are out, whom it met last, and when."""

    ceiling: Ceiling
    free_at: float = 0.0
    out: int = 0
    newcomers: dict[str, float] = field(default_factory=dict)

    def opens(self, now: float, *, is_new: bool) -> tuple[float, bool]:
        """When, 0 = now; and whether that is for new hosts alone."""
        ceiling = self.ceiling
        if is_new and ceiling.new_hosts:
            self._forget_old(now)
            if len(self.newcomers) >= ceiling.new_hosts:
                return next(iter(self.newcomers.values())) + MINUTE, True
        if 0 < ceiling.at_once <= self.out:
            return now + LOOK_AGAIN, False
        return (self.free_at if self.free_at > now else 0.0), False

    def take_time(self, now: float) -> None:
        self.free_at = max(self.free_at, now) + self.ceiling.spacing

    def meet(self, host: str, now: float) -> None:
        if self.ceiling.new_hosts:
            self.newcomers.setdefault(host, now)

    def is_idle(self, now: float) -> bool:
        self._forget_old(now)
        return not self.out and not self.newcomers and self.free_at <= now

    def _forget_old(self, now: float) -> None:
        while self.newcomers and (first := next(iter(self.newcomers.items())))[1] + MINUTE <= now:
            del self.newcomers[first[0]]


@dataclass(slots=True)
class _Out:
    """Requests of a host that are out, and the neighbourhoods in which they count."""

    groups: list[str]
    requests: int = 0


class Neighbourhoods(Neighbours):
    """Ceilings that one process keeps by itself. ``told`` hears the name of a neighbourhood for which a host waits."""

    def __init__(
        self,
        domain: Ceiling,
        address: Ceiling,
        *,
        told: Callable[[str], None] = lambda _: None,
        is_exempt: Callable[[Address], bool] = is_inner,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._ceilings = {DOMAIN: domain, ADDRESS: address}
        self._told, self._clock, self._is_exempt = told, clock, is_exempt
        self._groups: dict[str, _Neighbourhood] = {}
        self._most = _GROUPS
        self._out: dict[str, _Out] = {}
        # The neighbourhood that an address is, '' where there is none; None for those that have no ceilings at all.
        self._address_of: Bounded[str, str | None] = Bounded(_HOSTS)
        # Hosts of which nothing was asked after all, because their addresses were full.
        self._unmet: Bounded[str, None] = Bounded(_HOSTS)

    def opens(self, host: str, *, is_new: bool) -> tuple[float, str]:
        now = self._clock()
        for name in self._names(host):
            group = self._groups.get(name)
            opens, is_for_new = (
                group.opens(now, is_new=is_new or host in self._unmet) if group is not None else (0.0, False)
            )
            if opens:
                self._told(name)
                return opens, f"{name} new" if is_for_new else name
        return 0.0, ""

    def begin(self, host: str, *, is_new: bool) -> None:
        now, names = self._clock(), self._names(host)
        is_new |= self._unmet.pop(host, self) is None
        out = self._out.setdefault(host, _Out(names))
        out.requests += 1
        for name in out.groups:
            group = self._group(name)
            group.out += 1
            group.take_time(now)
            if is_new:
                group.meet(host, now)

    def end(self, host: str) -> None:
        out = self._out[host]
        out.requests -= 1
        for name in out.groups:
            self._groups[name].out -= 1
        if not out.requests:
            del self._out[host]

    def ask_beside(self, host: str) -> None:
        for name in self._names(host):
            self._group(name).take_time(self._clock())

    def has_shown(self, host: str) -> None:
        for name in self._names(host):
            if name in self._groups:
                self._groups[name].newcomers.pop(host, None)

    def is_unresolved(self, host: str) -> bool:
        return host not in self._address_of and literal_address(host) is None

    def resolved(self, host: str, address: str) -> float:
        group = address_group(address, self._is_exempt)
        out = self._out.get(host)
        if group is None:
            self._exempt(host, out)
        self._address_of[host] = group
        if not group or out is None or group in out.groups:
            return 0.0
        return self._move_in(host, out, self._group(group), group)

    def _move_in(self, host: str, out: _Out, group: _Neighbourhood, name: str) -> float:
        """The requests of a host that are out count for its address from now on."""
        now = self._clock()
        opens, _ = group.opens(now, is_new=True)
        out.groups = [*out.groups, name]
        group.out += out.requests
        if opens:
            self._unmet[host] = None
            self._told(name)
            return opens - now
        group.take_time(now)
        group.meet(host, now)
        return 0.0

    def _exempt(self, host: str, out: _Out | None) -> None:
        self.has_shown(host)
        if out is not None:
            for name in out.groups:
                self._groups[name].out -= out.requests
            out.groups = []

    def _names(self, host: str) -> list[str]:
        """The neighbourhoods of a host, as far as they are known."""
        address = self._address_of.get(host, "")
        if address is None:
            return []
        return [name for name in (named_group(host, self._is_exempt), address) if name]

    def _group(self, name: str) -> _Neighbourhood:
        group = self._groups.get(name)
        if group is None:
            if len(self._groups) >= self._most:
                now = self._clock()
                self._groups = {name: group for name, group in self._groups.items() if not group.is_idle(now)}
                self._most = max(_GROUPS, 2 * len(self._groups))
            group = self._groups[name] = _Neighbourhood(self._ceilings[name.partition(":")[0]])
        return group


def domain_group(host: str) -> str:
    """The neighbourhood of a host by its name; '' if it is under no domain."""
    domain = registrable_domain(host)
    return f"{DOMAIN}:{domain}" if domain else ""


def named_group(host: str, is_exempt: Callable[[Address], bool] = is_inner) -> str:
    """What the name of a host alone says: its domain or, if it is an address, that; '' if there is no ceiling."""
    return (address_group(host, is_exempt) or "") if literal_address(host) is not None else domain_group(host)


def address_group(address: str, is_exempt: Callable[[Address], bool] = is_inner) -> str | None:
    """The neighbourhood of a server by its address; '' if it has none, None if there is no ceiling above it.

    Unless told otherwise these are the inner addresses: what is connected to there was allowed by our user.
    """
    found = literal_address(address) if address else None
    if found is None:
        return ""
    if is_exempt(found):
        return None
    if isinstance(found, IPv6Address):
        return f"{ADDRESS}:{ip_network((found, _PREFIX), strict=False)}"
    return f"{ADDRESS}:{found}"


@lru_cache(_HOSTS)
def registrable_domain(host: str) -> str:
    """What somebody has registered: the public suffix of a name, and one label more. '' for addresses and suffixes."""
    found = _suffixes().extract_str(host)
    if found.suffix:
        return f"{found.domain}.{found.suffix}" if found.domain else ""
    # A suffix that is not listed is a single label.
    labels = host.split(".")
    return ".".join(labels[-2:]) if len(labels) > 1 and literal_address(host) is None else ""


@cache
def _suffixes() -> TLDExtract:
    """The list as it comes with the package: nothing is fetched, nothing is written."""
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


class Waits:
    """Counts how often a host had to wait for its neighbourhood, and tells of each neighbourhood once."""

    def __init__(self, count: Callable[[str, int], None]) -> None:
        self._count = count
        self._told: set[str] = set()

    def __call__(self, name: str, times: int = 1) -> None:
        kind, _, of = name.partition(":")
        self._count(f"focused/{kind}/waited", times)
        if name in self._told or len(self._told) > _TOLD:
            return
        self._told.add(name)
        self._count(f"focused/{kind}/full", 1)
        if len(self._told) > _TOLD:
            logger.info("Further domains and addresses at their ceilings are only counted, in focused/*/waited")
            return
        logger.info(
            "The hosts of %s %s wait for one another: it is at its ceiling (FOCUSED_%s_*). Other hosts go on",
            *("the domain" if kind == DOMAIN else "the server", of, kind.upper()),
        )
