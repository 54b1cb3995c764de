"""``scrapy teach TOPIC``: train its critic from examples, or whatever else can be taught; write the models folder."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from focused import registry
from focused.teaching.command import PagesCommand

if TYPE_CHECKING:
    from focused.critics.models import Card
    from focused.critics.report import Figures


class Command(PagesCommand):
    """Teach, and report how well it went. What else can be taught comes in by entry points (`focused.teachers`)."""

    usage = "[options] TOPIC"
    summary = "Train the critic of a topic from its examples, or a prioritizer from paths"
    details = (
        "Fetches the example pages of a topic (as politely as a crawl), trains its critic, reports how well it judges "
        "examples that it has not seen, and writes it to the models folder (FOCUSED_MODELS). TOPIC is the name of a "
        "shipped topic or a topic file. With --prioritizer and --paths a prioritizer is taught instead, by labelled "
        "paths (see 'scrapy paths'); train the critic first."
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
        for teacher in self.teachers:
            teacher.add_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.critics.models import ModelRefused
        from focused.defaults import read
        from focused.running.progress import page_progress
        from focused.teaching.plan import CannotTeach, ExampleSource, plan_teaching
        from focused.teaching.teach import carry_out
        from focused.topics.identity import slug
        from focused.topics.topic import load_topic

        if len(args) != 1:
            raise UsageError("which topic? Give one: a shipped topic's name or a topic file")
        for teacher in self.teachers:
            if teacher.is_wanted(opts):
                teacher.teach(self, args[0], opts)
                return
        source = ExampleSource(examples=opts.examples, focus=opts.focus, hold_out=_pairs(opts.hold_out), web=opts.web)
        plan = plan_teaching(load_topic(args[0]), self.settings, source)
        try:
            with page_progress("examples") as progress:
                card = self.run_crawls(carry_out(plan, self.settings, self.crawler_process, progress))
        except (CannotTeach, ModelRefused, OSError) as error:
            self.fail(str(error))
        else:
            print(card_to_text(card))
            print(f"written to {read(self.settings, 'FOCUSED_MODELS')}/{slug(plan.topic)}")


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
