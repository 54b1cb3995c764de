"""Carries out what users order a crawl to do: the orders that count, as its job keeps them."""

from __future__ import annotations

import logging

from scrapy.crawler import Crawler
from scrapy.utils.defer import _schedule_coro

from focused.defaults import read
from focused.frontier.steering import PreferringStore, Steering, in_one_line
from focused.parts import Parts, parts_of
from focused.safety.patterns import Patterns
from focused.stops import SETTING_OF, CrawlLimits

logger = logging.getLogger(__name__)

ENDED = "ended_by_user"
"""The ``finish_reason`` of a crawl that was told to end."""


class Helm:
    """Has one crawl go on as its orders say. ``steer`` is told them as often as they change."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self._parts = crawler, parts_of(crawler)
        self._has_begun = False

    def steer(self, new: Steering) -> None:
        """Do what follows from these orders, if they are others than before."""
        parts, before = self._parts, self._parts.steering
        if new == before:
            return
        parts.steering = new
        frontier, store = parts.frontier, parts.store
        assert frontier is not None
        parts.scope.left_out = Patterns(new.left_out)
        if new.preferred != before.preferred and isinstance(store, PreferringStore):
            store.prefer(Patterns(new.preferred))
        if new.limits != before.limits:
            parts.stops = CrawlLimits.of(self._crawler.settings).but(new.limits)
            logger.info("%s", self._limits_in_words(new))
        frontier.pause(new.is_paused)
        if new.is_paused and not before.is_paused:
            logger.warning("The crawl is %s", how_to_go_on(parts))
        elif before.is_paused and not new.is_paused:
            logger.info("The crawl goes on")
        if new.ends != before.ends and self._has_begun:
            _schedule_coro(self._crawler.engine.close_spider_async(reason=ENDED))

    def begin(self) -> None:
        """The crawl begins: an order to end that came before does not hold for this start."""
        self._has_begun = True
        if orders := list(self._parts.steering.in_words()):
            logger.info("Orders that count: %s", in_one_line(orders))

    def _limits_in_words(self, steering: Steering) -> str:
        settings = self._crawler.settings
        told = [
            f"{name}={value or 'none'} (the crawl's own: {read(settings, SETTING_OF[name]) or 'none'})"
            for name, value in steering.limits.items()
        ]
        return f"Limits set by `scrapy steer`: {', '.join(told)}"


def how_to_go_on(parts: Parts) -> str:
    """What to say of a crawl that is paused."""
    name = parts.job.name if parts.job is not None else ""
    return f"paused (to go on: scrapy steer {name or 'JOBDIR'} --go-on)"
