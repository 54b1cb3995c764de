"""A resolver that keeps inner addresses from being connected to.

It stands before the resolver that the reactor has (whichever that is) and lets through only what the policies of the
running crawls allow. What it lets through is what gets connected to, so a name cannot point elsewhere between a
check and the connection.

Zope's interfaces tell a type checker nothing of methods; what implements them is typed `Any` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twisted.internet.interfaces import IAddress, IHostnameResolver, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]  # as untyped as all of zope

from focused.bounded import Bounded
from focused.safety.addresses import AddressPolicy, plain_name


@implementer(IHostnameResolver)
class GuardedResolver:
    """Asks ``resolver`` and passes on the addresses that every one of ``policies`` allows.

    ``refused`` tells of the last names that had no other addresses, and what they resolved to.
    """

    def __init__(self, resolver: Any) -> None:
        self.resolver = resolver
        self.policies: list[AddressPolicy] = []
        self.refused: Bounded[str, str] = Bounded(10_000)

    def may_connect(self, host: str, port: int, address: str) -> bool:
        """Do all the policies agree?"""
        return all(policy.may_connect(host, port, address) for policy in self.policies)

    def resolveHostName(  # noqa: N802 - the interface's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> Any:
        """See `IHostnameResolver`."""
        sieve = _Sieve(self, resolutionReceiver, hostName, portNumber)
        return self.resolver.resolveHostName(sieve, hostName, portNumber, addressTypes, transportSemantics)


@implementer(IResolutionReceiver)
class _Sieve:
    def __init__(self, guard: GuardedResolver, receiver: Any, host: str, port: int) -> None:
        self._guard, self._receiver = guard, receiver
        self._host, self._port = host, port
        self._refused, self._passed = "", False

    def resolutionBegan(self, resolutionInProgress: Any) -> None:  # noqa: N802, N803
        self._receiver.resolutionBegan(resolutionInProgress)

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802
        where = str(getattr(address, "host", ""))
        if self._guard.may_connect(self._host, self._port, where):
            self._passed = True
            self._receiver.addressResolved(address)
        else:
            self._refused = where

    def resolutionComplete(self) -> None:  # noqa: N802
        if self._refused and not self._passed:
            self._guard.refused[plain_name(self._host)] = self._refused
        self._receiver.resolutionComplete()


def guard_reactor(policy: AddressPolicy) -> GuardedResolver:
    """Put the guard before the reactor's resolver, unless it stands there, and make it keep a policy."""
    reactor = _reactor()
    guard = reactor.nameResolver
    if not isinstance(guard, GuardedResolver):
        guard = GuardedResolver(guard)
        _install(reactor, guard)
    if policy not in guard.policies:
        guard.policies.append(policy)
    return guard


def release_reactor(policy: AddressPolicy) -> None:
    """Forget a policy; the guard goes with the last one."""
    reactor = _reactor()
    guard = reactor.nameResolver
    if not isinstance(guard, GuardedResolver):
        return
    if policy in guard.policies:
        guard.policies.remove(policy)
    if not guard.policies:
        _install(reactor, guard.resolver)


def _install(reactor: Any, resolver: Any) -> None:
    # The simple resolver serves connections to proxies, which their user has named; it stays as it is.
    simple = reactor.resolver
    reactor.installNameResolver(resolver)
    reactor.resolver = simple


def _reactor() -> Any:
    # Importing the reactor installs one, so it waits until a crawl runs.
    from twisted.internet import reactor  # noqa: PLC0415

    return reactor
