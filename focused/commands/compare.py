"""``scrapy compare``: prioritizers against each other on a recorded web, and against what could be had."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from focused.lab.plan import Plan


class Command(ScrapyCommand):
    """Real crawls of a recorded web, counted at the server."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "[options] TOPIC ... --web WEB.warc.gz --prioritizers a,b,c"

    def short_desc(self) -> str:
        return "Compare prioritizers by crawling a recorded web (WARC)"

    def long_desc(self) -> str:
        return (
            "Crawl a recorded web for each topic with each prioritizer and compare what was found. TOPIC is a name of "
            "the topics file ('all' for all of them), or else a topic as for 'scrapy crawl'. See docs/compare.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group("Comparison").add_argument
        add("--web", action="append", metavar="WARC", help="the recorded web (may be repeated)")
        add("--topics-file", default="", metavar="JSON", help="topics with targets and starting pages")
        add("--examples", default="", metavar="TSV", help="example pages (url, class) for the critics")
        add("--labels", default="", metavar="TSV", help="labels of the pages (default: NAME.labels.tsv beside the web)")
        add("--start", choices=["on", "far", "root"], help="kind of starting pages in the topics file (default: on)")
        add("--starts", type=int, metavar="K", help="draw K sets of starting pages, give mean and spread")
        add("--prioritizers", default="breadth-first,best-first,focused", metavar="A,B", help="what is compared")
        add("--pages", type=int, default=1000, metavar="N", help="pages a crawl (default: 1000)")
        add("--budgets", default="200,500,1000", metavar="A,B", help="targets are counted after so many pages")
        add("--out", default="out/compare", metavar="DIR", help="results, models and crawls go here")
        add("--critic", default="logistic", metavar="NAME", help="the critic to teach (default: logistic)")
        add(
            "--hold-out",
            default="",
            metavar="COLUMN[=VALUE]",
            help="examples to leave out (default value: after the @)",
        )
        add("--offline", action="store_true", help="also an apprentice trained on a best-first crawl's lessons")
        add("--fast", action="store_true", help="replay inside worker processes, without sockets")
        add(
            "--workers", type=int, default=0, metavar="N", help="worker processes for --fast (default: 0, one per core)"
        )
        add("--concurrency", type=int, default=1, metavar="N", help="requests at a time (default: 1)")
        add("--limits", metavar="A,B", help="rows that show what could be had (default: all; '' for none)")
        add("--paths", default="", metavar="FILE|DIR", help="paths that teach those that must be taught (scrapy paths)")
        add("--paths-web", default="", metavar="WARC[,WARC]", help="where the pages on these paths are recorded")
        add("--gamma", default="", metavar="A,B", help="cosines at which a page counts as like a target")
        add("--similarity", action="store_true", help="also print how like the wanted examples the pages were")
        add("--resume", action="store_true", help="leave out what stands in the results in DIR already")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or not opts.web:
            raise UsageError("name topics, and a recorded web with --web")
        from rich.console import Console

        from focused.lab.compare import Comparison
        from focused.lab.jobs import JobFailed
        from focused.lab.page import write_page
        from focused.lab.present import likeness_table, notes, tables, to_rich
        from focused.topics.problems import Problems, ProblemsError
        from focused.topics.settings import check_ours

        assert self.settings is not None
        console = Console(width=None if os.isatty(1) else 160)
        quiet = Console(stderr=True)
        problems = Problems()
        try:
            check_ours(self.settings, problems)
            problems.raise_as(ProblemsError)
            # Scrapy has taken the command's name out of the arguments.
            command = ["scrapy", "compare", *sys.argv[1:]]
            plan, notify = _plan(args, opts), partial(quiet.print, highlight=False, markup=False)
            results = Comparison(plan, notify, command, resume=opts.resume).run()
        except (OSError, ValueError, JobFailed) as error:
            raise UsageError(str(error), print_help=False) from error
        for table in (*tables(results), likeness_table(results) if opts.similarity else None):
            if table:
                console.print(to_rich(table))
        for note in notes(results):
            console.print(note, style="yellow", highlight=False, markup=False)
        console.print(f"[bold]{write_page(results, Path(opts.out))}[/] (raw figures: {opts.out}/results.json)")


def _plan(args: list[str], opts: argparse.Namespace) -> Plan:
    from focused.lab.bounds import ROWS
    from focused.lab.plan import Plan
    from focused.papers.paths.topics import labels_beside

    _check_numbers(opts)
    _check_files(opts)
    _check_topics_file(opts)
    limits = ROWS if opts.limits is None else tuple(_distinct("--limits", _words(opts.limits)))
    strangers = [name for name in limits if name not in ROWS]
    if strangers:
        raise ValueError(f"--limits: {strangers[0]!r} is not known, there are {', '.join(ROWS)}")
    entrants = _distinct("--prioritizers", _entrants(opts.prioritizers) + ["offline"] * opts.offline)
    return Plan(
        topics=args,
        web=opts.web,
        prioritizers=entrants,
        pages=opts.pages,
        out=opts.out,
        topics_file=opts.topics_file,
        examples=opts.examples,
        labels=opts.labels or labels_beside(opts.web[0]),
        start=opts.start or "on",
        starts=opts.starts or 0,
        hold_out=opts.hold_out,
        critic=opts.critic,
        fast=opts.fast,
        workers=opts.workers,
        concurrency=opts.concurrency,
        budgets=_budgets(opts.budgets, opts.pages),
        gammas=_gammas(opts.gamma),
        limits=limits,
        paths=opts.paths,
        paths_web=_paths_web(opts, entrants),
        settings=dict(one.split("=", 1) for one in opts.set),
    )


def _check_numbers(opts: argparse.Namespace) -> None:
    for name in ("pages", "concurrency", "starts"):
        value = getattr(opts, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name} {value}: give a whole number above 0")
    if opts.workers < 0:
        raise ValueError(f"--workers {opts.workers}: give a whole number above 0, or 0 for one per core")


def _check_files(opts: argparse.Namespace) -> None:
    """Told with the option before anything is read."""
    tables = [("--topics-file", opts.topics_file), ("--examples", opts.examples), ("--labels", opts.labels)]
    for option, name in (*(("--web", web) for web in opts.web), *tables):
        if name and not Path(name).is_file():
            what = "a recorded web (WARC), such as FOCUSED_ARCHIVE or `scrapy demo` writes"
            way_out = what if option == "--web" else "a file that is there"
            raise ValueError(f"{option}: there is no file {name!r}: give {way_out}")


def _check_topics_file(opts: argparse.Namespace) -> None:
    """What chooses among the starting pages or examples of a topics file does nothing to a topic as users write it."""
    for name in ("start", "starts", "hold-out"):
        if getattr(opts, name.replace("-", "_")) and not opts.topics_file:
            raise ValueError(
                f"--{name} is for topics of a topics file: give --topics-file, or leave it out "
                "(a topic without one begins at its own seeds and is taught by all its examples)"
            )


def _entrants(text: str) -> list[str]:
    """Told of a misspelt name or option before anything is read, not when its crawl is due."""
    from focused.lab.entrants import parse_entrant
    from focused.prioritizers import PRIORITIZERS
    from focused.prioritizers.options import build
    from focused.registry import find
    from focused.topics.checks import unknown_name

    texts = _words(text)
    for entrant in map(parse_entrant, texts):
        wrong = "" if entrant.studies else unknown_name(entrant.name, PRIORITIZERS, "prioritizer")
        if wrong:
            raise ValueError(f"--prioritizers: {wrong}")
        options = entrant.table()
        kind = find("prioritizer", options.pop("name"), PRIORITIZERS)
        try:
            build(kind, options)
        except ValueError as error:
            raise ValueError(f"--prioritizers: {entrant.text!r}: {error}") from error
    return texts


def _paths_web(opts: argparse.Namespace, entrants: list[str]) -> list[str]:
    """The web that the paths are in; told of what does not go together before anything is read."""
    from focused.lab.entrants import parse_entrant

    web = _words(opts.paths_web)
    if bool(opts.paths) != bool(web):
        raise ValueError("--paths and --paths-web: give both, the paths and the recorded web (WARC) with their pages")
    for option, name in (("--paths", opts.paths), *(("--paths-web", name) for name in web)):
        if name and not Path(name).exists():
            raise ValueError(f"{option}: there is no {name!r}")
    if opts.paths and not any(parse_entrant(text).kind_of_paths for text in entrants):
        raise ValueError(f"--paths: none of {', '.join(entrants)} is taught by paths: leave it out")
    return web


def _gammas(text: str) -> tuple[float, ...]:
    from focused.lab.likeness import GAMMAS

    try:
        gammas = tuple(float(word) for word in _words(text)) or GAMMAS
    except ValueError:
        gammas = (2.0,)
    if not all(0 < gamma <= 1 for gamma in gammas):
        raise ValueError(f"--gamma: {text!r} are not cosines: give numbers above 0 and up to 1, such as 0.5,0.7")
    return gammas


def _budgets(text: str, pages: int) -> tuple[int, ...]:
    """At the end of a crawl if it is shorter than all of them: without any, no target would be counted."""
    words = _distinct("--budgets", _words(text))
    if not all(word.isdecimal() and int(word) for word in words):
        raise ValueError(f"--budgets {text!r}: give whole numbers above 0, such as 50,100,200")
    budgets = tuple(map(int, words))
    return budgets if not budgets or min(budgets) <= pages else (pages,)


def _distinct(option: str, words: list[str]) -> list[str]:
    """The words; ValueError if one of them is there twice."""
    twice = [word for word, count in Counter(words).items() if count > 1]
    if twice:
        raise ValueError(f"{option}: {twice[0]!r} is there twice: name it once")
    return words


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
