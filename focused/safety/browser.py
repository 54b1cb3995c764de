"""Keeps what a browser fetches off inner addresses, for scrapy-playwright's setting PLAYWRIGHT_ABORT_REQUEST.

A browser loads by itself whatever a page refers to. Each such request is looked at before it is sent: its address must
not be inner in any notation, and its name must not resolve to an inner address at that moment. The browser resolves the
name once more, follows redirects and opens WebSockets without asking, so this narrows what it can reach. What it must
never reach, its machine or its network has to keep from it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from typing import Protocol
from urllib.parse import urlsplit

from focused.safety.addresses import AddressPolicy, literal_address

# They fetch nothing.
_WITHIN_THE_PAGE = {"about", "blob", "data"}
_FETCHED = {"http", "https", "ws", "wss"}
_SECURE = {"https", "wss"}


class BrowserRequest(Protocol):
    """What is asked of a request of Playwright's."""

    @property
    def url(self) -> str:
        """Its address."""


class BrowserGuard:
    """Says which requests of a browser are to be aborted: those to addresses that the policy does not let through.

    ``allowed`` are entries as those of FOCUSED_INNER_ALLOWED. An object of this class is the predicate that
    scrapy-playwright asks.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._policy = AddressPolicy(allowed)

    async def __call__(self, request: BrowserRequest) -> bool:
        """Is this request to be aborted?"""
        try:
            parts = urlsplit(request.url)
            host, port = parts.hostname or "", parts.port or (443 if parts.scheme in _SECURE else 80)
        except ValueError:
            return True
        if parts.scheme in _WITHIN_THE_PAGE:
            return False
        if parts.scheme not in _FETCHED or not host or self._policy.refusal(request.url):
            return True
        return literal_address(host) is None and not await self._resolves_to_allowed(host, port)

    async def _resolves_to_allowed(self, host: str, port: int) -> bool:
        """May all addresses that a name has now be connected to? A name without any is for the browser to fail at."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            return True
        return all(self._policy.may_connect(host, port, str(address[0])) for *_, address in found)


abort_inner = BrowserGuard()
"""The guard without exceptions: PLAYWRIGHT_ABORT_REQUEST = "focused.safety.browser.abort_inner"."""
