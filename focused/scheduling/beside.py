"""The job of a crawl under a scheduler that is not ours: records, evidence and lessons, and no frontier.

Links are known here, so that their evidence can become lessons; which of them is next, and which are dropped, Scrapy's
scheduler decides. A page's link is leased when the page has come, and acknowledged when the engine is through with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import CallLaterResult, call_later

from focused.frontier.inbox import Order
from focused.frontier.store import SEED_RANK, Lease, LinkHost, NewLink, Outcome, StoreBroken
from focused.job import OpenJob
from focused.pages.urls import join, url_to_host
from focused.parts import parts_of
from focused.scheduling.dispatcher import Dispatcher
from focused.scheduling.requests import META
from focused.scheduling.resume import open_job
from focused.starting import close_before_start
from focused.visits.visit import Visit

_SETTLE_EVERY = 0.05


class Beside(Dispatcher):
    """What middlewares ask of a frontier, where another scheduler hands out requests."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._timer: CallLaterResult | None = None
        self._is_closed = False
        self._begin()
        if self.cannot_begin:
            close_before_start(crawler, self.cannot_begin)
        if self.is_broken:
            return
        crawler.signals.connect(self._request_scheduled, signals.request_scheduled)
        crawler.signals.connect(self._request_dropped, signals.request_dropped)
        crawler.signals.connect(self.finish, signals.spider_closed)
        crawler.signals.connect(self.finish, signals.engine_stopped)

    def _open_job(self) -> OpenJob:
        return open_job(self.crawler, self.parts)

    @staticmethod
    def _request_scheduled(request: Request) -> None:
        """Mark what goes through the scheduler, on to a callback; what only `engine.download` fetches does not."""
        request.meta.setdefault(META, {})["scheduled"] = True

    def _request_dropped(self, request: Request) -> None:
        """A redirect to an address that was asked for before ends here; what is at that address may still come."""
        before = request.meta.get("redirect_urls", ())
        try:
            lease = self._lease(request) if before else None
            if lease is not None and request.url in before:
                self._close(lease, Outcome.OTHER, "it redirects to itself")
            elif lease is not None:
                self.store.postpone(lease)
        except StoreBroken as error:
            self.give_up(error)

    def visit_of(self, request: Request, response: Response) -> Visit | None:
        """The visit for which a response came; it begins with its page."""
        ours = request.meta.get(META, {})
        if self._is_out(request):
            return self.parts.visits.of(ours["token"])
        # Taken off, or requests that are made with this one's meta would have it.
        if not ours.pop("scheduled", False):
            return None
        lease = self._lease(request)
        if lease is None:
            # Fetched once more: it is judged for whoever wants to know, and teaches nothing again.
            return Visit(Lease(0, 0, request.url, LinkHost(0, "", 0)))
        ours["token"] = lease.token
        self._out[lease.token] = request
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
                self._close(lease, Outcome.REDIRECT, url)
                return None
        for _ in lease.chain:
            self._count(Outcome.REDIRECT)
        return lease

    def pause(self, is_paused: bool) -> None:
        """The scheduler is not ours: the engine asks it for nothing."""
        (self.crawler.engine.pause if is_paused else self.crawler.engine.unpause)()

    def cannot(self, order: Order) -> str:
        if order.verb in {"leave-out", "prefer"} or order.value.startswith("per_host="):
            return "which link is next, and which are left out, another scheduler than Focused's decides here"
        return ""

    def fetch_soon(self, requests: Sequence[Request]) -> None:
        for request in requests:
            self.crawler.engine.crawl(request)

    def failed(self, request: Request, error: Exception) -> None:
        """A request has come to nothing. A link that brings no page is through; all else waits on."""
        self._outcomes.tell(request, error)
        outcome, detail = self._outcomes.outcome_of(error)
        if outcome not in {Outcome.DEAD, Outcome.UNAVAILABLE} or not request.meta.get(META, {}).pop("scheduled", False):
            return
        lease = self._lease(request)
        if lease is not None:
            self._close(lease, outcome, detail)

    def _close(self, lease: Lease, outcome: Outcome, detail: str) -> None:
        """A link has ended without a page."""
        self.parts.visits.begin(lease)
        self._acknowledge(lease, outcome, detail)

    def _settle_soon(self) -> None:
        if self._timer is None:
            self._timer = call_later(_SETTLE_EVERY, self._settle)

    def _settle(self) -> None:
        self._timer = None
        try:
            super()._settle()
        except StoreBroken as error:
            self.give_up(error)
        if self._out and not (self.is_broken or self._is_closed):
            self._settle_soon()

    def finish(self) -> None:
        """Write what is still to be written, and let go of the job: the crawl has ended, and others may read it."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        if not self.is_broken:
            self._settle()
        self.parts.learning.close()
        try:
            self.store.close()
        except StoreBroken as error:
            self.give_up(error)


def open_job_beside(crawler: Crawler) -> None:
    """Open the job of a crawl whose scheduler is not ours, once. With ours there is nothing to do."""
    if parts_of(crawler).frontier is None:
        Beside(crawler)
