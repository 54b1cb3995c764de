"""What the ceilings above hosts (`focused.safety.neighbourhoods`) must know of requests on their way.

The address of a server is looked up before the first request to a host, by the resolver through which the connection
will be made (it remembers what it found). If that address is at its ceiling, the link goes back to the frontier and
waits there. Behind a proxy only the proxy knows addresses. Requests that do not come from the frontier (robots.txt)
take their time, too.
"""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]  # as untyped as all of zope

from focused.errors import Crowded
from focused.pages.urls import url_to_host
from focused.parts import Component
from focused.scheduling.requests import META


class NeighboursMiddleware(Component):
    """Its number must be above those of HttpProxyMiddleware (to see the proxy) and InnerAddressMiddleware."""

    def is_wanted(self) -> bool:
        return super().is_wanted() and self.crawler.settings.getbool("TWISTED_REACTOR_ENABLED")

    async def process_request(self, request: Request) -> None:
        if self.parts.frontier is None:
            return
        neighbours, host = self.parts.frontier.neighbours, url_to_host(request.url)
        if not request.meta.get("proxy") and neighbours.is_unresolved(host):
            seconds = neighbours.resolved(host, await _look_up(urlparse_cached(request).hostname or ""))
            if seconds > 0:
                self.crawler.stats.inc_value("focused/postponed/address")
                raise Crowded("the server is at its ceiling", seconds)
        if "token" not in request.meta.get(META, {}):
            neighbours.ask_beside(host)


async def _look_up(name: str) -> str:
    """The first address of a name; '' if there is none."""
    # Importing the reactor installs one, so it waits until a crawl runs.
    from twisted.internet import reactor  # noqa: PLC0415

    receiver, resolver = _First(), reactor.nameResolver
    resolver.resolveHostName(receiver, name)
    return await maybe_deferred_to_future(receiver.found)


@implementer(IResolutionReceiver)
class _First:
    """Receives addresses; ``found`` fires with the first of them."""

    def __init__(self) -> None:
        self.found: Deferred[str] = Deferred()
        self._first = ""

    def resolutionBegan(self, resolutionInProgress: Any) -> None:  # noqa: N802, N803 - the interface's names
        """See `IResolutionReceiver`."""

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802
        self._first = self._first or str(getattr(address, "host", ""))

    def resolutionComplete(self) -> None:  # noqa: N802
        self.found.callback(self._first)
