"""``scrapy teach TOPIC``: train its critic from examples, or whatever else can be taught; write the models folder."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from focused import registry
from focused.running.command import program, whole_number
from focused.teaching.command import PagesCommand

if TYPE_CHECKING:
    from focused.critics.models import Card
    from focused.critics.report import Figures
    from focused.pages.page import Page
    from focused.teaching.plan import TeachingPlan
    from focused.topics.topic import Topic


class Command(PagesCommand):
    """Teach, and report how well it went. What else can be taught comes in by entry points (`focused.teachers`)."""

    usage = "[options] TOPIC"
    summary = "Train the critic of a topic from its examples, or a prioritizer from paths"
    details = (
        "Fetches the example pages of a topic (as politely as a crawl), trains its critic, reports how well it judges "
        "examples that it has not seen, and writes it to the models folder (FOCUSED_MODELS). With --sample it tries "
        "the topic, which may be one without examples: it fetches a few pages and shows what the critic makes of "
        "them. TOPIC is the name of a shipped topic or a topic file. With --prioritizer and --paths a prioritizer is "
        "taught instead, by labelled paths (see 'scrapy paths'); train the critic first."
    )

    def __init__(self) -> None:
        super().__init__()
        self.teachers: list[Any] = [registry.find("teacher", name) for name in registry.names("teacher")]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--examples", default="", metavar="FILE.tsv", help="other examples than the topic's")
        focus = "other classes wanted (may be repeated)"
        add("--focus", action="append", default=[], metavar="CLASS", help=focus)
        held_out = "leave these examples out (may be repeated)"
        add("--hold-out", action="append", default=[], metavar="COLUMN=VALUE", help=held_out)
        sample = "then try the topic on N pages, its seeds and pages that they link to (such as 30; default: 0, none)"
        add("--sample", type=whole_number(0), default=0, metavar="N", help=sample)
        for teacher in self.teachers:
            teacher.add_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.critics.models import ModelRefused
        from focused.defaults import read
        from focused.teaching.plan import CannotTeach, ExampleSource, NothingToTeach, plan_teaching
        from focused.topics.settings import apply_settings
        from focused.topics.topic import load_topic

        if len(args) != 1:
            raise UsageError("which topic? Give one: a shipped topic's name or a topic file")
        for teacher in self.teachers:
            if teacher.is_wanted(opts):
                if opts.sample:
                    raise UsageError("--sample tries a critic: give it without options that teach something else")
                teacher.teach(self, args[0], opts)
                return
        topic, plan = load_topic(args[0], trusted=read(self.settings, "FOCUSED_TOPICS_TRUSTED")), None
        apply_settings(topic, self.settings)
        source = ExampleSource(examples=opts.examples, focus=opts.focus, hold_out=_pairs(opts.hold_out), web=opts.web)
        try:
            plan = plan_teaching(topic, self.settings, source)
        except NothingToTeach:
            if not opts.sample:
                raise
        if plan is None and not topic.seeds:
            raise ValueError(f"topic {topic.name!r} has no seeds and no examples to try it on: give it seeds")
        try:
            self.run_crawls(self._teach_and_try(topic, plan, opts))
        except (CannotTeach, ModelRefused, OSError) as error:
            self.fail(str(error))

    async def _teach_and_try(self, topic: Topic, plan: TeachingPlan | None, opts: argparse.Namespace) -> None:
        from focused.critics.choose import topic_reference
        from focused.teaching.doubts import doubts_about

        pages = await self._teach(plan) if plan is not None else []
        doubts = await self._try(topic, pages, opts) if opts.sample else []
        for doubt in (*doubts_about(topic, self.settings), *doubts):
            print(f"warning: {doubt}")
        if topic.seeds and not opts.sample:
            print(f"try it before you crawl: {program()} teach {shlex.quote(topic_reference(topic))} --sample 30")

    async def _teach(self, plan: TeachingPlan) -> list[Page]:
        """Teach the critic; gives the pages that taught it."""
        from focused.defaults import read
        from focused.running.progress import page_progress
        from focused.teaching.teach import carry_out
        from focused.topics.identity import slug

        with page_progress("examples") as progress:
            teaching = await carry_out(plan, self.settings, self.crawler_process, progress)
        print(card_to_text(teaching.card))
        print(f"written to {read(self.settings, 'FOCUSED_MODELS')}/{slug(plan.topic)}")
        return teaching.pages

    async def _try(self, topic: Topic, pages: list[Page], opts: argparse.Namespace) -> list[str]:
        """Show what the critic makes of a sample, or of the example pages if the topic has no seeds; gives doubts."""
        from focused.running.progress import page_progress
        from focused.teaching.plan import CannotTeach
        from focused.teaching.trial import Sample, gather_sample, try_topic
        from focused.teaching.trial_text import trial_lines

        sample = Sample(pages)
        if topic.seeds:
            with page_progress("sample") as progress:
                sample = await gather_sample(
                    topic, self.settings, opts.sample, web=opts.web, runner=self.crawler_process, progress=progress
                )
        if not sample.pages:
            raise CannotTeach(f"no page of the sample could be fetched: {sample.missing.missing()}")
        trial = try_topic(topic, self.settings, sample)
        print(*trial_lines(topic, sample, trial), sep="\n")
        return trial.doubts


def card_to_text(card: Card) -> str:
    """A card, for people."""
    wanted = f", in focus: {', '.join(card.focus)}" if card.focus else ""
    lines = [
        f"topic {card.topic!r}, critic {card.critic!r}{wanted}",
        f"  examples       {counts_to_text(card.examples)}",
    ]
    if card.unreachable:
        lines.append(f"  not fetched    {counts_to_text(card.unreachable)}")
    lines.append(f"  {_figures(card.report.figures)}")
    lines += [f"  confused       {c.pages} of {c.true} taken for {c.said}" for c in card.report.confusions]
    lines.append(f"  words for      {', '.join(card.report.words_for) or '-'}")
    if card.report.words_against:
        lines.append(f"  words against  {', '.join(card.report.words_against)}")
    lines += [f"  words of       {name}: {', '.join(words)}" for name, words in card.report.words_of_classes.items()]
    return "\n".join(lines)


def counts_to_text(counts: dict[str, int], most: int = 8) -> str:
    """How many in all, and of what; the most frequent first."""
    shown = sorted(counts.items(), key=lambda item: -item[1])
    more = f", and {len(shown) - most} more" if len(shown) > most else ""
    return f"{sum(counts.values())}: " + ", ".join(f"{name} {count}" for name, count in shown[:most]) + more


def _figures(figures: Figures) -> str:
    if not figures.folds:
        return "too few examples to hold some back and measure: have at least two that are wanted, and two others"
    if figures.precision is None:
        return f"recall {figures.recall:.2f} (in {figures.folds} folds; without other pages precision is not known)"
    return (
        f"precision {figures.precision:.2f}  recall {figures.recall:.2f}  F1 {figures.f1:.2f}  "
        f"average precision {figures.average_precision:.2f}  (of R ≥ 0.5, in {figures.folds} folds)"
    )


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = dict(text.partition("=")[::2] for text in texts)
    if not all(name and value for name, value in pairs.items()):
        raise UsageError("--hold-out wants COLUMN=VALUE, such as --hold-out university=cornell", print_help=False)
    return pairs
