"""The parts of one crawl that several Scrapy components share: topic, critic, prioritizer, frontier.

Scrapy builds its components one by one, each from the crawler; here they find one another.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from focused.critics.base import Critic, Verdict
from focused.critics.choose import choose_critic, critic_for, topic_reference
from focused.defaults import read
from focused.frontier.store import FrontierStore
from focused.pages.page import Page, PageLimits
from focused.pages.tokens import CrawlLexicon
from focused.prioritizers.base import Lessons, Prioritizer
from focused.prioritizers.options import build
from focused.prioritizers.trainer import Trainer
from focused.registry import find
from focused.responses import limits_of
from focused.safety.scope import Scope
from focused.starting import refusal_of, topic_of
from focused.topics.identity import slug
from focused.topics.topic import Topic

logger = logging.getLogger(__name__)

_OF: WeakKeyDictionary[Crawler, Parts] = WeakKeyDictionary()
DEFAULT_PRIORITIZER = "focused"
CRITIC_STATE = "critic state"


@dataclass(eq=False)
class Parts:
    """What the components of one crawl share. ``store`` is None under a scheduler that is not ours."""

    topic: Topic
    critic: Critic
    prioritizer: Prioritizer
    trainer: Trainer
    scope: Scope
    limits: PageLimits
    lexicon: CrawlLexicon = field(default_factory=CrawlLexicon)
    store: FrontierStore | None = None
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def scorer(self) -> Prioritizer:
        """The snapshot of the prioritizer that scores now."""
        return self.store.prioritizer if self.store else self.prioritizer

    def judge(self, page: Page) -> Verdict:
        """The verdict on a page: made on first need, then remembered on it."""
        if page.verdict is None:
            page.verdict = verdict = self.critic.judge(page)
            if not 0.0 <= verdict.relevance <= 1.0:
                page.verdict = None
                raise ValueError(
                    f"the critic {self.critic.name!r} gives {page.url} the relevance {verdict.relevance}: "
                    f"it must be a number from 0 to 1"
                )
        return page.verdict

    def teach(self, token: int, lessons: Lessons | None) -> None:
        """Hand the lessons that came under a lease to whoever trains: this process, or one of those that share."""
        if self.store is not None and self.store.is_shared:
            self.store.pool(token, lessons)
        else:
            self.trainer.add(lessons)

    def learn_from_seed(self, seed: Page) -> None:
        """Show the critic a seed page; what it takes from it is kept with the job."""
        store = self.store
        if store is not None and store.is_shared:
            store.revise(CRITIC_STATE, partial(self._learn_from_seed_after, seed))
        elif self.critic.learn_from_seed(seed) and store is not None:
            store.note(CRITIC_STATE, json.dumps(self.critic.state()))

    def _learn_from_seed_after(self, seed: Page, others: str | None) -> str | None:
        """Greet a seed after those that other workers have greeted."""
        if others is not None:
            self.critic.restore(json.loads(others))
        return json.dumps(self.critic.state()) if self.critic.learn_from_seed(seed) else None


def has_topic(crawler: Crawler) -> bool:
    """Is there anything to prioritize for?"""
    return topic_of(crawler) is not None


def parts_of(crawler: Crawler) -> Parts:
    """The parts of a crawl, made on first need."""
    parts = _OF.get(crawler)
    if parts is None:
        parts = _OF[crawler] = _make(crawler)
    return parts


def _make(crawler: Crawler) -> Parts:
    settings = crawler.settings
    topic = topic_of(crawler)
    if topic is None:
        raise NotConfigured
    if refusal_of(crawler):
        # It judges nothing any more.
        critic = choose_critic(topic, read(settings, "FOCUSED_CRITIC")).make()
    else:
        critic = critic_for(topic, Path(read(settings, "FOCUSED_MODELS")), read(settings, "FOCUSED_CRITIC"))
    prioritizer = make_prioritizer(topic, settings, critic)
    every = read(settings, "FOCUSED_TRAIN_EVERY")
    return Parts(
        topic=topic,
        critic=critic,
        prioritizer=prioritizer,
        trainer=Trainer(every if every > 0 else prioritizer.learns_every),
        scope=Scope.from_settings(settings),
        limits=limits_of(settings),
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
