"""Says which seeds could not be crawled, and why, and whether the first pages look like the topic."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from urllib.parse import urlsplit

from scrapy import Request
from scrapy import signals as scrapy_signals
from scrapy.crawler import Crawler
from scrapy.spidermiddlewares.httperror import HttpError

from focused import signals
from focused.errors import NotHtml, Postponed, why_unreachable
from focused.frontier.store import PageRecord
from focused.parts import Component
from focused.teaching.doubts import FIRST_PAGES, doubts_about_pages, doubts_about_seeds

logger = logging.getLogger(__name__)

# By the reason of a `NotHtml`; for what says its type that type is named.
_NOT_PAGES = {
    "attachment": "its server sends it as an attachment, not as a page",
    "binary": "its content is not HTML, whatever its server says",
    "size": "it is larger than DOWNLOAD_MAXSIZE",
    "unknown": "its server gives no type, and it does not begin like HTML",
}
_DOUBTED_UNTIL = 200
_TRIED = "nothing was fetched: the job has tried these seeds before; give another JOBDIR"


class SeedsExtension(Component):
    """Listens to how the requests for seeds end."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._missed: dict[str, str] = {}
        self._judged: dict[str, float] = {}
        self._first: list[float] = []
        self._pages = 0
        self._has_doubts = False
        self._has_looked = False
        crawler.signals.connect(self.page_judged, signals.page_judged)
        crawler.signals.connect(self.seed_missed, signals.seed_missed)
        crawler.signals.connect(self.spider_closed, scrapy_signals.spider_closed)

    def seed_missed(self, request: Request, error: BaseException) -> None:
        """Name the seed and the reason."""
        if isinstance(error, Postponed):
            logger.warning("The seed %s was put off: %s", request.url, error)
            return
        self._missed[request.url] = reason = why_missed(request, error)
        logger.warning("The seed %s was not crawled: %s", request.url, reason)

    def page_judged(self, record: PageRecord) -> None:
        """Say if no seed looks like the topic, once they are through, or if all pages do and none is found."""
        self._look_at_pages(record)
        if record.item.get("depth") == 0:
            self._judged[record.url] = record.relevance
        else:
            self._look_at_seeds()

    def _look_at_seeds(self) -> None:
        if self._has_looked:
            return
        self._has_looked = True
        self._warn(doubts_about_seeds(self._judged))

    def _look_at_pages(self, record: PageRecord) -> None:
        self._pages += 1
        if not record.version and self._pages <= FIRST_PAGES:
            self._first.append(record.relevance)
        # For a while: a critic that has learned judges all pages anew, and what was found may be found no more.
        if not self._has_doubts and FIRST_PAGES <= self._pages <= _DOUBTED_UNTIL:
            self._has_doubts = self._warn(doubts_about_pages(self._first, self.parts.standing.found))

    def _warn(self, doubts: Iterable[str]) -> bool:
        said = list(doubts)
        for doubt in said:
            logger.warning("%s", doubt)
        return bool(said)

    def spider_closed(self, reason: str) -> None:
        """A crawl without a page ends for what kept it from its seeds."""
        self._look_at_seeds()
        stats = self.crawler.stats
        if reason != "finished" or stats.get_value("focused/page/judged") or self.parts.standing.pages:
            return
        if not self._missed:
            stats.set_value("focused/stopped_by", _TRIED)
            return
        url, why = next(iter(self._missed.items()))
        more = f" ({len(self._missed) - 1} more: see the log)" if len(self._missed) > 1 else ""
        stats.set_value("focused/stopped_by", f"nothing was fetched; the seed {url} was not crawled: {why}{more}")


def why_missed(request: Request, error: BaseException) -> str:
    """Why a seed has no page, for people."""
    if isinstance(error, NotHtml):
        named = f"it is {name_of_type(request.url, error.content_type)}, not a page of HTML"
        return _NOT_PAGES.get(str(error), named)
    if isinstance(error, HttpError):
        return f"the answer was HTTP {error.response.status}"
    return why_unreachable(request, error)


def name_of_type(url: str, content_type: str) -> str:
    """What something that is no page is called."""
    kind, path = content_type.lower(), urlsplit(url).path.lower()
    if "pdf" in kind:
        return "a PDF file"
    if "rss" in kind or "atom" in kind:
        return "a feed"
    if "sitemap" in path and ("xml" in kind or "gzip" in kind):
        return "a sitemap"
    if "xml" in kind:
        return f"a feed, a sitemap or other XML ({kind})"
    return kind or "something else"
