"""``scrapy mark JOBDIR|redis://… --yes URL… --no URL…``: say of pages of a crawl whether they are wanted."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.running.command import CrawlCommand, whole_number

if TYPE_CHECKING:
    from focused.frontier.inbox import Mark
    from focused.problems import Problems
    from focused.report.questions import AskedPage
    from focused.report.reader import CrawlReader

_FEW = 20
"""Up to so many marks, there is a line for each."""


class Command(CrawlCommand):
    """Tell a crawl which pages are wanted, whether it runs, rests or has ended."""

    usage = "[options] JOBDIR | redis://HOST:PORT/DB"
    summary = "Say of pages of a crawl whether they are wanted; it learns from that, also while it runs"
    details = (
        "A running crawl takes marks in within two seconds, one that rests when it goes on. The critic learns from "
        "them, and all pages are judged anew. The last mark of a page counts. A page that the crawl does not have yet "
        "is fetched first."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        for name, words in (
            ("--yes", "pages that are wanted"),
            ("--no", "pages that are not wanted"),
            ("--forget", "pages of which nothing is to be said any more"),
        ):
            add(name, nargs="+", action="extend", metavar="URL", default=[], help=words)
        add("--class", dest="class_name", metavar="NAME", default="", help="class of the pages that are marked")
        lines = "marks from a file (- is standard input): in each line yes, no or forget, and an address"
        add("--from", dest="file", metavar="FILE", help=lines)
        add("--list", action="store_true", help="list the marks that count")
        ask = "show the N pages of which it helps most to know whether they are wanted; asks on a terminal"
        add("--ask", type=whole_number(), metavar="N", help=ask)
        add(
            "--json",
            action="store_true",
            help="with --ask: print each page as a JSON object, one per line; ask nothing",
        )
        add("--to", metavar="TOPIC.toml", help="write the marks into the examples of this topic file")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        place = self.place(args)
        marks = self._marks(opts)
        if not (marks or opts.list or opts.ask or opts.to):
            if opts.file:
                print("No marks in that file: nothing was noted")
                return
            raise UsageError("give marks (--yes, --no, --forget, --from), or --list, --ask N or --to TOPIC.toml")
        if opts.json and not opts.ask:
            raise UsageError("--json is for --ask N: give both")
        with self.open([place], opts) as reader:
            if opts.class_name:
                _check_class(reader, opts.class_name)
            if marks:
                _tell(reader, marks)
            if opts.ask:
                self._ask(reader, opts)
            if opts.list:
                _list(reader)
            if opts.to:
                _write(reader, opts.to)

    def _marks(self, opts: argparse.Namespace) -> list[Mark]:
        """All marks that are given; one wrong address, and none is noted."""
        from focused.problems import Problems, ProblemsError
        from focused.report.marks import WORDS

        problems = Problems()
        given = [("", word, url) for word in WORDS for url in getattr(opts, word, ())]
        if opts.file:
            given += _read(opts.file)
        marks = [mark for one in given if (mark := _to_mark(*one, opts.class_name, problems))]
        problems.raise_as(ProblemsError)
        return marks

    def _ask(self, reader: CrawlReader, opts: argparse.Namespace) -> None:
        from focused.report.questions import pages_to_ask_about

        pages = pages_to_ask_about(reader, opts.ask)
        if opts.json:
            for asked in pages:
                print(_to_json(asked))
            return
        if not pages:
            print("No page to ask about: too few are likely to be wanted, or all of them are marked")
        for number, asked in enumerate(pages, 1):
            print(f"{number}. " + "\n   ".join(_describe(asked)))
            if sys.stdin.isatty() and not _answered(reader, asked, opts.class_name):
                break


def _read(file: str) -> Iterator[tuple[str, str, str]]:
    """Where in a file, what, and of which address; empty lines and those that begin with # say nothing."""
    from focused.topics.text import read_text, to_text

    name = "standard input" if file == "-" else file
    text = to_text(sys.stdin.buffer.read(), name) if file == "-" else read_text(file, file)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            word, _, url = line.strip().replace("\t", " ").partition(" ")
            yield f"{name}:{number}", word, url.strip()


def _to_mark(where: str, word: str, url: str, class_name: str, problems: Problems) -> Mark | None:
    from focused.report.marks import make_mark

    try:
        return make_mark(word, url, class_name)
    except ValueError as error:
        problems.add(where or f"--{word}", str(error))
        return None


def _check_class(reader: CrawlReader, name: str) -> None:
    from focused.problems import did_you_mean
    from focused.report.marks import classes_of

    known = classes_of(reader)
    if name not in known:
        there = f" (its classes: {', '.join(known)})" if known else ": its topic has no examples, and so no classes"
        raise ValueError(f"--class {name!r}: no class of this crawl{did_you_mean(name, known)}{there}")


