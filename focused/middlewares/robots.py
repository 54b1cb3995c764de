"""robots.txt as RFC 9309 wants it: what cannot be read forbids everything for now, what is not there allows everything.

Scrapy's own middleware, which this one extends, ignores the status: a 503 or a network error allows everything, for
the rest of the run. Here:

- 2xx: the rules hold for a day, then they are fetched again; of a long file the first 500 KiB count.
- 4xx, or more than five redirects: no rules.
- 429, 5xx, a network error: nothing may be fetched for now. The requests are put off, robots.txt is asked for again
  after a while, longer each time, and after some times the host's links are refused.
- Crawl-delay becomes the delay of the host's downloader slot, up to a limit.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import lru_cache
from time import monotonic

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler
from twisted.internet.defer import DeferredLock

from focused.defaults import read
from focused.errors import DeniedByRobots, HostDead, Postponed, Refused, is_no_host, why_unreachable

logger = logging.getLogger(__name__)

_MOST_REDIRECTS = 5
_MOST_BYTES = 500 * 1024
_FIRST_WAIT = 60.0


@dataclass(slots=True)
class SiteRules:
    """What is known of a site's robots.txt.

    Without a parser everything is allowed; while ``failures`` is not 0, nothing is. ``until`` is when to ask again,
    ``refusal`` why the host itself is not to be asked, ``delay`` its Crawl-delay.
    """

    site: str
    parser: RobotParser | None = None
    failures: int = 0
    until: float = 0.0
    refusal: Refused | None = None
    delay: float = 0.0
    lock: DeferredLock = field(default_factory=DeferredLock, repr=False)
    """Held by the request that fetches the file."""


class RobotsMiddleware(RobotsTxtMiddleware):
    """Stands in for Scrapy's RobotsTxtMiddleware, at its number; on where ``ROBOTSTXT_OBEY`` is."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._age: float = read(settings, "FOCUSED_ROBOTS_AGE")
        self._longest_wait: float = read(settings, "FOCUSED_ROBOTS_RETRY")
        self._tries: int = read(settings, "FOCUSED_ROBOTS_TRIES")
        self._longest_delay: float = read(settings, "FOCUSED_CRAWL_DELAY_MAX")
        # The slots in Scrapy's downloader that a robots.txt has slowed down.
        self._slowed: set[str] = set()
        remembered: int = read(settings, "FOCUSED_ROBOTS_HOSTS")
        self._rules_of = lru_cache(remembered)(SiteRules)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules for a request; raises `Postponed` or `DeniedByRobots` where there can be none."""
        url = urlparse_cached(request)
        rules = self._rules_of(f"{url.scheme}://{url.netloc}")
        if monotonic() >= rules.until:
            await maybe_deferred_to_future(rules.lock.acquire())
            try:
                # Another request may have fetched it while this one waited.
                if monotonic() >= rules.until:
                    await self._fetch(rules, request)
            finally:
                rules.lock.release()
        if rules.refusal is not None:
            raise type(rules.refusal)(*rules.refusal.args)
        if rules.failures:
            self._put_off(rules, request)
        if rules.delay:
            self._keep_delay(rules.delay, request)
        return rules.parser

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Scrapy's check, with a word of ours for what is forbidden."""
        try:
            super().process_request_2(rp, request)
        except IgnoreRequest as error:
            raise DeniedByRobots(*error.args) from None

    async def _fetch(self, rules: SiteRules, request: Request) -> None:
        rules.refusal = None
        robots = Request(
            f"{rules.site}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            meta={"dont_obey_robotstxt": True, "redirect_ttl": _MOST_REDIRECTS},
            callback=NO_CALLBACK,
        )
        try:
            self._take(rules, await self._download(robots), request)
        except Postponed as error:
            # Those who wait for the same file ask no sooner than that.
            self._fail(rules, error.reason, max(error.seconds, 1.0))
        except Refused as error:
            # An inner address or a dead host: as true of its pages.
            rules.refusal, rules.until = error, monotonic() + self._longest_wait
        except Exception as error:
            self.crawler.stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            if request.meta.get("is_start_request") and is_no_host(robots, error):
                # Somebody waits for the first page; links that are found later can wait for a network that is away.
                rules.refusal, rules.until = HostDead(why_unreachable(robots, error)), monotonic() + _FIRST_WAIT
            else:
                self._fail(rules, str(error) or type(error).__name__)

    async def _download(self, robots: Request) -> Response | None:
        """The answer, or None after too many redirects."""
        self.crawler.stats.inc_value("robotstxt/request_count")
        try:
            return await self.crawler.engine.download_async(robots)
        except IgnoreRequest as error:
            if isinstance(error, Postponed | Refused) or "redirections" not in str(error):
                raise
            return None

    def _take(self, rules: SiteRules, response: Response | None, request: Request) -> None:
        self.crawler.stats.inc_value("robotstxt/response_count")
        status = 404 if response is None else response.status
        self.crawler.stats.inc_value(f"robotstxt/response_status_count/{status}")
        if status == 429 or status >= 500:
            self._fail(rules, f"status {status}")
            return
        rules.failures = 0
        rules.until = monotonic() + self._age
        rules.parser, rules.delay = None, 0.0
        self._end_delay(request)
        if response is not None and 200 <= status < 300:
            rules.parser = build_from_crawler(self._parserimpl, self.crawler, head_of(response.body))
            self.crawler.signals.send_catch_log(signals.robots_parsed, robotparser=rules.parser, request=request)
            rules.delay = self._delay(rules.parser, request)

    def _fail(self, rules: SiteRules, why: str, seconds: float | None = None) -> None:
        rules.failures += 1
        rules.parser = None
        if seconds is None:
            seconds = min(_FIRST_WAIT * 2.0 ** min(rules.failures - 1, 30), self._longest_wait)
        rules.until = monotonic() + seconds
        host = rules.site.partition("://")[2]
        logger.info("robots.txt of %s cannot be read (%s): next attempt in %.0f seconds", host, why, seconds)

    def _put_off(self, rules: SiteRules, request: Request) -> None:
        if rules.failures >= self._tries:
            self.crawler.stats.inc_value("robotstxt/unreachable")
            raise DeniedByRobots(f"robots.txt could not be read {rules.failures} times: {request.url}")
        self.crawler.stats.inc_value("focused/postponed/robots")
        raise Postponed("robots.txt cannot be read", max(rules.until - monotonic(), 1.0))

    def _delay(self, parser: RobotParser, request: Request) -> float:
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent", self._default_useragent)
        asked = parser.crawl_delay(agent or "*")
        if asked is None or not asked > 0:
            return 0.0
        self.crawler.stats.inc_value("robotstxt/crawl_delays")
        return min(asked, self._longest_delay)

    def _keep_delay(self, delay: float, request: Request) -> None:
        # With every request: slots come and go, and AutoThrottle knows nothing of this delay.
        key, slot = self.crawler.engine.downloader._get_slot(request)
        slot.delay = max(delay, slot.delay)
        self._slowed.add(key)

    def _end_delay(self, request: Request) -> None:
        """What an earlier robots.txt asked for holds no longer."""
        downloader = self.crawler.engine.downloader
        key, slot = downloader._get_slot(request)
        if key in self._slowed:
            self._slowed.discard(key)
            usual = self.crawler.settings.getfloat("DOWNLOAD_DELAY")
            slot.delay = downloader.per_slot_settings.get(key, {}).get("delay", usual)


def head_of(body: bytes) -> bytes:
    """As much of a robots.txt as counts: whole lines, at most 500 KiB."""
    return body if len(body) <= _MOST_BYTES else body[: body.rfind(b"\n", 0, _MOST_BYTES) + 1]
