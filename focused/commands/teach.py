"""``scrapy teach TOPIC``: fetch the examples of a topic, train its critic, write the models folder."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.running.progress import page_progress, quieten

if TYPE_CHECKING:
    from focused.critics.models import Card
    from focused.critics.report import Figures


class Command(ScrapyCommand):
    """Teach, and tell how well it went."""

    requires_project = True

    def syntax(self) -> str:
        return "[options] TOPIC"

    def short_desc(self) -> str:
        return "Train the critic of a topic from its examples"

    def long_desc(self) -> str:
        return (
            "Fetches the example pages of a topic (as politely as a crawl), trains its critic, tells how well it "
            "judges examples it has not seen, and writes it to the models folder (FOCUSED_MODELS). TOPIC is a shipped "
            "topic's name or a topic file."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--critic", default="", help="naive-bayes, logistic, or a dotted path")
        parser.add_argument("--examples", default="", metavar="FILE.tsv", help="other examples than the topic's")
        parser.add_argument(
            "--focus", action="append", default=[], metavar="CLASS", help="other classes wanted (repeat)"
        )
        parser.add_argument("--web", default="", metavar="WEB.warc.gz", help="take pages from a recorded web")
        parser.add_argument(
            "--hold-out",
            action="append",
            default=[],
            metavar="COLUMN=VALUE",
            help="leave these examples out (may be repeated)",
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        quieten(self.settings)
        if opts.critic:
            self.settings.set("FOCUSED_CRITIC", opts.critic, priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.critics.models import ModelRefused
        from focused.defaults import read
        from focused.running.loop import Stopped, run_to_end
        from focused.spiders.examples import Interrupted
        from focused.teaching.plan import CannotTeach, Source, plan_teaching
        from focused.teaching.teach import carry_out
        from focused.topics.identity import slug
        from focused.topics.topic import load_topic

        if len(args) != 1:
            raise UsageError("which topic? Give one: a shipped topic's name or a topic file")
        assert self.settings is not None
        assert self.crawler_process is not None
        source = Source(examples=opts.examples, focus=opts.focus, hold_out=_pairs(opts.hold_out), web=opts.web)
        try:
            plan = plan_teaching(load_topic(args[0]), self.settings, source)
        except ValueError as error:
            raise UsageError(str(error), print_help=False) from error
        try:
            with page_progress("examples") as progress:
                card = run_to_end(self.crawler_process, carry_out(plan, self.settings, self.crawler_process, progress))
        except (CannotTeach, ModelRefused, OSError) as error:
            self._fail(str(error))
        except (Interrupted, Stopped) as error:
            self._fail(f"{error or 'stopped'}: nothing was written")
        else:
            print(card_to_text(card))
            print(f"written to {read(self.settings, 'FOCUSED_MODELS')}/{slug(plan.topic)}")

    def _fail(self, message: str) -> None:
        print(f"scrapy teach: {message}", file=sys.stderr)
        self.exitcode = 1


def card_to_text(card: Card) -> str:
    """A card, for people."""
    wanted = f", in focus: {', '.join(card.focus)}" if card.focus else ""
    lines = [
        f"topic {card.topic!r}, critic {card.critic!r}{wanted}",
        f"  examples       {_counts(card.examples)}",
    ]
    if card.unreachable:
        lines.append(f"  not fetched    {_counts(card.unreachable)}")
    lines.append(f"  {_figures(card.report.figures)}")
    lines += [f"  confused       {c.pages} of {c.true} taken for {c.said}" for c in card.report.confusions]
    lines.append(f"  words for      {', '.join(card.report.words_for) or '-'}")
    if card.report.words_against:
        lines.append(f"  words against  {', '.join(card.report.words_against)}")
    lines += [f"  words of       {name}: {', '.join(words)}" for name, words in card.report.words_of_classes.items()]
    return "\n".join(lines)


def _counts(counts: dict[str, int], most: int = 8) -> str:
    shown = sorted(counts.items(), key=lambda item: -item[1])
    more = f", and {len(shown) - most} more classes" if len(shown) > most else ""
    return f"{sum(counts.values())}: " + ", ".join(f"{name} {count}" for name, count in shown[:most]) + more


def _figures(figures: Figures) -> str:
    if not figures.folds:
        return "too few examples to hold some back and measure: have at least two that are wanted, and two others"
    if figures.precision is None:
        return f"recall {figures.recall:.2f} (in {figures.folds} folds; without other pages precision is not known)"
    return (
        f"precision {figures.precision:.2f}  recall {figures.recall:.2f}  F1 {figures.f1:.2f}  "
        f"average precision {figures.average_precision:.2f}  (of R > 0.5, in {figures.folds} folds)"
    )


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = dict(text.partition("=")[::2] for text in texts)
    if not all(name and value for name, value in pairs.items()):
        raise UsageError("--hold-out wants COLUMN=VALUE, such as --hold-out university=cornell", print_help=False)
    return pairs
