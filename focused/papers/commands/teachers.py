"""What this wing adds to ``scrapy teach``: prioritizers taught by paths, and the weights of `lexical`."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.commands.teach import counts_to_text
from focused.running.progress import step_progress

if TYPE_CHECKING:
    from focused.papers.prioritizers.taught import TaughtCard
    from focused.teaching.command import PagesCommand


class PathTeacher:
    """``scrapy teach TOPIC --prioritizer NAME --paths FILE``."""

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--prioritizer", default="", metavar="NAME", help="teach this prioritizer instead of the critic")
        add("--paths", default="", metavar="FILE.jsonl", help="the labelled paths that teach it")

    @staticmethod
    def is_wanted(opts: argparse.Namespace) -> bool:
        return bool(opts.prioritizer or opts.paths)

    @staticmethod
    def teach(command: PagesCommand, name: str, opts: argparse.Namespace) -> None:
        """Fetch the pages on the paths, teach, write the models folder."""
        from focused.critics.models import ModelRefused
        from focused.defaults import read
        from focused.papers.paths.reading import read_paths
        from focused.papers.prioritizers.taught import NotTaught
        from focused.papers.teaching.paths import FEW_PATHS, PathTeaching, addresses_of
        from focused.papers.teaching.shown import shown_to_text
        from focused.teaching.plan import CannotTeach
        from focused.topics.topic import load_topic

        if not (opts.prioritizer and opts.paths):
            raise UsageError("a prioritizer is taught by paths: give both --prioritizer NAME and --paths FILE")
        command.settings.set("FOCUSED_PRIORITIZER", opts.prioritizer, priority="cmdline")
        teaching = PathTeaching.plan(
            load_topic(name, trusted=read(command.settings, "FOCUSED_TOPICS_TRUSTED")), command.settings
        )
        paths = read_paths(opts.paths)
        try:
            fetched = command.fetch(addresses_of(paths), command.settings, web=opts.web, what="pages on the paths")
            with step_progress(f"teaching {opts.prioritizer}") as progress:
                card = teaching.teach(paths, fetched, {"file": opts.paths, "web": opts.web}, progress)
        except (CannotTeach, NotTaught, ModelRefused, OSError) as error:
            command.fail(str(error))
            return
        print(taught_to_text(card))
        if card.paths["paths"] < FEW_PATHS:
            few = f"only {card.paths['paths']} paths with {card.paths['pages']} pages"
            print(f"warning: {few}: the model will hardly generalise; show more, such as 'scrapy paths' draws")
        if teaching.is_shown:
            shown = shown_to_text(card.figures)
            print(f"{shown}: written to {teaching.file}; crawl with -a {quote(f'learned={teaching.file}')}")
        else:
            print(f"written to {teaching.file.parent}; crawl with -a prioritizer={opts.prioritizer}")


class WeightsTeacher:
    """``scrapy teach TOPIC --weights --job JOBDIR``."""

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--weights", action="store_true", help="find weights for the prioritizer lexical (needs --job)")
        add("--job", default="", metavar="JOBDIR", help="a crawl of this topic by the prioritizer lexical")
        by = "how each combination is tried: sort one queue, or replay the crawl (default: order)"
        add("--by", choices=("order", "replay"), default="order", help=by)
        add("--precision", type=float, default=0.1, metavar="STEP", help="step of the weights (default: 0.1)")

    @staticmethod
    def is_wanted(opts: argparse.Namespace) -> bool:
        return bool(opts.weights or opts.job)

    @staticmethod
    def teach(command: PagesCommand, name: str, opts: argparse.Namespace) -> None:
        """Try all weights on a crawl that is over, and write the best."""
        import sqlite3
        from contextlib import closing

        from focused.defaults import read
        from focused.frontier.records import read_records
        from focused.frontier.store import JobRefused
        from focused.papers.teaching.weights import teach_weights
        from focused.teaching.plan import CannotTeach
        from focused.topics.topic import load_topic

        if not (opts.weights and opts.job) or opts.paths or opts.prioritizer not in {"", "lexical"}:
            raise UsageError("the prioritizer lexical's weights are found on a crawl: give --weights and --job JOBDIR")
        topic = load_topic(name, trusted=read(command.settings, "FOCUSED_TOPICS_TRUSTED"))
        models = Path(read(command.settings, "FOCUSED_MODELS"))
        how = {"by": opts.by, "precision": opts.precision}
        try:
            with closing(read_records(opts.job)) as records, step_progress("trying weights") as progress:
                found = teach_weights(topic, records, models, progress=progress, **how)
        except (CannotTeach, JobRefused, OSError, sqlite3.Error) as error:
            command.fail(str(error))
        else:
            print(weights_to_text(found))


def taught_to_text(card: TaughtCard) -> str:
    """The card of a taught prioritizer, for people."""
    lines = [f"topic {card.topic!r}, prioritizer {card.prioritizer!r}"]
    lines.append(f"  paths          {card.paths['paths']}, with {card.paths['pages']} pages")
    lines.append(f"  states         {counts_to_text(card.paths['states'])}")
    if card.paths["unreachable"]:
        lines.append(f"  not fetched    {counts_to_text(card.paths['unreachable'])}")
    lines.append("  " + "  ".join(f"{name} {_figure(value)}" for name, value in card.figures.items()))
    return "\n".join(lines)


def weights_to_text(card: TaughtCard) -> str:
    """The weights that were found, for people."""
    a, b, c, *_ = card.figures.values()
    figures = "  ".join(f"{name} {value:.4g}" for name, value in list(card.figures.items())[3:])
    return (
        f"topic {card.topic!r}, weights by {card.options['by']}: a = {a:g} (context)  b = {b:g} (content)  "
        f"c = {c:g} (page)\n  {figures}\n"
        f"used by the prioritizer 'lexical' with combination = \"linear\" in [prioritizer], without a, b and c"
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and value > 1 else f"{value:.3g}"
