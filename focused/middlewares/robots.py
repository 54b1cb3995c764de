"""robots.txt as RFC 9309 wants it: what cannot be read forbids everything for now, what is not there allows everything.

Scrapy's own middleware, which this one extends, ignores the status: a 503 or a network error allows everything, for
the rest of the run. Here:

- 2xx: the rules hold for a day, then they are fetched again; of a long file the first 500 KiB are fetched, and count.
- 4xx, or more than five redirects: no rules.
- 429, 5xx, a network error: nothing may be fetched for now. The requests are put off, robots.txt is asked for again
  after a while, longer each time, and after some times the host's links are refused.
- Crawl-delay becomes the delay of the host's downloader slot, up to a limit.

What the rules say is the business of the ``ROBOTSTXT_PARSER``: `focused.safety.robots_txt`, which keeps those for one
crawler, unless the project has another.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThread

from focused.defaults import read
from focused.errors import Crowded, DeniedByRobots, HostDead, Postponed, Refused, is_no_host, why_unreachable
from focused.responses import IN_THREAD
from focused.safety.robots_txt import RobotsTxt, product_token
from focused.scheduling.requests import META

logger = logging.getLogger(__name__)

_MOST_REDIRECTS = 5
_MOST_BYTES = 500 * 1024
_MOST_UNPACKED = 20 * _MOST_BYTES
MOST_REMEMBERED = 64 * 1024 * 1024
"""Bytes of the rules of all hosts: a robots.txt of 500 KiB takes up to 4 MB, and subdomains cost nothing."""
_FIRST_WAIT = 60.0


@dataclass(slots=True)
class SiteRules:
    """What is known of a site's robots.txt.

    Without a parser everything is allowed; while ``failures`` is not 0, nothing is. ``until`` is when to ask again,
    ``refusal`` why the host itself is not to be asked, ``delay`` its Crawl-delay. ``agent`` is the product token for
    which the rules are read, '' where the parser keeps those of all; ``size`` is about what they take in memory.
    """

    site: str
    agent: str = ""
    parser: RobotParser | None = None
    failures: int = 0
    until: float = 0.0
    refusal: Refused | None = None
    delay: float = 0.0
    size: int = 0
    lock: DeferredLock = field(default_factory=DeferredLock, repr=False)
    """Held by the request that fetches the file."""


class RememberedSites(OrderedDict[tuple[str, str], SiteRules]):
    """What is remembered: the rules used longest ago go first."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def rules_of(self, site: str, agent: str) -> SiteRules:
        """The rules of a site for an agent, now the last used."""
        if (site, agent) not in self:
            self[site, agent] = SiteRules(site, agent)
        self.move_to_end((site, agent))
        if len(self) > self.most:
            self.popitem(last=False)
        return self[site, agent]

    def forget(self) -> None:
        """Keep no more rules than may be remembered of all sites together."""
        size = sum(rules.size for rules in self.values())
        while size > MOST_REMEMBERED:
            _, oldest = self.popitem(last=False)
            size -= oldest.size


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
        self._sites = RememberedSites(read(settings, "FOCUSED_ROBOTS_HOSTS"))
        self._has_warned = False
        implementation: Any = self._parserimpl
        is_ours = isinstance(implementation, type) and issubclass(implementation, RobotsTxt)
        self._for_agent: type[RobotsTxt] | None = implementation if is_ours else None
        if is_ours:
            self._say_who_we_are()
        crawler.signals.connect(self.headers_received, signals.headers_received)
        crawler.signals.connect(self.bytes_received, signals.bytes_received)

    def headers_received(self, headers: Mapping[bytes, Any], request: Request) -> None:
        ours = request.meta.get(META, {})
        if "robots" in ours:
            ours["robots"] = 0
            # However long it is said to be, we take its beginning; but what is packed is unpacked as a whole.
            request.meta["download_maxsize"] = _MOST_UNPACKED if b"Content-Encoding" in headers else 0

    def bytes_received(self, data: bytes, request: Request) -> None:
        ours = request.meta.get(META, {})
        if "robots" in ours:
            ours["robots"] += len(data)
            if ours["robots"] > _MOST_BYTES:
                raise StopDownload(fail=False)

    def _say_who_we_are(self) -> None:
        name = "ROBOTSTXT_USER_AGENT" if self._robotstxt_useragent else "USER_AGENT"
        agent = self._robotstxt_useragent or self._default_useragent or ""
        if token := product_token(agent):
            logger.info("robots.txt is obeyed as %r, the product token of %s", token, name)
        else:
            logger.warning(
                "%s %r has no product token: only the rules of robots.txt for all crawlers apply", name, agent
            )

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules for a request; raises `Postponed` or `DeniedByRobots` where there can be none."""
        rules = self._rules_of(request)
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

    def _rules_of(self, request: Request) -> SiteRules:
        url = urlparse_cached(request)
        agent = product_token(self._agent(request)) if self._for_agent else ""
        return self._sites.rules_of(f"{url.scheme}://{url.netloc}", agent)

    def _agent(self, request: Request) -> str | bytes:
        agent: str | bytes | None = self._robotstxt_useragent
        return agent or request.headers.get(b"User-Agent", self._default_useragent) or ""

    async def _fetch(self, rules: SiteRules, request: Request) -> None:
        rules.refusal = None
        # Read before the headers come where HTTP/2 is spoken.
        sizes = {"download_maxsize": 0, "download_warnsize": 0}
        robots = Request(
            f"{rules.site}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            # The first bytes of what is packed would be of unknown length.
            headers={"Accept-Encoding": "identity"},
            meta={"dont_obey_robotstxt": True, "redirect_ttl": _MOST_REDIRECTS, **sizes, META: {"robots": 0}},
            callback=NO_CALLBACK,
        )
        try:
            await self._take(rules, await self._download(robots), request)
        except Crowded:
            # It was not asked for.
            raise
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

    async def _take(self, rules: SiteRules, response: Response | None, request: Request) -> None:
        self.crawler.stats.inc_value("robotstxt/response_count")
        status = 404 if response is None else response.status
        self.crawler.stats.inc_value(f"robotstxt/response_status_count/{status}")
        if status == 429 or status >= 500:
            self._fail(rules, f"status {status}")
            return
        parser = None
        if response is not None and 200 <= status < 300:
            parser = await self._parse(rules, response.body)
            self.crawler.signals.send_catch_log(signals.robots_parsed, robotparser=parser, request=request)
        rules.failures = 0
        rules.until = monotonic() + self._age
        rules.parser = parser
        rules.size = parser.size if isinstance(parser, RobotsTxt) else 0
        self._end_delay(request)
        rules.delay = self._delay(parser, request) if parser is not None else 0.0
        self._sites.forget()

    async def _parse(self, rules: SiteRules, body: bytes) -> RobotParser:
        head = head_of(body)
        make: Callable[[], RobotParser]
        if self._for_agent is not None:
            make = partial(self._for_agent, head, rules.agent)
        else:
            make = partial(build_from_crawler, self._parserimpl, self.crawler, head)
        parser = make() if len(head) <= IN_THREAD else await maybe_deferred_to_future(deferToThread(make))
        left_out = Counter({"ends": 1} if len(body) > len(head) else {})
        if isinstance(parser, RobotsTxt):
            left_out.update(parser.left_out)
        if left_out:
            self._count_left_out(rules.site, left_out)
        return parser

    def _count_left_out(self, site: str, left_out: Counter[str]) -> None:
        for why, count in left_out.items():
            self.crawler.stats.inc_value(f"focused/robots/left_out/{why}", count)
        if not self._has_warned:
            self._has_warned = True
            what = ", ".join(f"{why}: {count}" for why, count in left_out.items())
            logger.warning(
                "%s/robots.txt exceeds a limit (left out: %s). Further cases are only counted, in "
                "focused/robots/left_out/*",
                *(site, what),
            )

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
        asked = parser.crawl_delay(self._agent(request) or "*")
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
    if len(body) <= _MOST_BYTES:
        return body
    return body[: max(body.rfind(end, 0, _MOST_BYTES) for end in (b"\n", b"\r")) + 1]
