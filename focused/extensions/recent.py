"""The pages that came in last, by the verdicts that they have now."""

from __future__ import annotations

from collections import deque
from math import isnan
from statistics import fmean

from scrapy.crawler import Crawler

from focused import signals
from focused.critics.base import RELEVANT
from focused.frontier.store import Outcome, PageRecord
from focused.parts import parts_of


class RecentPages:
    """At most so many pages, duplicates left out."""

    def __init__(self, crawler: Crawler, most: int) -> None:
        self._crawler = crawler
        self._pages: deque[tuple[str, float]] = deque(maxlen=most)
        crawler.signals.connect(self.page_judged, signals.page_judged)
        crawler.signals.connect(self.verdicts_revised, signals.verdicts_revised)

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def found(self) -> int:
        """How many of them are relevant."""
        return sum(relevance >= RELEVANT for _, relevance in self._pages)

    @property
    def harvest(self) -> float:
        """Their mean relevance."""
        return fmean(relevance for _, relevance in self._pages)

    def keep(self, most: int) -> None:
        """So many pages from now on."""
        if most != self._pages.maxlen:
            self._pages = deque(self._pages, maxlen=most)

    def page_judged(self, record: PageRecord) -> None:
        """Remember a page."""
        if record.outcome is Outcome.PAGE:
            self._pages.append((record.url, record.relevance))

    def verdicts_revised(self) -> None:
        """All pages were judged anew."""
        store = parts_of(self._crawler).store
        if store is None or not self._pages:
            return
        urls = [url for url, _ in self._pages]
        for i, (now, (url, before)) in enumerate(zip(store.known(urls).relevance.tolist(), self._pages, strict=True)):
            # One that is not through yet is in no record.
            self._pages[i] = url, before if isnan(now) else now
