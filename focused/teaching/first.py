"""Before a crawl: all that can be wrong is found, and a critic that is missing is taught."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from scrapy.crawler import Crawler, CrawlerRunnerBase
from scrapy.settings import Settings

from focused.critics.base import Critic
from focused.critics.choose import choose_critic, critic_for
from focused.critics.targets import Targets
from focused.defaults import read
from focused.frontier.records import check_job
from focused.frontier.resume import begin_with, identity_of, is_in_redis
from focused.parts import make_prioritizer
from focused.spiders.examples import Interrupted
from focused.spiders.focused import FocusedSpider
from focused.teaching.plan import CannotTeach, needs_teaching, plan_teaching
from focused.teaching.teach import teach_topic
from focused.topics.arguments import parse_arguments
from focused.topics.problems import Problems, ProblemsError
from focused.topics.settings import apply_settings, check_settings
from focused.topics.topic import Topic, load_topic

logger = logging.getLogger(__name__)


class TeachingCrawler(Crawler):
    """A crawler that teaches the topic's critic before it begins."""

    def __init__(self, settings: Settings, topic: Topic, runner: CrawlerRunnerBase, critic: str = "") -> None:
        super().__init__(FocusedSpider, settings)
        self._topic, self._runner, self._critic = topic, runner, critic
        self.failure = ""

    async def crawl_async(self, *args: Any, **kwargs: Any) -> None:
        logger.info("Topic %r has no trained critic yet: it is taught first", self._topic.name)
        try:
            settings = self._runner.settings.copy()
            if self._critic:
                settings.set("FOCUSED_CRITIC", self._critic, "cmdline")
            await teach_topic(self._topic, settings, runner=self._runner)
        except (CannotTeach, ProblemsError, Interrupted) as error:
            self.failure = str(error)
            return
        await super().crawl_async(*args, **kwargs)


def topic_to_teach(arguments: dict[str, Any], settings: Settings) -> Topic | None:
    """Check all that can be wrong before anything is fetched. Gives the topic if its critic must be taught.

    ValueError says what is wrong, and the way out.
    """
    problems = Problems()
    check_settings(settings, problems)
    problems.raise_as(ProblemsError)
    parsed = parse_arguments(arguments)
    topic = load_topic(parsed.topic, seeds=parsed.seeds, seeds_needed=True)
    own = settings.copy()
    apply_settings(topic, own)
    parsed.apply(own)
    if own["JOBDIR"] and not is_in_redis(own):
        _check_folder("JOBDIR", Path(own["JOBDIR"]))
    if needs_teaching(topic, own):
        plan_teaching(topic, own)
        _check_folder("FOCUSED_MODELS", Path(read(own, "FOCUSED_MODELS")))
        critic = choose_critic(topic, read(own, "FOCUSED_CRITIC")).make()
        # Whoever compares with the targets finds them when the critic has been taught.
        critic.targets = Targets.of_words({})
        _check_start(topic, critic, own)
        return topic
    critic = critic_for(topic, Path(read(own, "FOCUSED_MODELS")), read(own, "FOCUSED_CRITIC"))
    identity = _check_start(topic, critic, own)
    if own["JOBDIR"] and not is_in_redis(own):
        check_job(Path(own["JOBDIR"]), identity)
    return None


def _check_folder(name: str, path: Path) -> None:
    """Can a folder be made there, or written to?"""
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not there.is_dir():
        raise ValueError(f"{name}={str(path)!r}: {str(there)!r} is a file; give a folder")
    if not os.access(there, os.W_OK):
        raise ValueError(f"{name}={str(path)!r}: nothing may be written to {str(there)!r}; give another folder")


def _check_start(topic: Topic, critic: Critic, settings: Settings) -> dict[str, str]:
    """Can the prioritizer begin with what is said to be learned, and in the crawl in Redis? Whose crawl it is."""
    prioritizer = make_prioritizer(topic, settings, critic)
    saved = read(settings, "FOCUSED_LEARNED")
    if saved:
        begin_with(prioritizer, saved)
    if is_in_redis(settings):
        # Crawls in a folder are spared this import.
        from focused.redis.workers.opening import check_crawl  # noqa: PLC0415

        check_crawl(topic, settings, prioritizer, critic)
    return identity_of(topic, prioritizer, critic)
