"""``scrapy crawl focused -a topic=…``: a crawl for the pages on a topic."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from focused.frontier.outcomes import note
from focused.frontier.requests import META
from focused.frontier.store import Outcome
from focused.items import PageItem
from focused.parts import parts_of
from focused.responses import response_to_page
from focused.starting import give_job_folder, refuse
from focused.topics.arguments import parse_arguments
from focused.topics.settings import apply_settings
from focused.topics.topic import Topic, load_topic


class FocusedSpider(Spider):
    """Parses each page once and gives out one item for it; the links stay on the page for the prioritizer."""

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
        topic = load_topic(arguments.topic, seeds=arguments.seeds, seeds_needed=True)
        apply_settings(topic, crawler.settings)
        arguments.apply(crawler.settings)
        if "_job" not in arguments.private:
            give_job_folder(topic, crawler.settings)
        spider = super().from_crawler(crawler)
        spider.topic = topic
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """The topic's seeds."""
        for url in self.topic.seeds:
            yield Request(url)

    async def parse(self, response: Response) -> AsyncIterator[PageItem]:
        """One page, parsed once."""
        meta = response.meta.setdefault(META, {})
        if not isinstance(response, HtmlResponse):
            kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
            assert response.request is not None
            note(response.request, Outcome.NOT_HTML, kind or type(response).__name__)
            return
        parts = parts_of(self.crawler)
        page = await response_to_page(response, parts.limits, parts.lexicon)
        for what, count in page.left_out.items():
            self.crawler.stats.inc_value(f"focused/page/left_out/{what}", count)
        if meta.get("seed"):
            parts.learn_from_seed(page)
        item = PageItem.of(page, meta.get("token", 0))
        item["depth"] = response.meta.get("depth", 0)
        item["score"] = None if meta.get("seed") else meta.get("score")
        yield item
