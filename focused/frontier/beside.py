"""The job of a crawl under a scheduler that is not ours: records, evidence and lessons, and no frontier.

Links are known here, so that their evidence can become lessons; which of them is next, and which are dropped, Scrapy's
scheduler decides. A page's link is leased when the page has come, and acknowledged when the engine is through with it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext, suppress

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.defer import _schedule_coro

from focused.frontier.engine import EngineAccess
from focused.frontier.flights import Flights
from focused.frontier.outcomes import OutcomeNoter
from focused.frontier.requests import META, priority_to_base
from focused.frontier.resume import open_job
from focused.frontier.store import SEED_RANK, FrontierStore, JobRefused, Lease, LinkHost, NewLink, Outcome, StoreBroken
from focused.pages.urls import join, url_to_host
from focused.parts import Asked, Parts, parts_of
from focused.visits.visit import Scored, Visit

logger = logging.getLogger(__name__)

_SETTLE_EVERY = 0.05


class Beside:
    """What middlewares ask of a frontier, where another scheduler hands out requests."""

    def __init__(self, crawler: Crawler, parts: Parts) -> None:
        self.crawler, self.parts = crawler, parts
        self._flights = Flights(crawler, EngineAccess(crawler))
        self._outcomes = OutcomeNoter(crawler)
        self._timer: CallLaterResult | None = None
        self._is_broken = self._is_closed = False
        job = open_job(crawler, parts)
        self.store = job.store
        parts.begin(crawler, job, self)
        crawler.signals.connect(self._request_scheduled, signals.request_scheduled)
        crawler.signals.connect(self.finish, signals.spider_closed)
        crawler.signals.connect(self.finish, signals.engine_stopped)

    @staticmethod
    def _request_scheduled(request: Request) -> None:
        """Mark what goes through the scheduler, on to a callback; what only `engine.download` fetches does not."""
        request.meta.setdefault(META, {})["scheduled"] = True

    def visit_of(self, request: Request, response: Response) -> Visit | None:
        """The visit for which a response came; it begins with its page."""
        told = request.meta.get(META, {})
        if self._flights.holds(request):
            return self.parts.visits.of(told["token"])
        # Taken off, or requests that are made with this one's meta would have it.
        if not told.pop("scheduled", False):
            return None
        lease = self._lease(request)
        if lease is None:
            # Fetched once more: it is judged for whoever wants to know, and teaches nothing again.
            return Visit(Lease(0, 0, request.url, LinkHost(0, "", 0)))
        told["token"] = lease.token
        self._flights[lease.token] = request
        self._settle_soon()
        return self.parts.visits.begin(lease)

    def _lease(self, request: Request) -> Lease | None:
        """Lease the link that was asked for, and follow it to where it was redirected; None if that was fetched."""
        first, *others = [join(url, "") or url for url in (*request.meta.get("redirect_urls", ()), request.url)]
        is_seed = bool(request.meta.get("is_start_request"))
        base = SEED_RANK if is_seed else 0.0
        new = NewLink(first, url_to_host(first), depth=request.meta.get("depth", 0), base=base)
        lease = self.store.lease_link(int(self.store.admit(None, [new]).links[0]))
        if lease is None:
            return None
        for url in others:
            if not self.store.redirect(lease, url, url_to_host(url)):
                self.parts.visits.begin(lease)
                self._count(self.parts.visits.end(lease, Outcome.REDIRECT, url))
                return None
        self._count_redirects(lease)
        return lease

    def _count_redirects(self, lease: Lease) -> None:
        for _ in lease.chain:
            self._count(Outcome.REDIRECT)

    def failed(self, request: Request, error: Exception) -> None:
        """A request has come to nothing. A link that is dead is a lesson; all else teaches nothing, and waits on."""
        self._outcomes.tell(request, error)
        outcome, detail = self._outcomes.outcome_of(error)
        if outcome is not Outcome.DEAD or not request.meta.get(META, {}).pop("scheduled", False):
            return
        lease = self._lease(request)
        if lease is not None:
            self.parts.visits.begin(lease)
            self._count(self.parts.visits.end(lease, outcome, detail))

    def to_link(self, request: Request) -> NewLink | None:
        """A request as a link: its address, which is all that evidence needs."""
        url = join(request.url, "") or request.url
        depth = request.meta.get("depth", 0)
        return NewLink(url, url_to_host(url), depth=depth, base=priority_to_base(request.priority))

    def admit(self, visit: Visit | None, links: Sequence[Asked], scored: Scored | None = None) -> None:
        """Know the links of a page; Scrapy's scheduler decides which of them it takes."""
        self.parts.visits.admit(visit, [new for new, _ in links], scored)

    def give_up(self, error: StoreBroken) -> None:
        """The job cannot be written: end the crawl."""
        if not self._is_broken:
            self._is_broken = True
            logger.error("%s", error)
            self.crawler.stats.set_value("focused/stopped_by", str(error))
            _schedule_coro(self.crawler.engine.close_spider_async(reason="store_broken"))

    def _settle_soon(self) -> None:
        if self._timer is None:
            self._timer = call_later(_SETTLE_EVERY, self._settle)

    def _settle(self) -> None:
        """Acknowledge what has left the engine."""
        self._timer = None
        try:
            for token, request in self._flights.landed():
                number, detail = request.meta.get(META, {}).get("outcome", (Outcome.OTHER.value, ""))
                self._count(self.parts.visits.end(self.store.leases[token], Outcome(number), str(detail)))
        except StoreBroken as error:
            self.give_up(error)
        if len(self._flights) and not (self._is_broken or self._is_closed):
            self._settle_soon()

    def _count(self, outcome: Outcome) -> None:
        self.crawler.stats.inc_value(f"focused/outcome/{outcome.name.lower()}")

    def finish(self) -> None:
        """Write what is still to be written, and let go of the job: the crawl has ended, and others may read it."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        if not self._is_broken:
            self._settle()
        self.parts.learning.close()
        with suppress(StoreBroken) if self._is_broken else nullcontext():
            self.store.close()


def store_of(crawler: Crawler) -> FrontierStore | None:
    """The store of a crawl's job, from the opening of the spider on; None if our scheduler could not open it.

    Under a scheduler that is not ours whoever asks first opens it; a crawl that must not go on with it ends here.
    """
    parts = parts_of(crawler)
    if parts.store is None and not hasattr(crawler.engine.scheduler, "give_up"):
        try:
            Beside(crawler, parts)
        except (JobRefused, StoreBroken) as error:
            crawler.stats.set_value("focused/stopped_by", str(error))
            raise CloseSpider("store_broken" if isinstance(error, StoreBroken) else "job_refused") from error
    return parts.store
