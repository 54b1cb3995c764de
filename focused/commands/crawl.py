"""``scrapy crawl``, which says in one line what is wrong with a topic, and teaches its critic first if need be."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler, CrawlerRunnerBase
from scrapy.settings import Settings

from focused.critics.choose import choose_critic, critic_for
from focused.critics.models import ModelRefused
from focused.defaults import read
from focused.extensions.progress import summary
from focused.frontier.records import check_job
from focused.frontier.resume import identity_of
from focused.parts import make_prioritizer
from focused.registry import UnknownName
from focused.spiders.examples import Interrupted
from focused.spiders.focused import FocusedSpider
from focused.teaching import CannotTeach, needs_teaching, plan_teaching, teach_topic
from focused.topics.arguments import parse_arguments
from focused.topics.problems import ProblemsError
from focused.topics.settings import apply_settings
from focused.topics.topic import Topic, load_topic

logger = logging.getLogger(__name__)

_BAD_USE, _FAILED = 2, 1
# A crawl that ends for one of these reasons has not done what it was asked for.
_FAILURES = frozenset({"store_broken", "archive_broken", "job_refused", "start_error"})


class _TeachingCrawler(Crawler):
    """A crawler that teaches the topic's critic before it begins."""

    def __init__(self, settings: Settings, topic: Topic, runner: CrawlerRunnerBase) -> None:
        super().__init__(FocusedSpider, settings)
        self._topic, self._runner = topic, runner
        self.failure = ""

    async def crawl_async(self, *args: Any, **kwargs: Any) -> None:
        logger.info("Topic %r has no trained critic yet: it is taught first", self._topic.name)
        try:
            await teach_topic(self._topic, self._runner.settings, runner=self._runner)
        except (CannotTeach, ProblemsError, Interrupted) as error:
            self.failure = str(error)
            return
        await super().crawl_async(*args, **kwargs)


class Command(ScrapyCrawl):
    """Scrapy's own command for other spiders; for ours, checks before and an exit code after."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args != [FocusedSpider.name]:
            super().run(args, opts)
            return
        assert self.crawler_process
        try:
            topic = self._topic_to_teach(opts.spargs)
        except (ProblemsError, ModelRefused, UnknownName, CannotTeach, ValueError) as error:
            self._end(_BAD_USE, str(error))
            return
        process = self.crawler_process
        crawler = _TeachingCrawler(process.settings, topic, process) if topic else process.create_crawler(FocusedSpider)
        process.crawl(crawler, **opts.spargs)
        process.start()
        self._report(crawler)

    def _topic_to_teach(self, arguments: dict[str, Any]) -> Topic | None:
        """Check all that can be wrong before anything is fetched. Gives the topic if its critic must be taught."""
        parsed = parse_arguments(arguments)
        topic = load_topic(parsed.topic, seeds=parsed.seeds, seeds_needed=True)
        assert self.settings is not None
        settings = self.settings.copy()
        apply_settings(topic, settings)
        for name, value in (("FOCUSED_CRITIC", parsed.critic), ("FOCUSED_PRIORITIZER", parsed.prioritizer)):
            if value:
                settings.set(name, value, "cmdline")
        if needs_teaching(topic, settings):
            plan_teaching(topic, settings)
            make_prioritizer(topic, settings, choose_critic(topic, read(settings, "FOCUSED_CRITIC")).make())
            return topic
        critic = critic_for(topic, Path(read(settings, "FOCUSED_MODELS")), read(settings, "FOCUSED_CRITIC"))
        prioritizer = make_prioritizer(topic, settings, critic)
        if settings["JOBDIR"]:
            check_job(Path(settings["JOBDIR"]), identity_of(topic, prioritizer, critic))
        return None

    def _report(self, crawler: Crawler) -> None:
        """The reason in the last line; a code that says whether it went well."""
        if isinstance(crawler, _TeachingCrawler) and crawler.failure:
            self._end(_FAILED, crawler.failure)
            return
        stats = crawler.stats
        reason = stats.get_value("finish_reason")
        words = str(stats.get_value("focused/stopped_by") or reason)
        if reason in _FAILURES:
            self._end(_FAILED, words)
        elif reason == "finished" and not (
            stats.get_value("focused/page/judged") or stats.get_value("item_scraped_count")
        ):
            self._end(_FAILED, f"nothing was fetched: {_why_nothing(stats.get_stats())}")
        elif self.crawler_process and self.crawler_process.bootstrap_failed:
            self.exitcode = _FAILED
        else:
            print(summary(stats.get_stats()), file=sys.stderr)

    def _end(self, code: int, words: str) -> None:
        self.exitcode = code
        print(words, file=sys.stderr)


def _why_nothing(stats: dict[str, Any]) -> str:
    ends = {name.rpartition("/")[2]: count for name, count in stats.items() if name.startswith("focused/outcome/")}
    if not ends:
        return "no seed was admitted (are all of them out of the topic's allowed hosts, or fetched by this job before?)"
    told = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
    return f"no seed could be reached ({told}; the log says why)"
