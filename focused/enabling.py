"""Our components and our politeness, as `focused.settings` lists them, for the settings of somebody else."""

from __future__ import annotations

from scrapy.settings import BaseSettings, get_settings_priority
from scrapy.utils.misc import load_object

from focused import settings as ours

_TABLES = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES", "EXTENSIONS")
_BY_SCHEME = ("DOWNLOAD_HANDLERS", "FEED_STORAGES")
# Who a project is, and what Scrapy reads before it knows the spider.
_PROJECTS = """
    ADDONS ASYNCIO_EVENT_LOOP BOT_NAME COMMANDS_MODULE FEED_EXPORT_ENCODING LOG_LEVEL LOG_VERSIONS NEWSPIDER_MODULE
    SPIDER_MODULES USER_AGENT
"""
_OF_THE_PROJECT = frozenset(_PROJECTS.split())
# A request that is put off comes back from our scheduler only; any other would drop it.
_WITH_OUR_SCHEDULER = frozenset({"RETRY_HTTP_CODES", "focused.middlewares.backoff.BackoffMiddleware"})
# Somebody's spider may keep something in its `state`.
_WITH_OUR_SPIDER = frozenset({"scrapy.extensions.spiderstate.SpiderState"})


def enable(settings: BaseSettings, *, our_spider: bool = True) -> None:
    """Add our components and our politeness to settings; what a project has set itself stays as it is."""
    settings.set("SCHEDULER", ours.SCHEDULER, "addon")
    left_out = _OF_THE_PROJECT
    if not our_spider:
        left_out |= _WITH_OUR_SPIDER
    if not is_our_scheduler(settings):
        left_out |= _WITH_OUR_SCHEDULER
        # Scrapy's default gives every host its turn before it looks at priorities: 45 pages on the topic of 200 where
        # this one finds 73.
        settings.set("SCHEDULER_PRIORITY_QUEUE", "scrapy.pqueues.ScrapyPriorityQueue", "addon")
    for name in filter(str.isupper, vars(ours)):
        if name in left_out:
            continue
        value = getattr(ours, name)
        if name in _BY_SCHEME:
            _set_by_scheme(settings, name, value)
            continue
        if name not in _TABLES:
            settings.set(name, value, "addon")
            continue
        for path, number in value.items():
            if path not in left_out:
                settings.setdefault_in_component_priority_dict(name, load_object(path), number)


def _set_by_scheme(settings: BaseSettings, name: str, ours: dict[str, str]) -> None:
    """Ours for the schemes for which a project has none of its own."""
    priority = max(settings.getpriority(name) or 0, get_settings_priority("addon"))
    settings.set(name, {**ours, **settings.getdict(name)}, priority)


def is_our_scheduler(settings: BaseSettings) -> bool:
    """Does our frontier hand out the requests?"""
    return scheduler_of(settings) == ours.SCHEDULER


def scheduler_of(settings: BaseSettings) -> str:
    """The dotted path of what hands out the requests: that of our frontier for whatever is built on it, too."""
    scheduler = load_object(settings["SCHEDULER"])
    is_ours = load_object(ours.SCHEDULER) in scheduler.__mro__
    return ours.SCHEDULER if is_ours else f"{scheduler.__module__}.{scheduler.__qualname__}"
