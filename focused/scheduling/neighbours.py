"""The ceilings above the hosts of a crawl, as its settings have them."""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from focused.defaults import read, read_all
from focused.safety.neighbourhoods import Ceiling, Neighbourhoods, Neighbours, Waits


def neighbours_of(crawler: Crawler) -> Neighbours:
    """Those of a crawl that one process does alone."""
    ceilings = ceilings_of(crawler.settings)
    return Neighbourhoods(*ceilings, told=Waits(crawler.stats.inc_value)) if ceilings else Neighbours()


def ceilings_of(settings: BaseSettings) -> tuple[Ceiling, Ceiling] | None:
    """Of a domain and of an address. None for a recorded web: nobody is asked for anything."""
    if read(settings, "FOCUSED_REPLAY_WEB"):
        return None
    delay, concurrency = settings.getfloat("DOWNLOAD_DELAY"), settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    domain, address = (read_all(Ceiling, settings, group) for group in ("DOMAIN", "ADDRESS"))
    return domain.above(delay, concurrency), address.above(delay, concurrency)
