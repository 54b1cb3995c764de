"""The yardstick of bench/cpu.py: a plain Scrapy spider that follows what LinkExtractor finds."""

from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor


class PlainSpider(Spider):
    name = "plain"
    extractor = LinkExtractor()

    async def start(self):
        yield Request(self.url)

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.extractor.extract_links(response):
            yield response.follow(link)
