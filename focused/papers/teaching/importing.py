"""``scrapy paths import FILE.har… --topic TOPIC``: paths from what a browser has recorded."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence

from scrapy.settings import BaseSettings

from focused.defaults import read
from focused.papers.paths.har import Har
from focused.papers.paths.labels import PageLabels, Rule, label_pages, rules_of, rules_of_file, wrong_with_name
from focused.papers.paths.path import GOAL, Path, PathsError, write_paths
from focused.papers.paths.visited import LONGEST_WAY, NOT, ShownWays, Tour
from focused.papers.teaching.drawing import wanted_examples
from focused.report.text import counted, short
from focused.responses import limits_of
from focused.safety.addresses import AddressPolicy
from focused.topics.settings import apply_settings
from focused.topics.topic import Topic, load_topic

_HOW = """Nothing was written: say which pages are goals, by their addresses (* stands for any characters), such as
  --goal {url} --milestone department='*/cs/' --not '*/news/*'
or with --labels FILE.tsv (columns url and labels), or run this on a terminal to be asked."""


def import_paths(files: Sequence[str], opts: Namespace, settings: BaseSettings) -> list[Path]:
    """The paths of some files, written to ``--out``; none, if it was not said which pages are goals."""
    topic = load_topic(opts.topic, trusted=read(settings, "FOCUSED_TOPICS_TRUSTED"))
    apply_settings(topic, settings)
    rules = rules_of(opts.goal, opts.milestone, opts.wrong)
    of_file = rules_of_file(opts.labels) if opts.labels else []
    tours = [_read(file, settings) for file in files]
    labels = label_pages(tours, rules, all_fit=True)
    _add(labels, label_pages(tours, of_file, all_fit=False))
    _add(labels, label_pages(tours, _wanted(topic), all_fit=False))
    if not (rules or of_file):
        if sys.stdin.isatty():
            _ask(tours, labels)
        elif not any(labels):
            print(*_lines(tours, labels), sep="\n")
            print(_HOW.format(url=shlex.quote(tours[0].pages[-1].url)))
            return []
    ways = ShownWays()
    for tour, ones in zip(tours, labels, strict=True):
        ways.add(tour, ones)
    for url in ways.unreached:
        print(f"no way leads to {short(url, 500)}: it was opened without a link from a page before it", file=sys.stderr)
    if ways.cut:
        long = f"{counted(ways.cut, 'way')} of more than {LONGEST_WAY} steps"
        print(f"{long}: the last {LONGEST_WAY} are kept", file=sys.stderr)
    if not ways.paths:
        raise PathsError(["no path: none of the pages visited leads by links to a page that is labelled"])
    write_paths(opts.out, ways.paths)
    return ways.paths


def _read(file: str, settings: BaseSettings) -> Tour:
    """The pages that a file shows; what was left out is said. ValueError if there are none."""
    refuses = read(settings, "FOCUSED_INNER_ADDRESSES") == "refuse"
    policy = AddressPolicy(read(settings, "FOCUSED_INNER_ALLOWED")) if refuses else None
    har = Har(file, policy, limits_of(settings))
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in har.left_out.most_common())
    if har.is_cut:
        print(f"{file} is cut off: what it holds whole was read", file=sys.stderr)
    if not har.pages:
        raise ValueError(
            f"{file}: no page in it{f' ({left_out})' if left_out else ''}: record the browsing with the Network panel "
            "open and its log preserved, then save it as HAR"
        )
    if left_out:
        print(f"{file}: left out: {left_out}", file=sys.stderr)
    return Tour(har.pages)


def _wanted(topic: Topic) -> list[Rule]:
    """The examples that a topic wants are goals, unless something else is said."""
    urls = wanted_examples(topic) if topic.examples else []
    return [Rule(GOAL, url, "an example of the topic") for url in urls]


def _add(labels: PageLabels, more: PageLabels) -> None:
    for ones, others in zip(labels, more, strict=True):
        for page, label in others.items():
            ones.setdefault(page, label)


def _lines(tours: Sequence[Tour], labels: PageLabels) -> Iterator[str]:
    """The pages, numbered over all files."""
    first = 1
    for tour, ones in zip(tours, labels, strict=True):
        for page in range(len(tour.pages)):
            yield _line(tour, page, first, ones.get(page, ""))
        first += len(tour.pages)


def _line(tour: Tour, page: int, first: int, label: str) -> str:
    visited, before = tour.pages[page], tour.before[page]
    origin = f"  (from {first + before})" if before >= 0 else ""
    title = f"  {short(visited.title, 100)}" if visited.title else ""
    return f"{first + page:4}. {short(visited.url, 500)}{title}{origin}{f'  [{label}]' if label else ''}"


def _ask(tours: Sequence[Tour], labels: PageLabels) -> None:
    """Ask on the terminal what each page is."""
    first = 1
    for tour, ones in zip(tours, labels, strict=True):
        for page in range(len(tour.pages)):
            print(_line(tour, page, first, ones.get(page, "")))
            if not _answered(ones, page):
                return
        first += len(tour.pages)


def _answered(ones: dict[int, str], page: int) -> bool:
    """Ask what one page is. False if that is enough."""
    while True:
        try:
            word, _, name = input("      g(oal), m(ilestone) NAME, n(ot this), s(kip), q(uit): ").strip().partition(" ")
        except EOFError:
            return False
        name = name.strip()
        if word in {"q", "quit"}:
            return False
        if word in {"", "s", "skip"}:
            return True
        if word in {"g", "goal", "n", "not"} and not name:
            ones[page] = GOAL if word[0] == "g" else NOT
            return True
        if word in {"m", "milestone"}:
            mistake = next(iter(wrong_with_name(name)), "")
            if not mistake:
                ones[page] = name
                return True
            print(f"      {mistake}")
