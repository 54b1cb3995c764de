"""``scrapy judge TOPIC URL|FILE…``: what the critic thinks of some pages, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.report.text import short
from focused.running.command import whole_number
from focused.teaching.command import PagesCommand

if TYPE_CHECKING:
    from focused.critics.base import Critic
    from focused.pages.page import Page

_CLASSES = 3


class Command(PagesCommand):
    """Judge pages by their address, or files."""

    usage = "[options] TOPIC URL|FILE ..."
    summary = "Show how relevant pages are to a topic, and why"
    details = (
        "Judges pages (fetched as politely as in a crawl) or HTML files with the critic of a topic. A critic that "
        "learns from examples must have been taught: scrapy teach TOPIC. The critic keywords learns the "
        "vocabulary of the seeds only with --seeds, which fetches them."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--seeds", action="store_true", help="fetch the topic's seeds first, for the critic to learn from"
        )
        words = "show the N words that count most (default: 8)"
        parser.add_argument("--words", type=whole_number(0), default=8, metavar="N", help=words)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.critics.choose import critic_for
        from focused.defaults import read
        from focused.pages.fetched import NoPage
        from focused.problems import did_you_mean
        from focused.responses import limits_of
        from focused.teaching.gathering import page_of_file
        from focused.topics.library import shipped_topics
        from focused.topics.settings import apply_settings
        from focused.topics.topic import load_topic

        if len(args) < 2:
            raise UsageError("give a topic, and at least one address or file to judge")
        settings = self.settings.copy()
        # Its log is off, and a warning would not be seen: a misspelt name is an error, not plain words.
        misspelt = bool(did_you_mean(args[0], shipped_topics()))
        topic = load_topic(args[0], seedless=not misspelt, trusted=read(settings, "FOCUSED_TOPICS_TRUSTED"))
        apply_settings(topic, settings)
        models, vectors = Path(read(settings, "FOCUSED_MODELS")), read(settings, "FOCUSED_VECTORS")
        critic = critic_for(topic, models, opts.critic, vectors=vectors)
        files, urls = _sort(args[1:])
        seeds = topic.seeds if opts.seeds else []
        try:
            fetched = self.fetch([*urls.values(), *seeds], settings, web=opts.web, what="pages")
        except (OSError, ValueError) as error:
            self.fail(str(error))
            return
        for url in seeds:
            if url in fetched.pages:
                critic.learn_from_seed(fetched.pages[url])
        limits = limits_of(settings)
        for given in args[1:]:
            try:
                page = page_of_file(files[given], limits) if given in files else fetched.page(urls[given])
            except NoPage as error:
                print(f"{given}\n  not judged: {error}")
                self.exitcode = 1
            else:
                print(f"{given}\n" + "\n".join(verdict_lines(critic, page, opts.words)))


def verdict_lines(critic: Critic, page: Page, most: int) -> Iterator[str]:
    """A verdict, for people. A critic without `explain` gives no reasons, and nothing is said of them."""
    from focused.critics.base import Critic as Base

    verdict = critic.judge(page)
    yield f"  relevance {verdict.relevance:.3f}   {short(page.title, 200)}"
    if verdict.classes:
        yield "  classes   " + ", ".join(
            f"{short(name, 80)} {chance:.2f}" for name, chance in verdict.classes[:_CLASSES]
        )
    reasons = critic.explain(page, most)
    for sign, title in ((1, "for      "), (-1, "against  ")):
        told = [f"{reason.word} {reason.weight:+.2f}" for reason in reasons if reason.weight * sign > 0]
        if told:
            yield f"  {title} " + ", ".join(told)
    if most and not reasons and type(critic).explain is not Base.explain:
        yield "  no word of this page is known to the critic"


def _sort(given: list[str]) -> tuple[dict[str, Path], dict[str, str]]:
    """Files, and addresses as they are fetched, by how they were given."""
    from focused.pages.urls import join

    files = {one: Path(one) for one in given if Path(one).is_file()}
    urls = {one: join(one, "") for one in given if one not in files}
    wrong = [one for one, url in urls.items() if not url]
    if wrong:
        raise UsageError(f"neither a file nor an address: {', '.join(map(repr, wrong))}", print_help=False)
    return files, urls
