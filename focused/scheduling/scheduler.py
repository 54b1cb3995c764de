"""The frontier as Scrapy's scheduler.

A request goes *waiting → leased → done*. It is acknowledged when it has left the engine's in-progress set, that is
after callback *and* pipelines. Retries and redirects come back through `enqueue_request` while the original is still
in progress; they carry its lease token and re-enter under it. What became of a request is told by others in its meta
(`focused.scheduling.outcomes`), or by a page that was recorded under its token (`focused.pipelines.critic`).
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Sequence
from random import getrandbits
from time import monotonic
from typing import Self

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from focused.critics.base import RELEVANT
from focused.defaults import read
from focused.errors import Refused
from focused.frontier.store import Admitted, Closed, FrontierStore, Lease, LinkHost, NewLink, Outcome, StoreBroken
from focused.job import OpenJob, place_of
from focused.pages.urls import join, url_to_host, url_to_key
from focused.parts import Asked
from focused.scheduling.dispatcher import Dispatcher
from focused.scheduling.neighbours import neighbours_of
from focused.scheduling.outcomes import POSTPONED, note
from focused.scheduling.requests import (
    META,
    BadRequest,
    is_plain,
    request_from_bytes,
    request_from_link,
    request_to_bytes,
)
from focused.starting import close_before_start, topic_of
from focused.visits.visit import Scored, Visit

logger = logging.getLogger(__name__)

_FLUSH_AFTER = 0.05
# So many links that may not be followed are closed before others have their turn.
_MOST_CLOSED = 200


class FrontierScheduler(Dispatcher, BaseScheduler):
    """Hands out the best link whose host may be fetched now, and forgets it only when it is through."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._coming_back: dict[int, Request] = {}
        self._kept_in_memory: dict[int, Request] = {}
        self._kept_here: deque[Request] = deque()
        self._keys_here: set[int] = set()
        self._postponed: Counter[int] = Counter()
        self._is_paused = False
        self._busy: Counter[int] = Counter()
        self._last: dict[int, float] = {}
        self._sleeping: dict[str, float] = {}
        self._timer: CallLaterResult | None = None
        self._flusher: CallLaterResult | None = None
        settings = crawler.settings
        self._most_out: int = settings.getint("CONCURRENT_REQUESTS")
        self._postponed_times: int = read(settings, "FOCUSED_POSTPONED_TIMES")
        crawler.signals.connect(self._spider_opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | Scheduler:  # type: ignore[override]  # see below
        """Our frontier; for crawls without a topic (``scrapy shell``, somebody's own spider) Scrapy's scheduler."""
        return cls(crawler) if topic_of(crawler) is not None else Scheduler.from_crawler(crawler)

    def open(self, spider: Spider) -> None:
        self.spider = spider
        self._begin()
        if self.parts.job is not None:
            self.neighbours = self.parts.job.neighbours or neighbours_of(self.crawler)

    def _open_job(self) -> OpenJob:
        return place_of(self.crawler.settings).open_job(self.crawler, self.parts)

    def _spider_opened(self) -> None:
        """A crawl that must not begin ends here: what Scrapy has opened by now it can close again."""
        if self.cannot_begin:
            close_before_start(self.crawler, self.cannot_begin)

    def close(self, reason: str) -> Deferred[None] | None:
        for name, count in self.parts.scope.refused.items():
            self.crawler.stats.set_value(f"focused/scope/refused/{name}", count)
        for timer in (self._timer, self._flusher):
            if timer is not None:
                timer.cancel()
        self._company.close()
        return deferred_from_coro(self._close_store(self.parts.store)) if self.parts.store is not None else None

    async def _close_store(self, store: FrontierStore) -> None:
        # What it learns just now may be what a user has told it.
        await self.parts.learning.rest()
        for step in (self._settle, self.parts.learning.close, store.close):
            try:
                step()
            except StoreBroken as error:
                self.give_up(error)

    def has_pending_requests(self) -> bool:
        if self.is_broken:
            return False
        if self._is_paused:
            return True
        if self._is_done():
            return False
        standing = self.store.standing()
        return bool(standing.waiting or standing.leased_elsewhere or self._coming_back or self._kept_here)

    def enqueue_request(self, request: Request) -> bool:
        try:
            ours = request.meta.get(META, {})
            if "admitted" in ours:
                return bool(request.meta.pop(META)["admitted"])
            lease = self._coming_under(ours.get("token", 0))
            return self._take_back(request, lease) if lease is not None else self._admit(request)
        except StoreBroken as error:
            self.give_up(error)
            return False

    def next_request(self) -> Request | None:
        if self.is_broken:
            return None
        try:
            self._settle()
            # Links under way are fetched again after a crash, so their number is bounded: not by the downloader's
            # view alone, which forgets those at callback and pipelines.
            if self._is_paused or self._is_done() or self._is_full() or 0 < self._most_out <= len(self._out):
                return None
            if self._kept_here:
                return self._kept_here.popleft()
            return self._lease()
        except StoreBroken as error:
            self.give_up(error)
            return None

    def pause(self, is_paused: bool) -> None:
        self._is_paused = is_paused

    def sleep(self, host: str, seconds: float) -> None:
        """Fetch nothing from a host for some time."""
        self._sleeping[host] = max(monotonic() + seconds, self._sleeping.get(host, 0.0))
        self._company.sleep(host, seconds)
        self.crawler.stats.inc_value("focused/host/put_to_sleep")

    def _lease(self) -> Request | None:
        """The request of the next link; those that may not be followed are closed on the way, some at a time."""
        for _ in range(_MOST_CLOSED):
            lease = self.store.lease(monotonic(), self._gate)
            if lease is None:
                self._wake_at(self.store.next_wake())
                return None
            request = self._coming_back.pop(lease.token, None)
            refusal, outcome = "" if request else self._refusal(lease), Outcome.DENIED
            try:
                if not refusal:
                    return self._dispatch(lease, request or self._build(lease))
            except BadRequest as error:
                refusal, outcome = str(error), Outcome.FAILED
            self.store.acknowledge(lease, outcome, refusal)
            self._count(outcome)
        self._wake_at(monotonic())
        return None

    def _refusal(self, lease: Lease) -> str:
        """Why a link is not to be fetched: its host is full, or the rules were others when it came in."""
        per_host = self.parts.stops.per_host
        if 0 < per_host <= lease.host.pages:
            return f"limit of {per_host} pages per host"
        if pattern := self.parts.scope.left_out.match(lease.url, lease.host.name):
            self.crawler.stats.inc_value("focused/steer/left_out")
            return f"left out by an order: {pattern}"
        reason = self.parts.scope.refusal(lease.url, lease.host.name, lease.depth, is_given=not lease.source)
        if reason and lease.seed:
            seed = Request(lease.url, meta={"is_start_request": True})
            self._outcomes.tell(seed, Refused("its host is excluded by allow_hosts or deny_hosts"))
        return f"out of scope: {reason}" if reason else ""

    # --- coming in ---------------------------------------------------------------------------------------------

    def to_link(self, request: Request) -> NewLink | None:
        """A request as a link to be admitted; None if only this worker can send it, and does so without a lease."""
        new = super().to_link(request)
        if new is not None and not is_plain(request, self.spider):
            new.key = self._key(request, new.url)
            if not self._store_whole(request, new) and self._company.hands_links_on:
                request.meta[META] = {"admitted": self._keep_here(request, new.key or url_to_key(new.url))}
                return None
        return new

    def admit(self, visit: Visit | None, links: Sequence[Asked], scored: Scored | None = None) -> Admitted:
        """Their requests find themselves admitted when the engine hands them in."""
        admitted = super().admit(visit, links, scored)
        rows = zip(links, admitted.links.tolist(), admitted.fresh.tolist(), strict=True)
        for (new, request), link, is_fresh in rows:
            if request is None:
                continue
            request.meta[META] = {"admitted": is_fresh}
            if is_fresh and new.request is None and not is_plain(request, self.spider):
                self._kept_in_memory[link] = request
            self.crawler.stats.inc_value("focused/link/admitted" if is_fresh else "focused/link/known")
        return admitted

    def _admit(self, request: Request) -> bool:
        """Admit a request that is of no page."""
        new = self.to_link(request)
        if new is not None:
            self.admit(None, [(new, request)])
        return bool(request.meta.pop(META)["admitted"])

    def _key(self, request: Request, url: str) -> int:
        """The identity of a request that is more than its address; 0 if its address tells it from all others.

        One that is not to be filtered takes a number of its own if its address is known already.
        """
        if request.dont_filter:
            return getrandbits(63) if self.store.known([url]).links[0] else 0
        fingerprint = self.crawler.request_fingerprinter.fingerprint
        own = fingerprint(request)
        return int.from_bytes(own[:8], "big") >> 1 if own != fingerprint(Request(request.url)) else 0

    def _store_whole(self, request: Request, new: NewLink) -> bool:
        """Put a request that is more than an address into its link; False if it cannot be written."""
        try:
            new.request = request_to_bytes(request, self.spider)
        except (TypeError, ValueError, OverflowError) as error:
            if not self._kept_in_memory:
                logger.warning("%s cannot be written to the job (%s): it is lost if the crawl dies", request, error)
            self.crawler.stats.inc_value("focused/link/kept_in_memory")
            return False
        return True

    def _keep_here(self, request: Request, key: int) -> bool:
        """A request that only this worker can send is told to nobody. It goes out without a lease."""
        if key in self._keys_here:
            return False
        self._keys_here.add(key)
        self._kept_here.append(request)
        return True

    def _coming_under(self, token: int) -> Lease | None:
        """The lease under which a retry or a redirect comes back: one for which no page has come yet."""
        visit = self.parts.visits.of(token)
        return visit.lease if visit is not None and visit.page is None and token in self._out else None

    def _take_back(self, request: Request, lease: Lease) -> bool:
        """A retry or a redirect re-enters under the lease of the original."""
        host, link = lease.host, lease.link
        # Before it goes on to another host: that it went out to this one must be known.
        self._company.came_back(lease.token)
        if request.url != self._out[lease.token].url:
            url = join(request.url, "")
            admitted = self.parts.scope.admit([url], request.meta.get("depth", 0))[0]
            if not url or admitted is None:
                note(request, Outcome.DENIED, f"redirect out of scope: {request.url}")
                return False
            if not self.store.redirect(lease, url, url_to_host(url)):
                return False
            if lease.link != link:
                self._count(Outcome.REDIRECT)
        del self._out[lease.token]
        self._free(host)
        request.meta[META].pop("outcome", None)
        self._coming_back[lease.token] = request
        self.store.return_lease(lease)
        return True

    # --- going out ---------------------------------------------------------------------------------------------

    def _dispatch(self, lease: Lease, request: Request) -> Request:
        self._outcomes.watch(request)
        self._out[lease.token] = request
        self.parts.visits.begin(lease)
        self._busy[lease.host.number] += 1
        self.neighbours.begin(lease.host.name, is_new=self._is_new(lease.host))
        self._last[lease.host.number] = monotonic()
        self._company.watch(lease, request)
        if self._flusher is None:
            self._flusher = call_later(_FLUSH_AFTER, self._flush)
        return request

    def _build(self, lease: Lease) -> Request:
        if lease.link in self._kept_in_memory:
            request = self._kept_in_memory.pop(lease.link)
        elif lease.request is not None:
            request = request_from_bytes(lease.request, self.spider)
        else:
            request = request_from_link(lease.url, lease.depth)
        own = {"token": lease.token, "link": lease.link, "score": lease.score, "source": lease.source}
        request.meta[META] = {**own, "seed": lease.seed}
        if lease.seed:
            request.meta["is_start_request"] = True
        return request

    def _gate(self, host: LinkHost) -> float:
        """When a host may be fetched next; 0 = now, inf = when a fetch of it has ended."""
        pace = self._engine.pace(host.name)
        busy = self._busy[host.number]
        if busy >= pace.concurrency or self._has_all_out(host, busy):
            return float("inf")
        last = max(self._last.get(host.number, 0.0), pace.last)
        ready = max(last + pace.delay if pace.delay and last else 0.0, self._sleeping.get(host.name, 0.0))
        if ready > monotonic():
            return ready
        opens, line = self.neighbours.opens(host.name, is_new=self._is_new(host))
        return Closed(opens, line) if opens else 0.0

    def _is_new(self, host: LinkHost) -> bool:
        """Was nothing asked of a host so far?"""
        return not host.pages and host.number not in self._last

    def _has_all_out(self, host: LinkHost, busy: int) -> bool:
        """Are as many pages of a host on their way as it may still give?"""
        per_host = self.parts.stops.per_host
        return bool(per_host) and 0 < per_host - host.pages <= busy

    def _is_full(self) -> bool:
        """Are as many pages out as may still come?"""
        most = self.parts.stops.pages
        if not most or self._coming_back:
            return False
        standing = self.store.standing()
        return standing.pages + len(self._out) + standing.leased_elsewhere >= most

    def _is_done(self) -> bool:
        """Are as many pages there as were asked for? (Of those that are out elsewhere, some may come to nothing.)"""
        stops = self.parts.stops
        if not (stops.pages or stops.found):
            return False
        standing = self.store.standing()
        return 0 < stops.pages <= standing.pages or 0 < stops.found <= standing.found

    def _wake_at(self, wake: float | None) -> None:
        if wake is None:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = call_later(max(wake - monotonic(), 0.001), self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._engine.wake()

    def _flush(self) -> None:
        """Write leases down soon: a page that kills its crawl must be known by its lease."""
        self._flusher = None
        try:
            left = self._company.look()
            self.store.commit()
        except StoreBroken as error:
            self.give_up(error)
        else:
            if left:
                self._flusher = call_later(_FLUSH_AFTER, self._flush)

    # --- ending ------------------------------------------------------------------------------------------------

    def let_go_of_lost(self) -> None:
        for lease in [lease for token in self._coming_back if (lease := self.store.leases[token]).is_lost]:
            del self._coming_back[lease.token]
            self._lose(lease)

    def _lose(self, lease: Lease) -> None:
        """This worker was taken for dead, and the link is somebody else's now."""
        self.parts.visits.forget(lease)
        self.store.acknowledge(lease, Outcome.OTHER)
        self.crawler.stats.inc_value("focused/lease/lost")

    def _end(self, lease: Lease, request: Request) -> None:
        self._company.came_back(lease.token)
        if lease.page is not None and lease.page.relevance >= RELEVANT:
            self.neighbours.has_shown(lease.host.name)
        outcome, detail = request.meta.get(META, {}).get("outcome", ("", ""))
        if lease.is_lost:
            self._lose(lease)
        elif outcome != POSTPONED:
            super()._end(lease, request)
        elif self._postponed[lease.link] < self._postponed_times:
            self._postpone(lease, request, float(detail))
        else:
            self._acknowledge(lease, Outcome.DENIED, "postponed too often")
        self._free(lease.host)

    def _postpone(self, lease: Lease, request: Request, seconds: float) -> None:
        self._postponed[lease.link] += 1
        self.sleep(url_to_host(request.url), seconds)
        self.crawler.stats.inc_value("focused/link/postponed")
        self.parts.visits.forget(lease)
        self.store.postpone(lease)

    def _free(self, host: LinkHost) -> None:
        self._busy[host.number] -= 1
        if self._busy[host.number] <= 0:
            del self._busy[host.number]
        self.neighbours.end(host.name)

    def visit_of(self, request: Request, response: Response) -> Visit | None:
        """The visit for which a response came. Its page is about to be parsed: its lease must be known before."""
        if not self._is_out(request):
            return None
        visit = self.parts.visits.of(request.meta[META]["token"])
        if visit is not None and visit.page is None:
            self._begin_work(visit.lease)
        return visit

    def _begin_work(self, lease: Lease) -> None:
        self._company.came_back(lease.token)
        try:
            self.store.begin_work(lease)
        except StoreBroken as error:
            self.give_up(error)
