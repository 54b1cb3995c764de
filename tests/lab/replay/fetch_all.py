"""Fetch a list of addresses with a plain Scrapy spider and print what its callbacks were given, as JSON.

Run as a process of its own, because a reactor runs only once: fetch_all.py SETTINGS URL...
"""

import json
import sys
from typing import ClassVar

import scrapy
from scrapy.crawler import CrawlerProcess

SEEN = []
BORING = {b"Date", b"Server"}


class Fetch(scrapy.Spider):
    name = "fetch"
    custom_settings: ClassVar = {  # type: ignore[misc]  # so Scrapy's documentation has it
        "LOG_LEVEL": "ERROR",
        "CONCURRENT_REQUESTS": 1,
        "HTTPERROR_ALLOW_ALL": True,
        "REMOTE_CONTROL_ENABLED": False,
    }

    async def start(self):
        for url in sys.argv[2:]:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response):
        headers = {
            name.decode(): [value.decode() for value in values]
            for name, values in sorted(response.headers.items())
            if name not in BORING
        }
        SEEN.append(
            {
                "url": response.url,
                "status": response.status,
                "headers": headers,
                "body": response.body.hex(),
                "type": type(response).__name__,
                "encoding": getattr(response, "encoding", None),
                "protocol": response.protocol,
                "ip": str(response.ip_address),
                "redirects": response.meta.get("redirect_urls"),
                "flags": response.flags,
            }
        )


if __name__ == "__main__":
    process = CrawlerProcess(json.loads(sys.argv[1]))
    process.crawl(Fetch)
    process.start()
    print(json.dumps(SEEN))
