"""Scores links before they are followed: the prioritizer's place in Scrapy.

All links of a page become evidence at once and are scored at once; the score is added to ``request.priority``, with
any scheduler. A known link gets the evidence without a request. Ours stands nearest the engine, behind the middlewares
for depth, address length and a user's own: it sees what they let through, and only that is admitted to the frontier.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Set
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from focused.arrivals import take_in
from focused.frontier.store import NewLink, State, StoreBroken
from focused.items import PageItem, fill_in, keep_item
from focused.pages.urls import join
from focused.parts import Asked, Component
from focused.scheduling.beside import open_job_beside
from focused.scheduling.dispatcher import Dispatcher
from focused.scheduling.requests import META, score_to_priority
from focused.visits.visit import FoundLinks, Scored, Visit


class PrioritizerMiddleware(Component):
    """Gives the requests of a page their priority, and has what remains to be done for the page done at its end."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Responses whose callback has given other items, too.
        self._with_others: WeakSet[Response] = WeakSet()
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_through, signal)

    def spider_opened(self) -> None:
        """Open the job, if the scheduler has not."""
        open_job_beside(self.crawler)

    async def item_through(self, item: Any, response: Any) -> None:
        """Our item has left the pipelines: the job keeps it as they made it. If they took it for another, learn now."""
        if not isinstance(response, Response):
            return
        visit = self.parts.visits.of(response.meta.get(META, {}).get("token", 0))
        if visit is not None and visit.gives_item:
            keep_item(item, visit, is_only=response not in self._with_others)
            await self.parts.learning.page_done(visit)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Requests together, when the callback has ended; our item behind them; what else there is at once.

        Links come first: when the item's pipelines have the prioritizer learn, they are scored anew with the rest.
        """
        assert response.request is not None
        visit = await take_in(self.parts, response.request, response)
        output = _Output(response.meta.get(META, {}))
        async for item in output.collect(result):
            yield item
        try:
            requests = self._admitted(output.requests, visit)
        except StoreBroken as error:
            # Of a page whose links cannot be kept nothing comes: neither they nor its item.
            self._frontier.give_up(error)
            return
        for request in requests:
            yield request
        if output.end is not None and not isinstance(output.end, CloseSpider):
            # The callback has failed. (One that closes the spider has not.)
            raise output.end
        if visit is not None:
            visit.gives_item = bool(output.items)
            if output.has_others:
                self._with_others.add(response)
        for item in output.items:
            yield item
        if visit is not None and not output.items:
            await self.parts.learning.page_done(visit)
        if output.end is not None:
            raise output.end

    @property
    def _frontier(self) -> Dispatcher:
        assert self.parts.frontier is not None
        return self.parts.frontier

    def _admitted(self, requests: list[Request], visit: Visit | None) -> list[Request]:
        """The requests of a page that may go on, admitted together with the evidence of its links."""
        if visit is None or visit.record is None:
            self._frontier.admit(None, self._to_links(requests))
            return requests
        if visit.lease.is_lost:
            # The lease was lost: another worker fetches this page, and follows its links.
            return []
        assert visit.page is not None
        if visit.is_followed:
            self._frontier.admit(visit, *self._scored(visit, self._to_links(requests)))
            return requests
        found = set(visit.page.links.urls)
        requests = [request for request in requests if join(request.url, "") not in found]
        self._frontier.admit(visit, self._to_links(requests))
        return requests

    def _to_links(self, requests: list[Request]) -> list[tuple[NewLink, Request]]:
        return [(new, request) for request in requests if (new := self._frontier.to_link(request)) is not None]

    def _links(self, visit: Visit, asked: Set[str]) -> FoundLinks:
        """The links of a page: those in scope, and those that a spider of somebody else's asks for beyond."""
        assert visit.page is not None
        links = self.parts.visits.links_of(visit)
        beyond = asked - set(links.urls)
        added = {row: url for row, url in enumerate(visit.page.links.urls) if url in beyond} if beyond else {}
        if not added:
            return links
        urls = dict(zip(links.rows, links.urls, strict=True)) | added
        rows = sorted(urls)
        return self.parts.visits.ask(rows, [urls[row] for row in rows])

    def _scored(self, visit: Visit, requests: list[tuple[NewLink, Request]]) -> tuple[list[Asked], Scored | None]:
        """What is to be admitted: links that want evidence, then requests for what is no link of the page."""
        asked = {new.url: (new, request) for new, request in requests}
        links = self._links(visit, asked.keys())
        known = links.known
        is_asked = np.array([url in asked for url in links.urls], np.bool_)
        wanted = np.flatnonzero(
            known.wanted & (known.links != visit.lease.link) & (is_asked | (known.states != State.UNKNOWN))
        )
        entries: list[Asked] = []
        scored = self._score(visit, links, wanted) if len(wanted) else None
        best: dict[str, float] = {}
        for i, score in zip(wanted.tolist(), scored.scores.tolist() if scored else [], strict=True):
            url = links.urls[i]
            new, request = asked.get(url, (NewLink(url, ""), None))
            if not new.key:
                new.link, new.relevance = int(known.links[i]), float(known.relevance[i])
            entries.append((new, request if url not in best else None))
            best[url] = max(score, best.get(url, 0.0))
        for url, (new, request) in asked.items():
            if url in best:
                request.priority += score_to_priority(best[url])
            else:
                entries.append((new, request))
        return entries, scored

    def _score(self, visit: Visit, links: FoundLinks, wanted: NDArray[np.int64]) -> Scored:
        store = self.parts.store
        assert store is not None
        assert visit.page is not None
        prioritizer, page = store.prioritizer, visit.page
        arrived_by = store.evidence_of(visit.lease) if prioritizer.follows_paths else None
        if prioritizer.sees_fetched:
            # Neighbours that were fetched speak for a link, so all of them are shown.
            every = prioritizer.evidence(
                page,
                visit.verdict,
                page.links.select(links.rows),
                fetched=links.known.relevance,
                arrived_by=arrived_by,
            )
            evidence = every.select(wanted)
        else:
            rows = np.array(links.rows, np.int64)[wanted]
            evidence = prioritizer.evidence(page, visit.verdict, page.links.select(rows), arrived_by=arrived_by)
        return Scored(evidence, prioritizer.finite_scores(evidence))


class _Output:
    """What a callback gave, sorted."""

    def __init__(self, verdict: Mapping[str, Any]) -> None:
        self._verdict = verdict
        self.requests: list[Request] = []
        self.items: list[PageItem] = []
        self.has_others = False
        self.end: Exception | None = None

    async def collect(self, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Take requests and our items out; all else goes on at once."""
        try:
            async for output in result:
                if isinstance(output, Request):
                    self.requests.append(_stripped(output))
                elif isinstance(output, PageItem):
                    self.items.append(output)
                else:
                    self.has_others = True
                    fill_in(output, self._verdict)
                    yield output
        except Exception as error:  # raised again, after what came before it has gone on
            self.end = error


def _stripped(request: Request) -> Request:
    """Many spiders hand on the meta of the response: under its lease only it itself may come back."""
    request.meta.pop(META, None)
    request.meta.pop("is_start_request", None)
    return request
