"""``scrapy paths TOPIC``: draw labelled paths, for ``scrapy teach --prioritizer``; or import or record browsing."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from focused import registry
from focused.report.text import counted
from focused.running import command

if TYPE_CHECKING:
    from focused.papers.paths.draw import Field
    from focused.papers.paths.path import Path

_WALKS, _VISITS = "walks", "visits"
_IMPORT, _RECORD = "import", "record"


class Command(command.Command):
    """Draw paths from a recorded and labelled web, a crawl's own records, or backlinks; or take them from browsing."""

    requires_project = True
    usage = "[options] TOPIC ... | import FILE.har ... | record TOPIC"
    summary = "Draw labelled paths to the pages of a topic, import or record them; they teach path-based prioritizers"
    details = (
        "Draws paths from a recorded web (--web) whose pages have labels (--labels), from the pages that a crawl "
        "fetched and judged (--job, with its archive as --web), or from a file of backlinks. TOPIC is a name in the "
        "topics file, or else a topic as for 'scrapy crawl'; the paths of several topics go into one file. With "
        "import, paths are made of what a browser has recorded (HAR files): give the files first. With record, you "
        "browse on a page that this command serves, and say there which pages are goals. See docs/paths.md."
    )

    def __init__(self) -> None:
        super().__init__()
        self.recorder: Any = registry.find("recorder", "paths")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group("Paths").add_argument
        add("-o", "--out", metavar="FILE.jsonl", help="file to write the paths to")
        add("--web", action="append", default=[], metavar="WARC", help="the recorded web (may be repeated)")
        labels = "labels of its pages (default: NAME.labels.tsv beside the web)"
        add("--labels", default="", metavar="TSV", help=labels)
        add("--topics-file", default="", metavar="JSON", help="topics with targets, roots and hosts")
        add("--job", default="", metavar="JOBDIR", help="use the pages that this crawl fetched and its critic judged")
        add("--backlinks", default="", metavar="TSV", help="use these links (columns source and target)")
        kinds = (
            "walks: random walks towards targets, beginning some clicks away (default); visits: from the root of a "
            "site to each target, and to failures"
        )
        add("--kind", choices=(_WALKS, _VISITS), default=_WALKS, help=kinds)
        number, layers = command.whole_number(), "clicks between a target and the start of a walk (default: 4)"
        add("--layers", type=number, default=4, metavar="N", help=layers)
        add("--count", type=number, default=2_000, metavar="N", help="paths per topic, at most (default: 2000)")
        milestones = "labels that are milestones (default: the most frequent ones)"
        add("--milestones", type=command.split_words, default=[], metavar="A,B", help=milestones)
        add("--root", action="append", default=[], metavar="URL", help="where visits begin (default: the topic's)")
        add("--seed", type=int, default=0, metavar="N", help="another seed draws other paths (default: 0)")

        add = parser.add_argument_group("Import").add_argument
        add("--topic", default="", metavar="TOPIC", help="the topic that was sought; its wanted examples are goals")
        for name, to, metavar, words in (
            ("--goal", "goal", "URL", "pages that are sought; * stands for any characters"),
            ("--milestone", "milestone", "NAME=URL", "pages on the way that have a name"),
            ("--not", "wrong", "URL", "pages that are not sought"),
        ):
            add(name, dest=to, nargs="+", action="extend", default=[], metavar=metavar, help=words)

        self.recorder.add_options(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if args[:1] == [_IMPORT]:
            self._import(args[1:], opts)
            return
        if args[:1] == [_RECORD]:
            self._record(args[1:], opts)
            return
        if self.recorder.is_wanted(opts):
            raise UsageError("--start and --open are for 'paths record TOPIC'")
        if opts.topic or opts.goal or opts.milestone or opts.wrong:
            raise UsageError("--topic, --goal, --milestone and --not are for 'paths import FILE.har'")
        if not args or not opts.out:
            raise UsageError("name topics, and a file for the paths with --out")
        if bool(opts.backlinks) == bool(opts.web):
            raise UsageError(
                "paths are drawn from a recorded web (--web) or from links (--backlinks): give one of them"
            )
        from focused.papers.paths.path import write_paths

        paths = _draw(args, opts)
        write_paths(opts.out, paths)
        print(_summary(paths, opts.out))

    def _import(self, files: list[str], opts: argparse.Namespace) -> None:
        if not (files and opts.topic and opts.out):
            raise UsageError("give HAR files, the topic with --topic, and a file for the paths with --out")
        from focused.papers.teaching.importing import import_paths

        paths = import_paths(files, opts, self.settings)
        if paths:
            print(_summary(paths, opts.out))
            print(_how_to_teach(opts.topic, opts.out))

    def _record(self, topics: list[str], opts: argparse.Namespace) -> None:
        if len(topics) != 1 or not opts.out or len(opts.web) > 1:
            raise UsageError("give one topic, a file for the paths with --out, and at most one recorded web with --web")
        paths, milestones = self.recorder.record(topics[0], opts, self.settings)
        if not paths:
            print("no path so far: say on the page which ones are goals; the same command goes on")
            return
        print(_summary(paths, opts.out))
        print(f"milestones: {', '.join(milestones) or 'none'}")
        print(_how_to_teach(topics[0], opts.out, "".join(opts.web)))


def _draw(topics: list[str], opts: argparse.Namespace) -> list[Path]:
    from focused.papers.paths.draw import draw_visits, draw_walks

    if opts.backlinks and opts.kind == _VISITS:
        raise ValueError("visits begin at the root of a site, and a file of backlinks has none: draw walks")
    fields = _fields(topics, opts)
    if opts.kind == _VISITS:
        drawn = [draw_visits(field, most=opts.count, seed=opts.seed) for field in fields]
    else:
        drawn = [draw_walks(field, count=opts.count, seed=opts.seed, furthest=opts.layers) for field in fields]
    return [path for paths in drawn for path in paths]


def _fields(topics: list[str], opts: argparse.Namespace) -> list[Field]:
    from focused.papers.paths.graph import read_graph
    from focused.papers.paths.topics import labels_beside, read_labels
    from focused.papers.teaching.drawing import (
        field_of_backlinks,
        field_of_job,
        field_of_web,
        lab_topics,
        targets_of,
    )
    from focused.warc.web import Web

    if opts.backlinks:
        return [field_of_backlinks(opts.backlinks, targets_of(name)) for name in topics]
    web = Web.open(*opts.web)
    graph = read_graph(web, *opts.web)
    if opts.job:
        return [field_of_job(web, graph, opts.job, opts.root)]
    table = opts.labels or labels_beside(opts.web[0])
    labels = read_labels(table) if table else {}
    found = lab_topics(topics, opts.topics_file, labels, opts.root)
    return [field_of_web(web, graph, topic, labels, opts.milestones) for topic in found]


def _how_to_teach(topic: str, out: str, web: str = "") -> str:
    words = ["teach", topic, "--prioritizer", "crf", "--paths", out, *(("--web", web) if web else ())]
    return f"teach a prioritizer with them: {command.program()} {shlex.join(words)}"


def _summary(paths: list[Path], file: str) -> str:
    ends = Counter(f"to {path.end}" if path.end else "elsewhere" for path in paths)
    pages = len({step.url for path in paths for step in path.steps})
    counts = ", ".join(f"{count} {end}" for end, count in ends.items())
    lengths = sorted(len(path.steps) for path in paths)
    steps = f"{lengths[0]} to {lengths[-1]} steps"
    return f"{counted(len(paths), 'path')} ({counts}) of {steps}, over {pages} different pages: {file}"
