"""``scrapy crawl focused -a topic=…``: a crawl for the pages on a topic."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from focused.arrivals import take_in
from focused.defaults import read
from focused.items import PageItem
from focused.parts import parts_of
from focused.starting import give_job_folder, refuse
from focused.topics.arguments import parse_arguments
from focused.topics.settings import apply_settings
from focused.topics.topic import Topic, load_topic


class FocusedSpider(Spider):
    """Gives out an item for each page, and requests for its links, as any Scrapy spider."""

    name = "focused"
    html_only = True

    topic: Topic

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        # Under any runner, in any project.
        settings.setdefault_in_component_priority_dict("ADDONS", load_object("focused.Addon"), 500)
        # Scrapy starts this many tasks per page; a page gives one item.
        settings.set("CONCURRENT_ITEMS", 1, "addon")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *_args: Any, **kwargs: Any) -> Self:
        try:
            return cls._from_arguments(crawler, kwargs)
        except ValueError as error:
            refuse(crawler, str(error))
            return super().from_crawler(crawler)

    @classmethod
    def _from_arguments(cls, crawler: Crawler, given: dict[str, Any]) -> Self:
        arguments = parse_arguments(given)
        topic = load_topic(
            arguments.topic,
            seeds=arguments.seeds,
            seeds_needed=True,
            trusted=read(crawler.settings, "FOCUSED_TOPICS_TRUSTED"),
        )
        apply_settings(topic, crawler.settings)
        arguments.apply(crawler.settings)
        # scrapyd has folders of its own; `scrapy parse`, which looks at one page, starts the spider elsewhere.
        if "_job" not in given and cls.start.__module__ != "scrapy.commands.parse":
            give_job_folder(topic, crawler.settings)
        spider = super().from_crawler(crawler)
        spider.topic = topic
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """The topic's seeds."""
        for url in self.topic.seeds:
            yield Request(url)

    async def parse(self, response: Response) -> AsyncIterator[PageItem | Request]:
        """One item, and a request for each link that nobody has asked for; none of a page whose content is known."""
        assert response.request is not None
        parts = parts_of(self.crawler)
        visit = await take_in(parts, response.request, response)
        if visit is None or not visit.is_recorded:
            return
        if not visit.is_duplicate:
            yield PageItem.of(visit, response)
        if visit.is_followed:
            for url in parts.visits.links_of(visit).unknown():
                yield Request(url)
