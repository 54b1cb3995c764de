"""Settles how the bytes of a page are read, before anybody reads them.

Scrapy decodes a response in several places (meta refresh, selectors, ``response.text``), each time by what the server
or the page calls its encoding; any codec of Python will do, also those that take minutes, or give no text.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response, TextResponse

from focused.parts import Component
from focused.responses import settle


class CharsetMiddleware(Component):
    """Its number must be below HttpCompressionMiddleware's (bodies are unpacked) and above MetaRefreshMiddleware's."""

    async def process_response(self, request: Request, response: Response) -> Response:
        if isinstance(response, TextResponse):
            await settle(response)
        return response
