"""Which network addresses a crawler that follows strangers' links may talk to.

A link is text written by somebody else; ``http://169.254.169.254/`` or a name that resolves to ``10.0.0.5`` would
make the crawler read what only machines of the inner network can reach. Everything that is not a public unicast
address counts as inner, in whatever notation it is written: decimal, hexadecimal, octal, short, full-width digits,
percent-encoded, or an IPv4 address inside an IPv6 one (mapped, 6to4, Teredo, NAT64, ISATAP).

What is public is said by IANA's registries (`focused.safety.special`), and not by `ipaddress.is_global`, which says
something else in almost every version of Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

import ada_url

from focused.safety.special import SPECIAL

Address = IPv4Address | IPv6Address

# What the registries of special-purpose addresses do not have.
_INNER = (
    "224.0.0.0/4",  # multicast, which has a registry of its own
    "168.63.129.16/32",  # a public address that is, inside Azure, the machine's own wire server
)
# Nothing else of IPv6 is allocated as global unicast: neither site-local nor multicast addresses, nor those that are
# compatible with IPv4, or translated to it (::a.b.c.d, ::ffff:0:a.b.c.d).
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_BLOCKS = sorted(
    [(ip_network(block), is_reachable) for block, is_reachable, _ in SPECIAL]
    + [(ip_network(block), False) for block in _INNER],
    key=lambda block: -block[0].prefixlen,
)
_NAT64 = IPv6Network("64:ff9b::/96")
# Mapped, translated, 6to4 and Teredo: packets to these go to the IPv4 address inside.
_LEADS_TO_IPV4 = [IPv6Network("::ffff:0:0/96"), _NAT64, IPv6Network("2002::/16"), IPv6Network("2001::/32")]
# What stands before the IPv4 address in the lower half of an ISATAP address (RFC 5214); one bit of it may be set.
_ISATAP, _ISATAP_BITS = 0x00005EFE, 0xFDFFFFFF
# Names that only an inner network knows: RFC 6761, 6762, 8375, and ICANN's reservation of ".internal".
_INNER_SUFFIXES = ("localhost", "local", "internal", "home.arpa", "localdomain", "lan", "intranet")
_LONGEST_REMEMBERED = 255
_DEFAULT_PORTS = {"http": 80, "https": 443}


class AddressPolicy:
    """What may be reached: every public address, and what is ``allowed`` in so many words.

    An allowed entry is an address (``127.0.0.1``), a network (``10.0.0.0/8``) or a name (``wiki.example.lan``), each
    also with a port (``127.0.0.1:8080``, ``[::1]:8080``). A name stands for itself, not for its subdomains.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._networks: list[tuple[object, int | None]] = []
        self._names: set[tuple[str, int | None]] = set()
        self._proxies: set[tuple[str, int]] = set()
        for entry in allowed:
            self._allow(entry)

    def _allow(self, entry: str) -> None:
        host, port = _host_and_port(entry)
        try:
            self._networks.append((ip_network(host), port))
        except ValueError:
            if not host or "/" in host:
                raise ValueError(
                    f"{entry!r} is not an address, a network like '10.0.0.0/8' or a name, each with or without ':port'"
                ) from None
            self._names.add((plain_name(host), port))

    def allow_proxy(self, host: str, port: int) -> None:
        """Let connections to a proxy through: its user named it."""
        self._proxies.add((plain_name(host), port))

    def refusal(self, url: str) -> str:
        """Why an address is refused without looking up its name; '' when it is not."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        except ValueError as error:
            return f"{url!r} is not an address: {error}"
        if not host or self._is_named(host, port):
            return ""
        literal = literal_address(host)
        if literal is not None:
            allowed = is_public(literal) or self._is_allowed(host, literal, port)
            spelled = "" if str(literal) == host.strip("[]") else f" ({literal})"
            return "" if allowed else f"{host!r} is an inner address{spelled}{self.ports_of(host, host)}"
        if (plain_name(host), port) in self._proxies:
            return f"{host!r} is the proxy"
        return f"{host!r} is the name of an inner host{self.ports_of(host)}" if is_inner_name(host) else ""

    def may_connect(self, host: str, port: int, address: str) -> bool:
        """May a connection be made to what a name was resolved to? This is the address that will be connected to."""
        if (plain_name(host), port) in self._proxies:
            return True
        found = literal_address(address)
        return found is not None and (is_public(found) or self._is_allowed(host, found, port))

    def ports_of(self, host: str, address: str = "") -> str:
        """The ports with which a host is allowed, as the end of why another one is not."""
        name, found = plain_name(host), literal_address(address) if address else None
        named = {port for other, port in self._names if other == name}
        within = {port for network, port in self._networks if found is not None and found in network}  # type: ignore[operator]
        ports = sorted(port for port in named | within if port is not None)
        return f", allowed with port {' or '.join(map(str, ports))} only" if ports else ""

    def _is_named(self, host: str, port: int) -> bool:
        name = plain_name(host)
        return (name, None) in self._names or (name, port) in self._names

    def _is_allowed(self, host: str, address: Address, port: int) -> bool:
        if self._is_named(host, port):
            return True
        # A network of the other kind simply does not hold the address.
        return any(address in network and at in (None, port) for network, at in self._networks)  # type: ignore[operator]


def literal_address(host: str) -> Address | None:
    """The address that a host *is*, in any notation that browsers or the C library take; None for a name."""
    return _literal_address(host) if len(host) <= _LONGEST_REMEMBERED else _literal_address.__wrapped__(host)


@lru_cache(10_000)
def _literal_address(host: str) -> Address | None:
    host = host.rstrip(".")
    with suppress(ValueError):
        return ip_address(host.strip("[]").split("%", 1)[0])
    with suppress(ValueError):
        # Percent-encoded and full-width digits, octal, hexadecimal, short forms: as browsers read them.
        return ip_address(ada_url.URL(f"http://{host}/").hostname.strip("[]"))
    return None


def is_public(address: Address) -> bool:
    """Is this a unicast address of the public Internet? One of IPv6 that leads to one of IPv4 is as public as that."""
    if isinstance(address, IPv6Address):
        if not all(map(is_public, _carried(address))):
            return False
        if any(address in network for network in _LEADS_TO_IPV4):
            return True
        if address not in _GLOBAL_UNICAST:
            return False
    return next((is_reachable for block, is_reachable in _BLOCKS if address in block), True)


def _carried(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses inside an IPv6 one."""
    if address.teredo is not None:
        # Its lower half is laid out otherwise than that of an ISATAP address.
        return list(address.teredo)
    number = int(address)
    is_isatap = number >> 32 & _ISATAP_BITS == _ISATAP
    low = [IPv4Address(number & 0xFFFFFFFF)] if is_isatap or address in _NAT64 else []
    return [one for one in (address.ipv4_mapped, address.sixtofour, *low) if one is not None]


def is_inner_name(host: str) -> bool:
    """Is this a name that only an inner network can know: one label, or under a suffix reserved for such?"""
    name = plain_name(host)
    return "." not in name or name.endswith(tuple(f".{suffix}" for suffix in _INNER_SUFFIXES))


def plain_name(host: str) -> str:
    """A host name as it is compared: lower case, ASCII, without the root's dot."""
    name = host.lower().rstrip(".")
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return name


def _host_and_port(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        return host, int(rest[1:]) if rest[1:].isdigit() else None
    host, colon, port = entry.rpartition(":")
    if colon and ":" not in host and port.isdigit():
        return host, int(port)
    return entry, None
