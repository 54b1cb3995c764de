"""https through a replay: requested by http, seen by the crawler as https.

The replay server has no TLS, and recorded webs do not distinguish the two schemes. With this handler for https (and
https_proxy set like http_proxy) a crawl may follow https links while it crawls a replayed web.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from focused.safety.handler import LenientHandler


class FoldedHttps(LenientHandler):
    """Downloads https addresses by http."""

    async def download_request(self, request: Request) -> Response:
        folded = request.replace(url=request.url.replace("https:", "http:", 1))
        response = await super().download_request(folded)
        request.meta.update(folded.meta)
        return response.replace(url=request.url)
