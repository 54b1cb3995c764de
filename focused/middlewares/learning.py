"""Scores and lessons under a scheduler that is not ours.

There is no frontier to keep evidence, so each request carries its own in its meta; when its page arrives, the
critic's verdict and that evidence are a lesson. What is queued keeps the priority it was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scrapy import Request
from scrapy.http import Response

from focused.frontier.requests import META, score_to_priority
from focused.pages.evidence import Evidence
from focused.pages.page import Page
from focused.pages.urls import join
from focused.prioritizers.base import Lessons

if TYPE_CHECKING:
    from focused.parts import Parts


class StockLearner:
    """The prioritizer in a project with Scrapy's scheduler."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def score(self, requests: list[Request], response: Response, page: Page) -> list[Request]:
        """Learn from the page that came, and add scores to the priorities of the requests for its links."""
        verdict = self._parts.judge(page)
        self._learn(response, verdict.relevance)
        first = {url: i for i, url in reversed(list(enumerate(page.links.urls)))}
        rows, of = [], []
        for request in requests:
            row = first.get(join(request.url, ""))
            if row is not None:
                rows.append(row)
                of.append(request)
        if rows:
            links, arrived_by = page.links.select(rows), self.arrived_by(response)
            evidence = self._parts.prioritizer.evidence(page, verdict, links, arrived_by=arrived_by)
            scores = self._parts.prioritizer.finite_scores(evidence).tolist()
            for i, (request, score) in enumerate(zip(of, scores, strict=True)):
                request.priority += score_to_priority(score)
                told = {"score": score, "from": verdict.relevance, "evidence": evidence.row(i).to_bytes()}
                request.meta[META] = {**request.meta.get(META, {}), **told}
        return requests

    def arrived_by(self, response: Response) -> Evidence | None:
        """The evidence of the link that led to a page."""
        carried = response.meta.get(META, {}).get("evidence")
        return Evidence.from_bytes(carried) if carried else None

    def _learn(self, response: Response, relevance: float) -> None:
        evidence = self.arrived_by(response) if self._parts.prioritizer.learns else None
        if evidence is None:
            return
        source = np.array([response.meta[META]["from"]], np.float32)
        self._parts.trainer.add(Lessons.of_page(evidence, relevance, source))
        if self._parts.trainer.page_done():
            batch = self._parts.trainer.take_batch()
            if batch is not None:
                self._parts.prioritizer = self._parts.prioritizer.learn(batch) or self._parts.prioritizer
