"""Spiders of somebody else's, one of each kind with each kind of item, crawled side by side in one process.

    python foreign_crawls.py ORDERS

ORDERS is a JSON object: ``settings`` of all crawls, and ``crawls``, from a folder to the names of a spider and a kind
of item. What is scraped goes to ``FOLDER/items.jsonl``, statistics to ``FOLDER/stats.json``.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import attrs
import scrapy
from pydantic import BaseModel
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

HUB = "http://hub.example/"


@dataclass
class DataItem:
    url: str
    relevance: float | None = None
    order: int | None = None


@dataclass(frozen=True)
class FrozenItem:
    url: str
    relevance: float | None = None
    order: int | None = None


@attrs.define
class AttrsItem:
    url: str
    relevance: float | None = None
    order: int | None = None


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    relevance = scrapy.Field()
    order = scrapy.Field()


class PydanticItem(BaseModel):
    url: str
    relevance: float | None = None
    order: int | None = None


def dict_item(url):
    return {"url": url, "relevance": None, "order": None}


ITEMS: dict[str, Any] = {
    "dict": dict_item,
    "item": ScrapyItem,
    "dataclass": DataItem,
    "frozen": FrozenItem,
    "attrs": AttrsItem,
    "pydantic": PydanticItem,
}


class Described:
    """What all callbacks do: an item of the kind that was asked for, filled in with the address alone."""

    kind: str

    def described(self, response):
        assert isinstance(response.meta["focused"].get("relevance"), float), response.meta
        return ITEMS[self.kind](url=response.url)


class PlainSpider(Described, scrapy.Spider):
    name = "plain"
    start_urls = [HUB]  # noqa: RUF012  # as all spiders are written

    def parse(self, response):
        yield self.described(response)
        for anchor in response.css("a"):
            yield response.follow(anchor, meta=response.meta)


class RulesSpider(Described, CrawlSpider):
    name = "rules"
    start_urls = [HUB]  # noqa: RUF012  # as all spiders are written
    rules = (Rule(LinkExtractor(), callback="described_page", follow=True),)

    def parse_start_url(self, response, **kwargs):
        return [self.described(response)]

    def described_page(self, response):
        yield self.described(response)


class MapSpider(Described, SitemapSpider):
    name = "map"
    sitemap_urls = (f"{HUB}sitemap.xml",)

    def parse(self, response):
        yield self.described(response)
        for anchor in response.css("a"):
            yield response.follow(anchor)


SPIDERS = {spider.name: spider for spider in (PlainSpider, RulesSpider, MapSpider)}


async def crawl_all(orders):
    running = []
    for folder, (spider, kind) in orders["crawls"].items():
        Path(folder).mkdir(parents=True, exist_ok=True)
        own = {"JOBDIR": f"{folder}/job", "FEEDS": {f"{folder}/items.jsonl": {"format": "jsonlines"}}}
        runner = AsyncCrawlerRunner({**orders["settings"], **own})
        crawler = runner.create_crawler(SPIDERS[spider])
        running.append((folder, crawler, runner.crawl(crawler, kind=kind)))
    await asyncio.gather(*(crawl for _, _, crawl in running))
    for folder, crawler, _ in running:
        stats = {name: value for name, value in crawler.stats.get_stats().items() if name.startswith("focused/")}
        Path(folder, "stats.json").write_text(json.dumps(stats, default=str))


def main():
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    configure_logging({"LOG_LEVEL": "INFO"})
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    orders = json.loads(Path(sys.argv[1]).read_text())
    failed = []

    def end(result):
        if result is not None:
            failed.append(result)
            result.printTraceback()
        reactor.stop()  # type: ignore[misc]  # a module that is an object

    reactor.callWhenRunning(lambda: Deferred.fromFuture(asyncio.ensure_future(crawl_all(orders))).addBoth(end))
    reactor.run()  # type: ignore[misc]  # the same
    sys.exit(bool(failed))


main()
