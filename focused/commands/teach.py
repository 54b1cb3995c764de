"""``scrapy teach TOPIC``: train its critic from examples, or a prioritizer from paths; write the models folder."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from focused.running.progress import page_progress, quieten

if TYPE_CHECKING:
    from focused.critics.models import Card
    from focused.critics.report import Figures
    from focused.pages.fetched import Fetched
    from focused.papers.prioritizers.taught import TaughtCard


class Command(ScrapyCommand):
    """Teach, and tell how well it went."""

    requires_project = True

    def syntax(self) -> str:
        return "[options] TOPIC"

    def short_desc(self) -> str:
        return "Train the critic of a topic from its examples, or a prioritizer from paths"

    def long_desc(self) -> str:
        return (
            "Fetches the example pages of a topic (as politely as a crawl), trains its critic, tells how well it "
            "judges examples it has not seen, and writes it to the models folder (FOCUSED_MODELS). TOPIC is a shipped "
            "topic's name or a topic file. With --prioritizer and --paths a prioritizer is taught instead, by labelled "
            "paths (see 'scrapy paths'); the critic must be there by then."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--critic", default="", help="naive-bayes, logistic, lexical, or a dotted path")
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

        parser.add_argument("--prioritizer", default="", metavar="NAME", help="teach this instead of the critic")
        parser.add_argument("--paths", default="", metavar="FILE.jsonl", help="the labelled paths that teach it")
        parser.add_argument(
            "--weights", action="store_true", help="find the prioritizer lexical's weights (with --job)"
        )
        parser.add_argument("--job", default="", metavar="JOBDIR", help="a crawl of this topic that lexical has led")
        parser.add_argument("--by", choices=("order", "replay"), default="order", help="sort one queue, or crawl again")
        parser.add_argument(
            "--precision", type=float, default=0.1, metavar="STEP", help="of the weights (default: 0.1)"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        quieten(self.settings)
        if opts.critic:
            self.settings.set("FOCUSED_CRITIC", opts.critic, priority="cmdline")
        if opts.prioritizer:
            self.settings.set("FOCUSED_PRIORITIZER", opts.prioritizer, priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.critics.models import ModelRefused
        from focused.defaults import read
        from focused.running.loop import Stopped, run_to_end
        from focused.spiders.examples import Interrupted
        from focused.teaching.plan import CannotTeach, ExampleSource, plan_teaching
        from focused.teaching.teach import carry_out
        from focused.topics.identity import slug
        from focused.topics.topic import load_topic

        if len(args) != 1:
            raise UsageError("which topic? Give one: a shipped topic's name or a topic file")
        if opts.weights or opts.job:
            self._teach_weights(args[0], opts)
            return
        if opts.prioritizer or opts.paths:
            self._teach_prioritizer(args[0], opts)
            return
        assert self.settings is not None
        assert self.crawler_process is not None
        source = ExampleSource(examples=opts.examples, focus=opts.focus, hold_out=_pairs(opts.hold_out), web=opts.web)
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
            self._fail(f"{str(error) or 'stopped'}: nothing was written")
        else:
            print(card_to_text(card))
            print(f"written to {read(self.settings, 'FOCUSED_MODELS')}/{slug(plan.topic)}")

    def _teach_prioritizer(self, name: str, opts: argparse.Namespace) -> None:
        from focused.critics.models import ModelRefused
        from focused.papers.paths.reading import read_paths
        from focused.papers.prioritizers.taught import NotTaught
        from focused.papers.teaching.paths import FEW_PATHS, PathTeaching, addresses_of
        from focused.running.loop import Stopped
        from focused.running.progress import step_progress
        from focused.spiders.examples import Interrupted
        from focused.teaching.plan import CannotTeach
        from focused.topics.identity import slug
        from focused.topics.topic import load_topic

        assert self.settings is not None
        if not (opts.prioritizer and opts.paths):
            raise UsageError("a prioritizer is taught by paths: give both --prioritizer NAME and --paths FILE")
        try:
            teaching = PathTeaching.plan(load_topic(name), self.settings)
            paths = read_paths(opts.paths)
        except ValueError as error:
            raise UsageError(str(error), print_help=False) from error
        try:
            fetched = self._pages(addresses_of(paths), opts.web)
            with step_progress(f"teaching {opts.prioritizer}") as progress:
                card = teaching.teach(paths, fetched, {"file": opts.paths, "web": opts.web}, progress)
        except (CannotTeach, NotTaught, ModelRefused, OSError) as error:
            self._fail(str(error))
        except (Interrupted, Stopped, KeyboardInterrupt) as error:
            self._fail(f"{str(error) or 'stopped'}: nothing was written")
        else:
            print(taught_to_text(card))
            if card.paths["paths"] < FEW_PATHS:
                few = f"only {card.paths['paths']} paths with {card.paths['pages']} pages"
                print(f"warning: {few}: the model will hardly generalise; show more, such as 'scrapy paths' draws")
            print(f"written to {teaching.models / slug(teaching.topic)}; crawl with -a prioritizer={opts.prioritizer}")

    def _teach_weights(self, name: str, opts: argparse.Namespace) -> None:
        import sqlite3
        from contextlib import closing

        from focused.defaults import read
        from focused.frontier.records import read_records
        from focused.frontier.store import JobRefused
        from focused.papers.teaching.weights import teach_weights
        from focused.running.progress import step_progress
        from focused.teaching.plan import CannotTeach
        from focused.topics.topic import load_topic

        assert self.settings is not None
        if not (opts.weights and opts.job) or opts.paths or opts.prioritizer not in {"", "lexical"}:
            raise UsageError("the prioritizer lexical's weights are found on a crawl: give --weights and --job JOBDIR")
        try:
            topic, models = load_topic(name), Path(read(self.settings, "FOCUSED_MODELS"))
            how = {"by": opts.by, "precision": opts.precision}
            with closing(read_records(opts.job)) as records, step_progress("trying weights") as progress:
                found = teach_weights(topic, records, models, progress=progress, **how)
        except (CannotTeach, JobRefused, OSError, sqlite3.Error) as error:
            self._fail(str(error))
        except KeyboardInterrupt:
            self._fail("stopped: nothing was written")
        except ValueError as error:
            raise UsageError(str(error), print_help=False) from error
        else:
            print(found.told(topic.name))

    def _pages(self, urls: list[str], web: str) -> Fetched:
        """The pages of a recorded web, or else of the network."""
        from focused.responses import limits_of
        from focused.running.loop import run_to_end
        from focused.spiders.examples import fetch_pages
        from focused.teaching.gathering import pages_of_web

        assert self.settings is not None
        assert self.crawler_process is not None
        if web:
            return pages_of_web(urls, web, limits_of(self.settings))
        with page_progress("pages on the paths") as progress:
            fetching = fetch_pages(urls, self.settings, self.crawler_process, progress)
            fetched = run_to_end(self.crawler_process, fetching)
        # Scrapy's handler waits for a second Ctrl-C; there is no crawl any more that could end in good order.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return fetched

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


def taught_to_text(card: TaughtCard) -> str:
    """The card of a taught prioritizer, for people."""
    lines = [f"topic {card.topic!r}, prioritizer {card.prioritizer!r}"]
    lines.append(f"  paths          {card.paths['paths']}, with {card.paths['pages']} pages")
    lines.append(f"  states         {_counts(card.paths['states'])}")
    if card.paths["unreachable"]:
        lines.append(f"  not to be had  {_counts(card.paths['unreachable'])}")
    lines.append("  " + "  ".join(f"{name} {_figure(value)}" for name, value in card.figures.items()))
    return "\n".join(lines)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and value > 1 else f"{value:.3g}"


def _counts(counts: dict[str, int], most: int = 8) -> str:
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
