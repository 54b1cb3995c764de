"""The guard before inner networks: no link, redirect or name may lead the crawler to an address that is not public.

Two gates, one policy (`focused.safety.addresses`): this middleware refuses what an address says of itself, in any
notation; the resolver (`focused.safety.resolver`) refuses what its name resolves to, at the moment of connecting.
Redirects and robots.txt requests pass both like any other request. Where a proxy is used, names are for the proxy to
resolve; literal addresses and names of inner networks are refused all the same, and the proxy itself may be anywhere.

The names' gate works with the download handlers that connect through Twisted's resolver, as Scrapy's default does.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.url import add_http_if_no_scheme

from focused.defaults import read
from focused.errors import InnerAddress
from focused.parts import Component
from focused.safety.addresses import AddressPolicy, plain_name
from focused.safety.resolver import GuardedResolver, guard_reactor, release_reactor

logger = logging.getLogger(__name__)


class InnerAddressMiddleware(Component):
    """Refuses inner addresses, unless ``FOCUSED_INNER_ALLOWED`` names them or ``FOCUSED_INNER_ADDRESSES`` is "allow".

    Its number must be above those of HttpProxyMiddleware (to see the proxy) and RetryMiddleware (or refused names are
    tried again).
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if not crawler.settings.getbool("TWISTED_REACTOR_ENABLED"):
            raise ValueError(
                "FOCUSED_INNER_ADDRESSES='refuse' guards names through the reactor's resolver: "
                "set TWISTED_REACTOR_ENABLED to True, or FOCUSED_INNER_ADDRESSES to 'allow'"
            )
        self.policy = AddressPolicy(read(crawler.settings, "FOCUSED_INNER_ALLOWED"))
        self._guard: GuardedResolver | None = None
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def is_wanted(self) -> bool:
        return bool(read(self.crawler.settings, "FOCUSED_INNER_ADDRESSES") == "refuse")

    def spider_closed(self) -> None:
        release_reactor(self.policy)

    def process_request(self, request: Request) -> None:
        # Asked for every request: whoever starts the crawl may put in a resolver after the spider was opened.
        self._guard = guard_reactor(self.policy)
        proxy = request.meta.get("proxy")
        if proxy:
            parts = urlsplit(add_http_if_no_scheme(proxy))
            self.policy.allow_proxy(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        refusal = self.policy.refusal(request.url)
        if refusal:
            raise self._refuse(request, refusal)

    def process_exception(self, request: Request, exception: Exception) -> None:
        if self._guard is None or not isinstance(exception, CannotResolveHostError):
            return
        host = urlparse_cached(request).hostname or ""
        address = self._guard.refused.get(plain_name(host))
        if address is not None:
            reason = f"{host!r} resolves to the inner address {address}{self.policy.ports_of(host, address)}"
            raise self._refuse(request, reason) from exception

    def _refuse(self, request: Request, reason: str) -> InnerAddress:
        refusal = InnerAddress(request.url, reason)
        stats = self.crawler.stats
        if not stats.get_value("focused/inner/refused"):
            logger.warning("%s. Further cases are only counted, in focused/inner/refused", refusal)
        stats.inc_value("focused/inner/refused")
        return refusal
