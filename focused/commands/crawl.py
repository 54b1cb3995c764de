"""``scrapy crawl``, which says in one line what is wrong with a topic, and teaches its critic first if need be."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler

from focused.critics.choose import choose_critic, critic_for, topic_reference
from focused.critics.models import ModelRefused, load_card
from focused.defaults import read
from focused.parts import make_prioritizer
from focused.registry import UnknownName
from focused.spiders.focused import FocusedSpider
from focused.topics.arguments import parse_arguments
from focused.topics.identity import slug
from focused.topics.problems import ProblemsError
from focused.topics.settings import apply_settings
from focused.topics.topic import Topic, load_topic

_BAD_USE, _FAILED = 2, 1
# A crawl that ends for one of these reasons has not done what it was asked for.
_FAILURES = frozenset({"store_broken", "job_refused", "start_error"})


class Command(ScrapyCrawl):
    """Scrapy's own command for other spiders; for ours, checks before and an exit code after."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args != [FocusedSpider.name]:
            super().run(args, opts)
            return
        try:
            topic = self._check(opts.spargs)
        except (ProblemsError, ModelRefused, UnknownName, ValueError) as error:
            self._end(_BAD_USE, str(error))
            return
        crawler = self._crawler()
        if topic is not None and not self._teach(topic):
            return
        assert self.crawler_process
        self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        self._report(crawler)

    def _check(self, arguments: dict[str, Any]) -> Topic | None:
        """All that can be wrong before anything is fetched. Gives the topic if its critic must be taught first."""
        parsed = parse_arguments(arguments)
        topic = load_topic(parsed.topic, seeds=parsed.seeds, seeds_needed=True)
        assert self.settings is not None
        settings = self.settings.copy()
        apply_settings(topic, settings)
        for name, value in (("FOCUSED_CRITIC", parsed.critic), ("FOCUSED_PRIORITIZER", parsed.prioritizer)):
            if value:
                settings.set(name, value, "cmdline")
        models, override = Path(read(settings, "FOCUSED_MODELS")), read(settings, "FOCUSED_CRITIC")
        card = load_card(models, slug(topic), topic=topic_reference(topic))
        choice = choose_critic(topic, override, card)
        if choice.kind.learns and card is None and topic.examples:
            make_prioritizer(topic, settings, None)
            return topic
        make_prioritizer(topic, settings, critic_for(topic, models, override))
        return None

    def _crawler(self) -> Crawler:
        assert self.crawler_process
        return self.crawler_process.create_crawler(FocusedSpider)

    def _teach(self, topic: Topic) -> bool:
        raise ModelRefused(f"no trained critic for topic {topic.name!r}; teach it: scrapy teach {topic.name}")

    def _report(self, crawler: Crawler) -> None:
        """The reason in the last line; a code that says whether it went well."""
        stats = crawler.stats
        reason = stats.get_value("finish_reason")
        if not stats.get_value("focused/page/judged") and reason in {"finished", *_FAILURES}:
            self._end(_FAILED, f"nothing was fetched: {stats.get_value('focused/stopped_by') or reason}")
        elif reason in _FAILURES:
            self._end(_FAILED, str(stats.get_value("focused/stopped_by") or reason))
        elif self.crawler_process and self.crawler_process.bootstrap_failed:
            self.exitcode = _FAILED

    def _end(self, code: int, words: str) -> None:
        self.exitcode = code
        print(words, file=sys.stderr)