def _tell(reader: CrawlReader, marks: list[Mark]) -> None:
    from focused.frontier.store import Says
    from focused.report.marks import read_marks
    from focused.report.text import counted, short

    # A crawl of another version is refused by that, before anything is noted.
    is_running = reader.is_running()
    before = {url: line.mark.said for url, line in read_marks(reader).items()}
    reader.inbox.append(marks)
    changed = 0
    for mark in marks:
        was = before.get(mark.url, Says.NOTHING)
        if was not in {mark.said, Says.NOTHING} and mark.said is not Says.NOTHING:
            changed += 1
            if changed <= _FEW:
                print(f"{short(mark.url, 300)} was {was}, is {mark.said} now")
        before[mark.url] = mark.said
    if changed > _FEW:
        print(f"… and {changed - _FEW:,} more that were marked otherwise before")
    for mark in marks if len(marks) <= _FEW else ():
        if mark.said in {Says.YES, Says.NO} and (what := _what_is_missing(reader, mark.url)):
            print(f"{short(mark.url, 300)} {what}")
    said = [mark.said for mark in marks]
    named = ((Says.YES, "yes"), (Says.NO, "no"), (Says.UNKNOWN, "unknown"), (Says.NOTHING, "forgotten"))
    words = ", ".join(f"{said.count(one):,} {word}" for one, word in named if one in said)
    when = "The crawl is running and takes them in now" if is_running else "They count when the crawl goes on"
    print(f"{counted(len(marks), 'mark')} noted: {words}. {when}.")


def _what_is_missing(reader: CrawlReader, url: str) -> str:
    """What to know of a page that the crawl does not have."""
    from focused.frontier.store import Outcome, State
    from focused.report.text import OUTCOMES

    link = reader.link_at(url)
    if link is None or link.state == State.WAITING:
        return "was not fetched yet: it is fetched first, and counts when it has come"
    if link.state == State.DONE and link.outcome not in {Outcome.PAGE, Outcome.DUPLICATE, Outcome.REDIRECT}:
        how = OUTCOMES[Outcome(link.outcome).name.lower()]
        return f"has no page ({how}): the mark is kept, and teaches nothing"
    return ""


def _describe(asked: AskedPage) -> Iterator[str]:
    from focused.report.text import short

    page = asked.page
    yield short(page.title or "(no title)", 200)
    yield short(page.url, 500)
    yield f"R {page.relevance:.2f}{f', class {short(page.best_class, 80)}' if page.best_class else ''}"
    if asked.words:
        yield "words: " + ", ".join(short(word, 40) for word in asked.words)


def _to_json(asked: AskedPage) -> str:
    page = asked.page
    what = {"url": page.url, "title": page.title, "relevance": round(page.relevance, 4), "class": page.best_class}
    return json.dumps({**what, "words": asked.words})


def _answered(reader: CrawlReader, asked: AskedPage, class_name: str) -> bool:
    """Ask on the terminal; each answer is noted at once. False if that is enough."""
    from focused.frontier.inbox import Mark
    from focused.frontier.store import Says

    said = {"y": Says.YES, "yes": Says.YES, "n": Says.NO, "no": Says.NO, "u": Says.UNKNOWN, "": Says.UNKNOWN}
    while True:
        try:
            word = input("   wanted? y(es), n(o), u(nknown), q(uit): ").strip().lower()
        except EOFError:
            return False
        if word.startswith("q"):
            return False
        if word in said:
            of_class = class_name if said[word] is not Says.UNKNOWN else ""
            reader.inbox.append([Mark(url=asked.page.url, said=said[word], class_name=of_class)])
            return True


def _list(reader: CrawlReader) -> None:
    from focused.frontier.store import Says
    from focused.report.marks import read_marks
    from focused.report.text import short

    lines = [line for line in read_marks(reader).values() if line.mark.said is not Says.NOTHING]
    for line in lines:
        mark = line.mark
        of_class = f"\t{short(mark.class_name, 80)}" if mark.class_name else ""
        waits = "" if line.is_taken else "\t(not taken in yet)"
        print(f"{mark.said}\t{short(mark.url, 2_000)}{of_class}{waits}")
    if not lines:
        print("No page is marked")


def _write(reader: CrawlReader, file: str) -> None:
    from focused.frontier.store import Says
    from focused.report.marks import read_marks
    from focused.report.text import counted
    from focused.topics.marked import Marked, add_examples

    marks = [line.mark for line in read_marks(reader).values() if line.mark.said in {Says.YES, Says.NO}]
    added = add_examples(file, [Marked(mark.url, mark.said is Says.YES, mark.class_name) for mark in marks])
    changed = f", {counted(added.changed, 'row')} changed" if added.changed else ""
    print(f"{added.table}: {counted(added.added, 'example')} added{changed}, of {counted(len(marks), 'mark')}")
