"""Scores links before they are followed: the apprentice's place in Scrapy.

All links of a page become evidence at once and are scored at once. In our own spider, pages arrive as `PageItem` and
their links stay inside: a `Request` is built only for addresses not seen before; for links that wait already, the
new evidence goes to the frontier without one. In anybody else's spider, the requests that it yields for links of the
page get their score added to ``request.priority``, with any scheduler.

Ours stands closest to the spider (above Scrapy's 900), so that the requests it makes pass through the stock
middlewares for depth and address length like any other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response

from focused.frontier.requests import META, score_to_priority
from focused.frontier.scheduler import frontier_of
from focused.frontier.store import Known, State, StoreBroken
from focused.items import PageItem
from focused.middlewares.learning import StockLearner
from focused.pages.evidence import Evidence
from focused.pages.page import Links, Page, parse_page
from focused.pages.urls import join, url_to_host
from focused.parts import Parts, has_topic, parts_of


class PrioritizerMiddleware:
    """Gives every link of a page its score."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        # Only used without our store, beside Scrapy's own filter: it saves building requests that it would drop.
        self._requested: set[str] = set()

    @cached_property
    def parts(self) -> Parts:
        """What the components of this crawl share."""
        return parts_of(self.crawler)

    @cached_property
    def _stock(self) -> StockLearner:
        return StockLearner(self.parts)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not has_topic(crawler):
            raise NotConfigured
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Links of pages become requests; requests that came by themselves get their score.

        Of a page whose links cannot be kept nothing comes: neither they nor its item.
        """
        try:
            async for output in self._scored(response, result):
                yield output
        except StoreBroken as error:
            frontier = frontier_of(self.crawler)
            assert frontier is not None
            frontier.give_up(error)

    async def _scored(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        requests: list[Request] = []
        followed = False
        async for output in result:
            if isinstance(output, PageItem):
                self._label(output, response)
                # Links first: when the item's pipelines have the prioritizer learn, these are scored anew with it.
                follow = self._follow if self.parts.store else self._follow_without_store
                for request in follow(output.page, response):
                    yield request
                followed = True
                yield output
            elif isinstance(output, Request):
                # Many spiders hand on the meta of the response: under its lease only it itself may come back.
                output.meta.pop(META, None)
                output.meta.pop("is_start_request", None)
                requests.append(output)
            else:
                yield output
        if isinstance(response, HtmlResponse) and not followed:
            self._score(requests, response)
        for request in requests:
            yield request

    def _label(self, item: PageItem, response: Response) -> None:
        """What the prioritizer says of the page's place on its path."""
        prioritizer, store = self.parts.scorer, self.parts.store
        if not prioritizer.labels_pages:
            return
        arrived_by = store.evidence_of(store.link_of(item.token)) if store else self._stock.arrived_by(response)
        item["label"] = prioritizer.label_of(item.page, self.parts.judge(item.page), arrived_by=arrived_by)

    def _follow(self, page: Page, response: Response) -> Iterator[Request]:
        """Requests for the links of a page that nobody has seen before."""
        urls, rows = self._admitted(page, response.meta.get("depth", 0) + 1)
        for url, link in self._take_in(page, urls, rows, response).items():
            if link["fresh"]:
                yield Request(url, priority=link["meta"]["priority"], meta={META: link["meta"]})

    def _take_in(self, page: Page, urls: list[str], rows: list[int], response: Response) -> dict[str, Any]:
        """Give the evidence of some of a page's links to the frontier; what their requests carry, by address."""
        store = self.parts.store
        assert store is not None
        token = response.meta.get(META, {}).get("token", 0)
        source = store.link_of(token)
        if token and not source:
            # The lease was lost: another worker fetches this page, and takes in its links.
            return {}
        known = store.reserve(urls)
        wanted = np.flatnonzero(known.wanted & (known.links != source))
        if not len(wanted):
            return {}
        evidence = self._evidence(page, page.links.select(rows), known, wanted, source)
        scores = self.parts.scorer.finite_scores(evidence)
        store.add_evidence(source, evidence, scores)
        self.parts.teach(token, store.late_lessons(evidence, self.parts.judge(page).relevance))
        fresh = (known.states == State.RESERVED).tolist()
        taken = {}
        for i, link, score in zip(wanted.tolist(), evidence.link.tolist(), scores.tolist(), strict=True):
            meta = {"link": link, "source": source, "priority": score_to_priority(score)}
            taken[urls[i]] = {"fresh": fresh[i], "meta": meta}
        return taken

    def _follow_without_store(self, page: Page, response: Response) -> Iterator[Request]:
        """Requests for the links of a page, under a scheduler that is not ours."""
        urls, _ = self._admitted(page, response.meta.get("depth", 0) + 1)
        fresh = [url for url in dict.fromkeys(urls) if url not in self._requested]
        self._requested.update(fresh)
        yield from self._stock.score([Request(url) for url in fresh], response, page)

    def _admitted(self, page: Page, depth: int) -> tuple[list[str], list[int]]:
        """The addresses of a page's links that may enter the frontier, and which links they are."""
        urls = page.links.urls
        admitted = self.parts.scope.admit(urls, [url_to_host(url) for url in urls], depth)
        rows = [i for i, url in enumerate(admitted) if url]
        return [url for url in admitted if url], rows

    def _evidence(self, page: Page, links: Links, known: Known, wanted: NDArray[np.int64], source: int) -> Evidence:
        prioritizer, store = self.parts.scorer, self.parts.store
        assert store is not None
        verdict = self.parts.judge(page)
        arrived_by = store.evidence_of(source) if prioritizer.follows_paths else None
        if prioritizer.sees_fetched:
            # Neighbours that were fetched speak for a link, so all of them are shown.
            every = prioritizer.evidence(page, verdict, links, fetched=known.relevance, arrived_by=arrived_by)
            evidence = every.select(wanted)
        else:
            evidence = prioritizer.evidence(page, verdict, links.select(wanted), arrived_by=arrived_by)
        evidence.link = known.links[wanted].astype(np.uint32)
        return evidence

    def _score(self, requests: list[Request], response: HtmlResponse) -> None:
        """Requests of somebody's own spider: those for links of the page get the links' scores."""
        page = self._page(response)
        if self.parts.store is None:
            self._stock.score(requests, response, page)
            return
        by_url = {join(request.url, ""): request for request in requests}
        rows = [i for i, url in enumerate(page.links.urls) if url in by_url]
        if not rows:
            return
        for url, link in self._take_in(page, [page.links.urls[i] for i in rows], rows, response).items():
            request = by_url[url]
            request.priority += link["meta"]["priority"] - request.meta.get(META, {}).get("priority", 0)
            request.meta[META] = link["meta"]

    def _page(self, response: HtmlResponse) -> Page:
        return parse_page(response.selector.root, response.url, self.parts.limits, lexicon=self.parts.lexicon)
