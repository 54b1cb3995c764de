"""``ADDONS = {"focused.Addon": 500}``: the crawler in anybody's Scrapy project.

A spider without a topic runs as if this line were not there. One with a topic (`focused.starting.topic_of`) gets the
components and the politeness of `focused.settings`; whatever its project sets itself wins.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings, Settings

from focused import settings as ours
from focused.defaults import read
from focused.enabling import enable, is_our_scheduler
from focused.memory import give_large_blocks_back
from focused.starting import demote_lists, refuse, topic_of

if TYPE_CHECKING:
    from focused.topics.topic import Topic

logger = logging.getLogger(__name__)


class _OurSpiders(str):
    """The name of our room of spiders, told apart from a project's own mention of it."""

    __slots__ = ()


class Addon:
    """Turns the crawler on for spiders with a topic."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Offer our spider beside the project's own."""
        modules = settings.getlist("SPIDER_MODULES")
        if "focused.spiders" not in modules:
            _set_spider_modules(settings, [*modules, _OurSpiders("focused.spiders")])

    def update_settings(self, settings: Settings) -> None:
        """Scrapy has made the spider by now, so its topic is known; no component has been made yet."""
        try:
            topic = topic_of(self.crawler)
            if topic is not None:
                self._prepare(topic, settings)
                return
        except ValueError as error:
            # Here, so that spiders without a topic are spared it.
            from focused.frontier.store import StoreAway  # noqa: PLC0415

            refuse(self.crawler, str(error), closing="store_broken" if isinstance(error, StoreAway) else "refused")
        modules = settings.getlist("SPIDER_MODULES")
        _set_spider_modules(settings, [name for name in modules if not isinstance(name, _OurSpiders)])
        # Without a word: the log, too, is as if we were not there.
        raise NotConfigured

    def _prepare(self, topic: Topic, settings: Settings) -> None:
        # Here, so that spiders without a topic are spared these.
        from focused.spiders.focused import FocusedSpider  # noqa: PLC0415
        from focused.teaching.first import check_start  # noqa: PLC0415
        from focused.topics.settings import apply_settings  # noqa: PLC0415

        give_large_blocks_back()
        demote_lists(self.crawler)
        apply_settings(topic, settings)
        enable(settings, our_spider=isinstance(self.crawler.spider, FocusedSpider))
        begun = check_start(topic, settings)
        logger.info("Topic %r: critic %s, prioritizer %s", topic.name, begun["critic"], begun["prioritizer"])
        if settings["JOBDIR"]:
            logger.info("Job folder: %s", settings["JOBDIR"])
        missing = "; ".join(_not_guaranteed(settings))
        if missing:
            logger.warning("Not guaranteed with these settings: %s", missing)


def _not_guaranteed(settings: BaseSettings) -> Iterator[str]:
    """What the crawler promises, and cannot keep with what the project sets."""
    if not settings.getbool("ROBOTSTXT_OBEY"):
        yield "that robots.txt is obeyed (ROBOTSTXT_OBEY)"
    if not settings.getfloat("DOWNLOAD_DELAY") and not settings.getbool("AUTOTHROTTLE_ENABLED"):
        yield "a delay between requests to a host (DOWNLOAD_DELAY)"
    if read(settings, "FOCUSED_INNER_ADDRESSES") == "allow":
        yield "that inner addresses are refused (FOCUSED_INNER_ADDRESSES)"
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    if any(handlers[scheme] != ours.DOWNLOAD_HANDLERS[scheme] for scheme in ours.DOWNLOAD_HANDLERS):
        yield "that names of inner addresses are refused, and that headers are bounded (DOWNLOAD_HANDLERS)"
    if not is_our_scheduler(settings):
        yield "that the best link is fetched next, and that links are scored again (SCHEDULER)"


def _set_spider_modules(settings: BaseSettings, modules: list[str]) -> None:
    settings.set("SPIDER_MODULES", modules, settings.getpriority("SPIDER_MODULES") or 0)
