"""The parts of one crawl that several Scrapy components share: topic, critic, prioritizer, frontier.

Scrapy builds its components one by one, each from the crawler; here they find one another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from focused import signals
from focused.critics.base import Critic
from focused.critics.choose import choose_critic, critic_for, topic_reference
from focused.defaults import read, read_all
from focused.frontier.steering import Steering
from focused.frontier.store import FrontierStore, NewLink, Standing
from focused.job import OpenJob
from focused.learned import begin_with
from focused.learning import Learning
from focused.pages.page import PageLimits
from focused.pages.tokens import CrawlLexicon
from focused.prioritizers.base import Prioritizer
from focused.prioritizers.options import build
from focused.prioritizers.trainer import Trainer
from focused.registry import find
from focused.responses import limits_of
from focused.safety.scope import Rules, Scope
from focused.starting import refusal_of, topic_of
from focused.stops import CrawlLimits
from focused.topics.identity import slug
from focused.topics.topic import Topic
from focused.visits.visits import Visits

if TYPE_CHECKING:
    from focused.scheduling.dispatcher import Dispatcher

logger = logging.getLogger(__name__)

_OF: WeakKeyDictionary[Crawler, Parts] = WeakKeyDictionary()
DEFAULT_PRIORITIZER = "focused"


Asked = tuple[NewLink, Request | None]
"""A link, and the request that asks for it."""


@dataclass(eq=False)
class Parts:
    """What the components of one crawl share. Those at the end are there once the job is open.

    ``steering`` are the orders of users that count, ``stops`` the limits that follow from them and the settings.
    """

    topic: Topic
    critic: Critic
    prioritizer: Prioritizer
    trainer: Trainer
    scope: Scope
    limits: PageLimits
    stops: CrawlLimits = field(default_factory=CrawlLimits)
    steering: Steering = field(default_factory=Steering)
    lexicon: CrawlLexicon = field(default_factory=CrawlLexicon)
    job: OpenJob | None = None
    frontier: Dispatcher | None = None
    visits: Visits = field(init=False)
    learning: Learning = field(init=False)

    @property
    def store(self) -> FrontierStore | None:
        """The links and pages of the job, while one is open."""
        return self.job.store if self.job is not None else None

    @property
    def standing(self) -> Standing:
        """How the crawl stands, earlier starts and other workers included."""
        return self.job.store.standing() if self.job is not None else Standing()

    def begin(self, crawler: Crawler, job: OpenJob, frontier: Dispatcher) -> None:
        """The job is open: pages may come."""
        self.job = job
        tell, spider = crawler.signals.send_catch_log, crawler.spider
        self.visits = Visits(
            job.store,
            self.critic,
            job.training,
            self.scope,
            # Whole numbers by its type, any by what it does.
            count=cast("Callable[[str, float], None]", crawler.stats.inc_value),
            judged=lambda record: tell(signals.page_judged, record=record, spider=spider),
            follow_duplicates=read(crawler.settings, "FOCUSED_FOLLOW_DUPLICATES"),
            follow_from=read(crawler.settings, "FOCUSED_FOLLOW_FROM"),
        )
        untaught = partial(self.untaught, crawler.settings)
        self.learning = Learning(crawler, job, frontier, self.visits, self.trainer, untaught=untaught)

    def untaught(self, settings: BaseSettings, critic: Critic) -> Prioritizer:
        """A prioritizer as the crawl began with it."""
        prioritizer = make_prioritizer(self.topic, settings, critic)
        if started_from := read(settings, "FOCUSED_LEARNED"):
            begin_with(prioritizer, started_from)
        return prioritizer


class Component:
    """A Scrapy component, which is left out of crawls that have nothing for it to do."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        if not self.is_wanted():
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def is_wanted(self) -> bool:
        """Is there something to do? Most have where there is a topic."""
        return topic_of(self.crawler) is not None

    @cached_property
    def parts(self) -> Parts:
        """What the components of this crawl share."""
        return parts_of(self.crawler)


def parts_of(crawler: Crawler) -> Parts:
    """The parts of a crawl, made on first need."""
    parts = _OF.get(crawler)
    if parts is None:
        parts = _OF[crawler] = _make(crawler)
    return parts


def is_store_broken(crawler: Crawler) -> bool:
    """Has the job of a crawl failed?"""
    parts = _OF.get(crawler)
    return parts is not None and parts.frontier is not None and parts.frontier.is_broken


def _make(crawler: Crawler) -> Parts:
    settings = crawler.settings
    topic = topic_of(crawler)
    if topic is None:
        raise NotConfigured
    if refusal_of(crawler):
        # It judges nothing any more.
        critic = choose_critic(topic, read(settings, "FOCUSED_CRITIC")).make()
    else:
        models, vectors = Path(read(settings, "FOCUSED_MODELS")), read(settings, "FOCUSED_VECTORS")
        critic = critic_for(topic, models, read(settings, "FOCUSED_CRITIC"), vectors=vectors)
    prioritizer = make_prioritizer(topic, settings, critic)
    every = read(settings, "FOCUSED_TRAIN_EVERY")
    return Parts(
        topic=topic,
        critic=critic,
        prioritizer=prioritizer,
        trainer=Trainer(every if every > 0 else prioritizer.learns_every),
        scope=Scope(read_all(Rules, settings, "SCOPE", "TRAP")),
        limits=limits_of(settings),
        stops=CrawlLimits.of(settings),
    )


def make_prioritizer(topic: Topic, settings: BaseSettings, critic: Critic) -> Prioritizer:
    """The prioritizer that the settings or the topic name, with the topic's options and what it was taught."""
    name, options = choose_prioritizer(topic, settings)
    prioritizer = build(find("prioritizer", name), options, critic=critic, file=topic.file)
    prioritizer.load(Path(read(settings, "FOCUSED_MODELS")) / slug(topic), topic_reference(topic))
    return prioritizer


def choose_prioritizer(topic: Topic, settings: BaseSettings) -> tuple[str, dict[str, Any]]:
    """The name, or dotted path, of the prioritizer that is asked for, and its options."""
    options: dict[str, Any] = dict(topic.prioritizer)
    own = options.pop("name", "")
    name = read(settings, "FOCUSED_PRIORITIZER") or own or DEFAULT_PRIORITIZER
    # Options in a topic file are meant for the prioritizer that the file names.
    meant_for = own or DEFAULT_PRIORITIZER
    if options and name != meant_for:
        logger.info("[prioritizer] %s: not for %r, but for %r, so left out", ", ".join(options), name, meant_for)
    return name, options if name == meant_for else {}
