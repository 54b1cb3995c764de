"""What our scheduler and `Beside` another one have in common: the job, the requests that are out, how they end."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import _schedule_coro

from focused.frontier.inbox import Order
from focused.frontier.steering import PreferringStore
from focused.frontier.store import (
    SEED_RANK,
    Admitted,
    FrontierStore,
    JobGone,
    JobRefused,
    Lease,
    NewLink,
    Outcome,
    StoreAway,
    StoreBroken,
)
from focused.job import Company, OpenJob
from focused.pages.urls import join, url_to_host
from focused.parts import Asked, Component
from focused.safety.neighbourhoods import Neighbours
from focused.scheduling.engine import EngineAccess
from focused.scheduling.outcomes import OutcomeNoter, note
from focused.scheduling.requests import META, priority_to_base
from focused.starting import refusal_of
from focused.visits.visit import Scored, Visit

logger = logging.getLogger(__name__)


class Dispatcher(Component):
    """Has the job of a crawl open, and acknowledges each link when its request has left the engine.

    ``cannot_begin`` is the reason for which a crawl must be closed before it has begun; '' if it may begin.
    """

    store: FrontierStore
    """The links; there from the opening of the spider on."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Can the store not be written? Is its file gone?
        self.is_broken = self.is_gone = False
        self.cannot_begin = ""
        self._engine = EngineAccess(crawler)
        self._outcomes = OutcomeNoter(crawler)
        self._company = Company()
        self.neighbours = Neighbours()
        # Requests that are not through callback and pipelines yet, by the token of their lease.
        self._out: dict[int, Request] = {}
        crawler.signals.connect(_note_failed_callback, signals.spider_error)

    def _begin(self) -> None:
        """Open the job, unless the crawl was refused; where it cannot be opened, the crawl cannot begin."""
        self.parts.frontier, self.is_broken = self, bool(refusal_of(self.crawler))
        if self.is_broken:
            return
        try:
            job = self._open_job()
            self.store = job.store
            self.parts.begin(self.crawler, job, self)
            job.company.begin(self)
            self._company = job.company
        except (JobRefused, StoreBroken) as error:
            self.is_broken = True
            is_refused = isinstance(error, JobRefused) and not isinstance(error, StoreAway)
            self.cannot_begin = "job_refused" if is_refused else "store_broken"
            self.crawler.stats.set_value("focused/stopped_by", str(error))

    def _open_job(self) -> OpenJob:
        raise NotImplementedError

    def visit_of(self, request: Request, response: Response) -> Visit | None:
        """The visit for which a response came; None if its request was not handed out for one."""
        raise NotImplementedError

    def to_link(self, request: Request) -> NewLink | None:
        """A request as a link to be admitted; None if it goes out by another way."""
        url = join(request.url, "") or request.url
        is_seed = request.meta.get("is_start_request")
        base = SEED_RANK if is_seed else priority_to_base(request.priority)
        return NewLink(url, url_to_host(url), depth=request.meta.get("depth", 0), base=base)

    def admit(self, visit: Visit | None, links: Sequence[Asked], scored: Scored | None = None) -> Admitted:
        """Admit links of a page, those with evidence first: each with the request that asks for it, if there is one."""
        return self.parts.visits.admit(visit, [new for new, _ in links], scored)

    def fetch_soon(self, requests: Sequence[Request]) -> None:
        """Have pages fetched whose links were admitted by themselves."""
        self._engine.wake()

    def failed(self, request: Request, error: Exception) -> None:
        """A request has come to nothing. Its errback, which also sees what no middleware does, notes how it ends."""

    def finish(self) -> None:
        """Write what is still to be written before the job is read."""

    def pause(self, is_paused: bool) -> None:
        """Hand out nothing, or go on. Whoever pauses does not end."""
        raise NotImplementedError

    def cannot(self, order: Order) -> str:
        """Why an order cannot be carried out here; '' if it can be."""
        is_missing = order.verb == "prefer" and not isinstance(self.store, PreferringStore)
        return "where this crawl is kept no links can go before others" if is_missing else ""

    def let_go_of_lost(self) -> None:
        """Forget what waits to be sent again under leases that were lost."""

    def give_up(self, error: StoreBroken) -> None:
        """End the crawl: the store cannot be written. Nothing that was acknowledged is lost."""
        if not self.is_broken:
            self.is_broken, self.is_gone = True, isinstance(error, JobGone)
            logger.error("%s", error)
            self.crawler.stats.set_value("focused/stopped_by", str(error))
            _schedule_coro(self.crawler.engine.close_spider_async(reason="store_broken"))

    def _is_out(self, request: Request) -> bool:
        """Is this very request out? (One that was made from it, or with its meta, is not.)"""
        return self._out.get(request.meta.get(META, {}).get("token", 0)) is request

    def _settle(self) -> None:
        """Acknowledge what has left the engine."""
        if self._out:
            in_progress = self._engine.in_progress()
            for token, request in [item for item in self._out.items() if item[1] not in in_progress]:
                del self._out[token]
                self._end(self.store.leases[token], request)

    def _end(self, lease: Lease, request: Request) -> None:
        """The request of a lease is through; what became of it is in its meta."""
        number, detail = request.meta.get(META, {}).get("outcome", (Outcome.OTHER.value, ""))
        self._acknowledge(lease, Outcome(number), str(detail))

    def _acknowledge(self, lease: Lease, outcome: Outcome, detail: str) -> None:
        self._count(self.parts.visits.end(lease, outcome, detail))

    def _count(self, outcome: Outcome) -> None:
        self.crawler.stats.inc_value(f"focused/outcome/{outcome.name.lower()}")


def _note_failed_callback(failure: Any, response: Any) -> None:
    request = getattr(response, "request", None)
    if request is not None:
        note(request, Outcome.FAILED, f"callback: {failure.value!r}")
