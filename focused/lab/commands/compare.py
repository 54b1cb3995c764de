"""``scrapy compare``: prioritizers against each other on a recorded web, and against what could be had."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.running import command
from focused.running.command import split_words, whole_number

if TYPE_CHECKING:
    from focused.lab.plan import Plan

_NO_WEB = "give a recorded web (WARC), such as FOCUSED_ARCHIVE or `scrapy demo` writes"
_ONLY_TOPICS_FILE = (
    "is for topics of a topics file: give --topics-file, or leave it out (a topic without one begins at its own seeds "
    "and is taught by all its examples)"
)


class Command(command.Command):
    """Real crawls of a recorded web, counted at the server."""

    requires_project = True
    usage = "[options] TOPIC ... --web WEB.warc.gz --prioritizers a,b,c"
    summary = "Compare prioritizers by crawling a recorded web (WARC)"
    details = (
        "Crawls a recorded web for each topic with each prioritizer, and compares what was found. TOPIC is a name in "
        "the topics file ('all' for all of them), or else a topic as for 'scrapy crawl'. See docs/compare.md."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group("Comparison").add_argument
        number = whole_number()
        add("--web", action="append", default=[], metavar="WARC", help="the recorded web (may be repeated)")
        add("--topics-file", default="", metavar="JSON", help="topics with targets and starting pages")
        add("--examples", default="", metavar="TSV", help="example pages (url, class) that teach the critics")
        add("--labels", default="", metavar="TSV", help="labels of the pages (default: NAME.labels.tsv beside the web)")
        add("--start", choices=["on", "far", "root"], help="kind of starting pages in the topics file (default: on)")
        add("--starts", type=number, metavar="K", help="draw K sets of starting pages; report mean and spread")
        entrants = "prioritizers to compare, with options as NAME:option=value (default: %(default)s)"
        add("--prioritizers", default="breadth-first,best-first,focused", metavar="A,B", help=entrants)
        add("--offline", action="store_true", help="add an apprentice trained on the lessons of a best-first crawl")
        add("--pages", type=number, default=1000, metavar="N", help="pages per crawl (default: 1000)")
        budgets = "numbers of pages after which targets are counted (default: %(default)s)"
        add("--budgets", default="200,500,1000", metavar="A,B", help=budgets)
        add("--limits", metavar="A,B", help="upper bounds to show as rows (default: all; '' for none)")
        given = "what teaches the critic: title, words, pages:K, others:M, joined by +; or all (default: all examples)"
        add("--given", default="", metavar="WHAT", help=given)
        answers = "let the labels play the teacher, who is asked about N pages while the crawl runs (default: nobody)"
        add("--answers", type=whole_number(0), default=0, metavar="N", help=answers)
        draws = "draw the pages of --given K times; report mean and spread (default: 1)"
        add("--draws", type=number, metavar="K", help=draws)
        add("--critic", default="", metavar="NAME", help="the critic (default: the one that a crawl would choose)")
        hold_out = "leave these examples out (without VALUE: what follows the @ in the topic's name)"
        add("--hold-out", default="", metavar="COLUMN[=VALUE]", help=hold_out)
        paths = "paths that teach path-based prioritizers (see scrapy paths)"
        add("--paths", default="", metavar="FILE|DIR", help=paths)
        paths_web = "recorded web with the pages on these paths"
        add("--paths-web", type=split_words, default=[], metavar="WARC[,WARC]", help=paths_web)
        add("--similarity", action="store_true", help="also print how similar the pages are to the wanted examples")
        gamma = "cosines from which a page counts as similar (default: 0.2,0.3,0.5,0.6,0.7,0.8)"
        add("--gamma", default="", metavar="A,B", help=gamma)
        calibration = "also print for each topic how well the critic's verdicts are calibrated"
        add("--calibration", action="store_true", help=calibration)
        add("--out", default="out/compare", metavar="DIR", help="folder for results, models and crawls")
        add("--resume", action="store_true", help="skip the crawls that are in the results in DIR already")
        add("--fast", action="store_true", help="replay inside worker processes, without sockets")
        workers = "worker processes for --fast (default: 0, one per core)"
        add("--workers", type=whole_number(0), default=0, metavar="N", help=workers)
        add("--concurrency", type=number, default=1, metavar="N", help="concurrent requests per crawl (default: 1)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or not opts.web:
            raise UsageError("give one or more topics, and a recorded web (--web WEB.warc.gz)")
        from rich.console import Console

        from focused.lab.calibration_table import calibration_table, topic_calibration_tables
        from focused.lab.compare import Comparison
        from focused.lab.jobs import JobFailed
        from focused.lab.page import write_page
        from focused.lab.present import likeness_table, notes, request_table, tables, to_rich
        from focused.problems import Problems, ProblemsError
        from focused.topics.settings import check_settings

        console = Console(width=None if os.isatty(1) else 160)
        notify = partial(Console(stderr=True).print, highlight=False, markup=False)
        problems = Problems()
        check_settings(self.settings, problems)
        problems.raise_as(ProblemsError)
        # Scrapy has taken the command's name out of the arguments.
        words = ["scrapy", "compare", *sys.argv[1:]]
        try:
            results = Comparison(_plan(args, opts), notify, words, resume=opts.resume).run()
        except JobFailed as error:
            raise UsageError(str(error), print_help=False) from error
        shown = [*tables(results), request_table(results), likeness_table(results) if opts.similarity else None]
        shown.append(calibration_table(results))
        for table in [*shown, *(topic_calibration_tables(results) if opts.calibration else ())]:
            if table:
                console.print(to_rich(table))
        for note in notes(results):
            console.print(note, style="yellow", highlight=False, markup=False)
        console.print(f"[bold]{write_page(results, Path(opts.out))}[/] (raw figures: {opts.out}/results.json)")


def _plan(args: list[str], opts: argparse.Namespace) -> Plan:
    """The plan that the options describe; mistakes are reported before anything is read."""
    from focused.lab.bounds import ROWS
    from focused.lab.given import parse_given
    from focused.lab.plan import Plan
    from focused.papers.paths.topics import labels_beside

    _check_files(opts)
    for name in ("start", "starts", "hold_out", "given"):
        if getattr(opts, name) and not opts.topics_file:
            raise ValueError(f"--{name.replace('_', '-')} {_ONLY_TOPICS_FILE}")
    if not parse_given(opts.given).pages and opts.draws:
        raise ValueError(f"--draws {opts.draws}: no pages are drawn: give some with --given pages:K, or leave it out")
    limits = ROWS if opts.limits is None else tuple(_distinct("--limits", opts.limits))
    strangers = [name for name in limits if name not in ROWS]
    if strangers:
        raise ValueError(f"--limits: {strangers[0]!r} is not known; the rows are {', '.join(ROWS)}")
    as_given = {name: getattr(opts, name) for name in Plan.__struct_fields__ if hasattr(opts, name)}
    own = {
        "topics": args,
        "prioritizers": _entrants(opts),
        "labels": opts.labels or labels_beside(opts.web[0]),
        "start": opts.start or "on",
        "starts": opts.starts or 0,
        "draws": opts.draws or 1,
        "budgets": _budgets(opts.budgets, opts.pages),
        "gammas": _gammas(opts.gamma),
        "limits": limits,
        "settings": dict(one.split("=", 1) for one in opts.set),
    }
    return Plan(**(as_given | own))


def _check_files(opts: argparse.Namespace) -> None:
    tables = [("--topics-file", opts.topics_file), ("--examples", opts.examples), ("--labels", opts.labels)]
    for option, name in (*(("--web", web) for web in opts.web), *tables):
        if name and not Path(name).is_file():
            way_out = _NO_WEB if option == "--web" else "give a file that is there"
            raise ValueError(f"{option}: there is no file {name!r}: {way_out}")
    if bool(opts.paths) != bool(opts.paths_web):
        raise ValueError("--paths and --paths-web: give both, the paths and the recorded web (WARC) with their pages")
    for option, name in (("--paths", opts.paths), *(("--paths-web", name) for name in opts.paths_web)):
        if name and not Path(name).exists():
            raise ValueError(f"{option}: there is no {name!r}")


def _entrants(opts: argparse.Namespace) -> list[str]:
    """A misspelt name or option is reported here, not when its crawl is due."""
    from focused.lab.entrants import parse_entrant
    from focused.prioritizers.options import build

    texts = split_words(opts.prioritizers)
    for entrant in map(parse_entrant, texts):
        try:
            build(entrant.kind, entrant.options)
        except ValueError as error:
            raise ValueError(f"--prioritizers: {entrant.text!r}: {error}") from error
    if opts.paths and not any(parse_entrant(text).kind_of_paths for text in texts):
        raise ValueError(f"--paths: none of {', '.join(texts)} is taught by paths: leave it out")
    return _distinct("--prioritizers", ",".join(texts + ["offline"] * opts.offline))


def _gammas(text: str) -> tuple[float, ...]:
    from focused.lab.likeness import GAMMAS

    try:
        gammas = tuple(float(word) for word in split_words(text)) or GAMMAS
    except ValueError:
        gammas = (2.0,)
    if not all(0 < gamma <= 1 for gamma in gammas):
        raise ValueError(f"--gamma: {text!r} are not cosines: give numbers above 0 and up to 1, such as 0.5,0.7")
    return gammas


def _budgets(text: str, pages: int) -> tuple[int, ...]:
    """The length of a crawl if all budgets are longer: without any budget no target would be counted."""
    words = _distinct("--budgets", text)
    if not all(word.isdecimal() and int(word) for word in words):
        raise ValueError(f"--budgets {text!r}: give whole numbers above 0, such as 50,100,200")
    budgets = tuple(map(int, words))
    return budgets if not budgets or min(budgets) <= pages else (pages,)


def _distinct(option: str, text: str) -> list[str]:
    """The words of an option; ValueError if one is given twice."""
    words = split_words(text)
    twice = [word for word, count in Counter(words).items() if count > 1]
    if twice:
        raise ValueError(f"{option}: {twice[0]!r} is given twice; name it once")
    return words
