"""Writes what was fetched as WARC (``FOCUSED_ARCHIVE``), before anybody else sees the response.

It stands close to the downloader, where bodies are as they came. A response goes on to its page only when it is
written, so what the job has acknowledged is in the archive. Compressing and writing happen in a thread. When there is
no room, the crawl ends; the links whose pages could not be written wait for its next start.
"""

from __future__ import annotations

import logging
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING

import scrapy
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import BaseSettings
from scrapy.utils.defer import _schedule_coro, maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from focused.defaults import read
from focused.errors import Postponed
from focused.middlewares.html_only import why_not_html
from focused.outputs import note_not_written
from focused.parts import Component
from focused.starting import topic_of
from focused.topics.identity import slug

if TYPE_CHECKING:
    from focused.warc.writer import WarcFiles

logger = logging.getLogger(__name__)


class ArchiveMiddleware(Component):
    """Archives pages (status 200, HTML), or with ``FOCUSED_ARCHIVE_ALL`` every response, robots.txt too."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._place = Path(read(crawler.settings, "FOCUSED_ARCHIVE"))
        self._all: bool = read(crawler.settings, "FOCUSED_ARCHIVE_ALL")
        self._files: WarcFiles | None = None
        self._broken = False
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def is_wanted(self) -> bool:
        return bool(read(self.crawler.settings, "FOCUSED_ARCHIVE"))

    def spider_opened(self) -> None:
        """Close what a killed crawl has left open; make the folder."""
        from focused.warc.writer import WarcFiles  # noqa: PLC0415  (needs the extra `warc`)

        settings, topic = self.crawler.settings, topic_of(self.crawler)
        name = slug(topic) if topic is not None else str(getattr(self.crawler.spider, "name", "crawl"))
        size = read(settings, "FOCUSED_ARCHIVE_SIZE")
        try:
            self._files = WarcFiles(self._place, name=name, size=size, info=_info(settings, name))
        except OSError as error:
            self._give_up(error)
            return
        for path in self._files.repaired:
            logger.info("%s was left open by a crawl that was killed; it ends with its last whole record now", path)

    def spider_closed(self) -> None:
        """Close the file."""
        if self._files is not None:
            try:
                self._files.close()
            except OSError as error:
                self._give_up(error)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Write the exchange, then let the response go on."""
        if not (self._all or _is_page(request, response)):
            return response
        if self._files is None or self._broken:
            raise Postponed("the archive cannot be written", 0)
        try:
            size = await maybe_deferred_to_future(deferToThread(self._files.write, request, response))
        except OSError as error:
            self._give_up(error)
            raise Postponed("the archive cannot be written", 0) from error
        self.crawler.stats.inc_value("focused/archive/responses")
        self.crawler.stats.inc_value("focused/archive/bytes", size)
        return response

    def _give_up(self, error: OSError) -> None:
        if self._broken:
            return
        self._broken = True
        # (What was deleted is lost.)
        way_out = "make room and start the same command again; nothing is lost"
        if error.errno == ENOENT:
            way_out = "put back what was there, if you can, and start the same command again"
        words = f"the archive in {str(self._place)!r} cannot be written ({error.strerror or error}): {way_out}"
        note_not_written(self.crawler, words)
        self.crawler.stats.set_value("focused/stopped_by", words)
        _schedule_coro(self.crawler.engine.close_spider_async(reason="archive_broken"))


def _is_page(request: Request, response: Response) -> bool:
    if response.status != 200 or request.callback is NO_CALLBACK:
        return False
    return not why_not_html(response.headers.get("Content-Type"), response.headers.get("Content-Disposition"), 0, 0)


def _info(settings: BaseSettings, name: str) -> dict[str, str]:
    """What the first record of each file says of the crawl."""
    return {
        "software": f"Focused on Scrapy {scrapy.__version__}",
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "isPartOf": name,
        "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
        "http-header-user-agent": str(settings["USER_AGENT"]),
    }
