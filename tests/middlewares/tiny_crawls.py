"""Small crawls, one after another, in a process of its own: says, as JSON, what became of each address.

Reads orders from stdin, a JSON object a line: ``urls``, ``settings``, ``names`` (and the addresses they are to resolve
to), ``proxy``, ``meta`` and ``headers`` (of each request), ``one_by_one``, ``pause`` (seconds between), ``times``.
Answers each with a line: ``ends`` (a list of dicts), ``stats`` and ``log``.
"""

import asyncio
import json
import logging
import os
import socket
import sys
from io import StringIO
from time import monotonic

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.resolver import CachingThreadedResolver, dnscache
from scrapy.settings import Settings
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

from focused.pages.page import PageLimits
from focused.pages.tokens import LEXICON
from focused.responses import response_to_page

SETTINGS = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "ROBOTSTXT_PARSER": "focused.safety.robots_txt.RobotsTxt",
    "RETRY_HTTP_CODES": [500, 502, 504, 522, 524, 408],
    "RETRY_TIMES": 0,
    "DOWNLOAD_MAXSIZE": 1024 * 1024,
    "FOCUSED_INNER_ALLOWED": ["127.0.0.1"],
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "focused.middlewares.robots.RobotsMiddleware": 100,
        "focused.middlewares.html_only.HtmlOnlyMiddleware": 540,
        "focused.middlewares.backoff.BackoffMiddleware": 560,
        "focused.middlewares.inner.InnerAddressMiddleware": 760,
    },
}
LOOK_UP = socket.gethostbyname


class TinySpider(Spider):
    name = "tiny"
    html_only = True

    def __init__(self, orders):
        super().__init__()
        self.orders = orders
        self.ends = []

    async def start(self):
        for _ in range(self.orders.get("times", 1)):
            for url in self.orders["urls"]:
                before = len(self.ends)
                meta = {"focused": {}, **self.orders.get("meta", {})}
                headers = self.orders.get("headers")
                yield Request(url, errback=self.failed, dont_filter=True, meta=meta, headers=headers)
                while self.orders.get("one_by_one") and len(self.ends) == before:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(self.orders.get("pause", 0))

    async def parse(self, response):
        end = {"url": response.request.url, "status": response.status, "bytes": len(response.body), "at": monotonic()}
        page = await response_to_page(response, PageLimits(), LEXICON)
        end |= {"links": len(page.links), "css_links": len(response.css("a")), "left_out": page.left_out}
        self.ends.append({**end, "kind": type(response).__name__, "text": response.text[:200]})

    def failed(self, failure):
        end = {"url": failure.request.url, "error": failure.type.__name__, "message": str(failure.value)}
        end["status"] = getattr(getattr(failure.value, "response", None), "status", None)
        self.ends.append({**end, **{name: getattr(failure.value, name, None) for name in ("seconds", "outcome")}})


async def crawl(orders):
    names = orders.get("names", {})
    dnscache.clear()
    socket.gethostbyname = lambda name: names[name] if name in names else LOOK_UP(name)
    os.environ["http_proxy"] = orders.get("proxy", "")
    log = StringIO()
    handler = logging.StreamHandler(log)
    handler.setLevel(logging.WARNING)
    logging.root.addHandler(handler)
    runner = AsyncCrawlerRunner(Settings({**SETTINGS, **orders.get("settings", {})}))
    crawler = runner.create_crawler(TinySpider)
    try:
        await runner.crawl(crawler, orders=orders)
    finally:
        logging.root.removeHandler(handler)
    return {"ends": getattr(crawler.spider, "ends", None), "stats": crawler.stats.get_stats(), "log": log.getvalue()}


async def serve():
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await crawl(json.loads(line)), default=str), flush=True)


def main():
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    configure_logging({"LOG_ENABLED": False})
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    # As CrawlerProcess would put it in.
    CachingThreadedResolver(reactor, 1_000, 5.0).install_on_reactor()
    reactor.callWhenRunning(lambda: Deferred.fromFuture(asyncio.ensure_future(serve())).addBoth(end, reactor))
    reactor.run()  # type: ignore[misc]  # Twisted's own types


def end(result, reactor):
    if result is not None:
        result.printTraceback()
    reactor.stop()


main()
