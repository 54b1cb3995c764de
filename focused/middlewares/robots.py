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
from collections.abc import Callable
from dataclasses import dataclass, field
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
from twisted.internet.defer import Deferred

from focused.bounded import Bounded
from focused.defaults import read
from focused.middlewares.errors import DeniedByRobots, HostDead, Postponed, Refused, is_no_host, why_unreachable

logger = logging.getLogger(__name__)

_MOST_REDIRECTS = 5
_MOST_BYTES = 500 * 1024
_FIRST_WAIT = 60.0


@dataclass(slots=True)
class Rules:
    """What is known of one host's robots.txt.

    Without a parser everything is allowed; while ``failures`` is not 0, nothing is. ``until`` is when to ask again,
    ``refusal`` why the host itself is not to be asked, ``delay`` its Crawl-delay.
    """

    parser: RobotParser | None = None
    failures: int = 0
    until: float = 0.0
    refusal: Refused | None = None
    delay: float = 0.0
    waiting: list[Deferred[None]] | None = field(default=None, repr=False)
    """Requests that wait for the file; None while nobody fetches it."""


class RobotsMiddleware(RobotsTxtMiddleware):
    """Stands in for Scrapy's RobotsTxtMiddleware, at its number; on where ``ROBOTSTXT_OBEY`` is."""

    def __init__(self, crawler: Crawler, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._clock = clock
        self._age: float = read(settings, "FOCUSED_ROBOTS_AGE")
        self._longest_wait: float = read(settings, "FOCUSED_ROBOTS_RETRY")
        self._tries: int = read(settings, "FOCUSED_ROBOTS_TRIES")
        self._longest_delay: float = read(settings, "FOCUSED_CRAWL_DELAY_MAX")
        # The slots in Scrapy's downloader that a robots.txt has slowed down, and those of them that had no settings.
        self._slowed: set[str] = set()
        self._ours: set[str] = set()
        self._rules: Bounded[str, Rules] = Bounded(read(settings, "FOCUSED_ROBOTS_HOSTS"))

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules for a request; raises `Postponed` or `DeniedByRobots` where there can be none."""
        rules = self._rules_of(request)
        if rules.waiting is not None:
            # A Deferred for each: one that several wait for gives its result to the first of them only.
            turn: Deferred[None] = Deferred()
            rules.waiting.append(turn)
            await maybe_deferred_to_future(turn)
        elif self._clock() >= rules.until:
            await self._fetch(rules, request)
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

    def _rules_of(self, request: Request) -> Rules:
        url = urlparse_cached(request)
        key = f"{url.scheme}://{url.netloc}"
        rules = self._rules.get(key)
        if rules is None:
            rules = self._rules[key] = Rules()
        return rules

    async def _fetch(self, rules: Rules, request: Request) -> None:
        rules.waiting = []
        rules.refusal = None
        robots = self._robots_request(request)
        try:
            self._take(rules, await self._download(robots), request)
        except Postponed as error:
            self._fail(rules, request, error.reason, error.seconds)
        except Refused as error:
            # An inner address or a dead host: as true of its pages.
            rules.refusal, rules.until = error, self._clock() + self._longest_wait
        except Exception as error:
            self.crawler.stats.inc_value(f"robotstxt/exception_count/{type(error)}")
            if request.meta.get("is_start_request") and is_no_host(robots, error):
                # Somebody waits for the first page; links that are found later can wait for a network that is away.
                rules.refusal, rules.until = HostDead(why_unreachable(robots, error)), self._clock() + _FIRST_WAIT
            else:
                self._fail(rules, request, str(error) or type(error).__name__)
        finally:
            waiting, rules.waiting = rules.waiting, None
            for turn in waiting:
                turn.callback(None)

    def _robots_request(self, request: Request) -> Request:
        url = urlparse_cached(request)
        return Request(
            f"{url.scheme}://{url.netloc}/robots.txt",
            priority=self.DOWNLOAD_PRIORITY,
            meta={"dont_obey_robotstxt": True, "redirect_ttl": _MOST_REDIRECTS},
            callback=NO_CALLBACK,
        )

    async def _download(self, robots: Request) -> Response | None:
        """The answer, or None after too many redirects."""
        self.crawler.stats.inc_value("robotstxt/request_count")
        try:
            return await self.crawler.engine.download_async(robots)
        except IgnoreRequest as error:
            if isinstance(error, Postponed | Refused) or "redirections" not in str(error):
                raise
            return None

    def _take(self, rules: Rules, response: Response | None, request: Request) -> None:
        self.crawler.stats.inc_value("robotstxt/response_count")
        status = 404 if response is None else response.status
        self.crawler.stats.inc_value(f"robotstxt/response_status_count/{status}")
        if status == 429 or status >= 500:
            self._fail(rules, request, f"status {status}")
            return
        rules.failures = 0
        rules.until = self._clock() + self._age
        rules.parser, rules.delay = None, 0.0
        self._end_delay(request)
        if response is not None and 200 <= status < 300:
            rules.parser = build_from_crawler(self._parserimpl, self.crawler, head_of(response.body))
            self.crawler.signals.send_catch_log(signals.robots_parsed, robotparser=rules.parser, request=request)
            rules.delay = self._delay(rules.parser, request)

    def _fail(self, rules: Rules, request: Request, why: str, seconds: float | None = None) -> None:
        rules.failures += 1
        rules.parser = None
        if seconds is None:
            seconds = min(_FIRST_WAIT * 2.0 ** min(rules.failures - 1, 30), self._longest_wait)
        rules.until = self._clock() + seconds
        host = urlparse_cached(request).netloc
        logger.info("robots.txt of %s cannot be read (%s): the host waits for %.0f seconds", host, why, seconds)

    def _put_off(self, rules: Rules, request: Request) -> None:
        if rules.failures >= self._tries:
            self.crawler.stats.inc_value("robotstxt/unreachable")
            raise DeniedByRobots(f"robots.txt could not be read {rules.failures} times: {request.url}")
        self.crawler.stats.inc_value("focused/postponed/robots")
        raise Postponed("robots.txt cannot be read", max(rules.until - self._clock(), 1.0))

    def _delay(self, parser: RobotParser, request: Request) -> float:
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent", self._default_useragent)
        asked = parser.crawl_delay(agent or "*")
        if asked is None or not asked > 0:
            return 0.0
        self.crawler.stats.inc_value("robotstxt/crawl_delays")
        return min(asked, self._longest_delay)

    def _keep_delay(self, delay: float, request: Request) -> None:
        # With every request: slots come and go, and AutoThrottle knows nothing of this delay.
        downloader = self.crawler.engine.downloader
        key = downloader.get_slot_key(request)
        slot = downloader.slots.get(key)
        self._slowed.add(key)
        if slot is not None:
            slot.delay = max(delay, slot.delay)
        elif key not in downloader.per_slot_settings:
            usual = self.crawler.settings.getfloat("DOWNLOAD_DELAY")
            downloader.per_slot_settings[key] = {"delay": max(delay, usual)}
            self._ours.add(key)

    def _end_delay(self, request: Request) -> None:
        """What an earlier robots.txt asked for holds no longer."""
        downloader = self.crawler.engine.downloader
        key = downloader.get_slot_key(request)
        if key not in self._slowed:
            return
        self._slowed.discard(key)
        if key in self._ours:
            self._ours.discard(key)
            del downloader.per_slot_settings[key]
        if key in downloader.slots:
            own, usual = downloader.per_slot_settings.get(key, {}), self.crawler.settings.getfloat("DOWNLOAD_DELAY")
            downloader.slots[key].delay = own.get("delay", usual)


def head_of(body: bytes) -> bytes:
    """As much of a robots.txt as counts: whole lines, at most 500 KiB."""
    return body if len(body) <= _MOST_BYTES else body[: body.rfind(b"\n", 0, _MOST_BYTES) + 1]
