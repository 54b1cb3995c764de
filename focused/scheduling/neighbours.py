"""The ceilings above the hosts of a crawl, as its settings have them."""

from __future__ import annotations

from collections.abc import Callable

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from focused.defaults import read, read_all
from focused.safety.addresses import Address
from focused.safety.neighbourhoods import Ceiling, Neighbourhoods, Neighbours, Waits, is_inner


def neighbours_of(crawler: Crawler, is_exempt: Callable[[Address], bool] = is_inner) -> Neighbours:
    """Those of a crawl that one process does alone."""
    ceilings, told = ceilings_of(crawler.settings), Waits(crawler.stats.inc_value)
    return Neighbourhoods(*ceilings, told=told, is_exempt=is_exempt) if ceilings else Neighbours()


def ceilings_of(settings: BaseSettings) -> tuple[Ceiling, Ceiling] | None:
    """Of a domain and of an address. None for a recorded web: nobody is asked for anything."""
    if read(settings, "FOCUSED_REPLAY_WEB"):
        return None
    delay, concurrency = settings.getfloat("DOWNLOAD_DELAY"), settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    domain, address = (read_all(Ceiling, settings, group) for group in ("DOMAIN", "ADDRESS"))
    return domain.above(delay, concurrency), address.above(delay, concurrency)
