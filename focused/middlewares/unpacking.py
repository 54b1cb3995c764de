"""Scrapy's unpacking of bodies (gzip and the like), for servers that pack them wrongly."""

from __future__ import annotations

import logging

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from focused.errors import BrokenBody

logger = logging.getLogger(__name__)


class UnpackingMiddleware(HttpCompressionMiddleware):
    """Ends requests whose bodies cannot be unpacked with `BrokenBody`, and counts them. Of errors no body is needed."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        # (Scrapy takes a spider, too, and warns of those who give one.)
        try:
            return super().process_response(request, response)
        except IgnoreRequest:
            raise  # too large
        except Exception as error:  # each way of packing has errors of its own
            self._count("body")
            if not 200 <= response.status < 300:
                return response
            raise BrokenBody(f"its body cannot be unpacked: {error!r}") from error

    def _warn_unknown_encoding(self, response: Response, encodings: list[bytes]) -> None:
        if self._count("packing"):
            logger.warning(
                "%s has an unknown Content-Encoding (%.100r); its body is taken as it is. "
                "Further cases are only counted, in focused/broken/packing",
                response.url,
                b",".join(encodings).decode("latin-1"),
            )

    def _count(self, what: str) -> bool:
        """Count one more; is it the first?"""
        assert self.stats is not None
        self.stats.inc_value(f"focused/broken/{what}")
        return bool(self.stats.get_value(f"focused/broken/{what}") == 1)
