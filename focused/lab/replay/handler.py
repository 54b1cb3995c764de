"""A recorded web inside the crawling process: what `focused.lab.replay.server` answers, without sockets.

Everything behind the download handler (robots.txt, redirects, retries, limits of size, skipping by header) runs as
in a real crawl: the handler is Scrapy's own streaming handler with the network taken out.

    DOWNLOAD_HANDLERS = dict.fromkeys(["http", "https"], "focused.lab.replay.handler.ReplayHandler")
    FOCUSED_REPLAY_WEB = "web.warc.gz"
    FOCUSED_REPLAY_LOG = "fetches.tsv"
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers._base_streaming import BaseStreamingDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers

from focused.defaults import read
from focused.lab.replay.log import FetchLog
from focused.warc.reader import Recorded
from focused.warc.response import to_headers
from focused.warc.web import Web

_LOOPBACK = ipaddress.ip_address("127.0.0.1")


class ReplayHandler(BaseStreamingDownloadHandler[Recorded]):
    """Answers requests from the web in ``FOCUSED_REPLAY_WEB``, which all crawls of a process share."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        paths = read(crawler.settings, "FOCUSED_REPLAY_WEB")
        if not paths:
            raise NotConfigured("FOCUSED_REPLAY_WEB names no recorded web (a WARC file) to be replayed")
        self.web = _open(tuple(Path(path).resolve() for path in paths.split(os.pathsep)))
        # The handlers of http and https each have the log open, and add whole lines to its end.
        self.log = FetchLog(read(crawler.settings, "FOCUSED_REPLAY_LOG"))

    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[Recorded]:
        url = request.url.partition("#")[0]
        if url.startswith("https:"):
            url = url.replace("https:", "http:", 1)
        recorded = self.web.get(url)
        self.log.add(recorded.status, url)
        yield replace(recorded, body=b"") if request.method == "HEAD" else recorded

    @staticmethod
    def _extract_headers(response: Recorded) -> Headers:
        return to_headers(response)

    @staticmethod
    def _build_base_response_args(response: Recorded, request: Request, headers: Headers) -> Any:
        status, url = response.status, request.url
        return {"status": status, "url": url, "headers": headers, "ip_address": _LOOPBACK, "protocol": "HTTP/1.1"}

    @staticmethod
    async def _iter_body_chunks(response: Recorded) -> AsyncIterator[bytes]:
        if response.body:
            yield response.body

    @staticmethod
    def _is_dataloss_exception(exc: Exception) -> bool:  # noqa: ARG004 (no network, no loss)
        return False

    async def close(self) -> None:
        self.log.close()


@lru_cache(maxsize=2)
def _open(paths: tuple[Path, ...]) -> Web:
    return Web.open(*paths)
