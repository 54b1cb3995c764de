"""``scrapy paths TOPIC``: draw labelled paths, for ``scrapy teach --prioritizer``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from focused.papers.paths.path import Path
    from focused.papers.teaching.drawing import Site

_WALKS, _VISITS = "walks", "visits"


class Command(ScrapyCommand):
    """Draw paths from a recorded and labelled web, a crawl's own records, or backlinks."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] TOPIC ... --out PATHS.jsonl"

    def short_desc(self) -> str:
        return "Draw labelled paths to a topic's pages, by which path models are taught"

    def long_desc(self) -> str:
        return (
            "Draw paths from a recorded web (--web) whose pages have labels (--labels), from what a crawl has fetched "
            "and judged (--job, with its archive as --web), or from a file of backlinks. TOPIC is a name of the topics "
            "file, or else a topic as for 'scrapy crawl'; of several, all paths go into one file. See docs/paths.md."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group("Paths").add_argument
        add("--out", metavar="FILE.jsonl", help="where the paths go")
        add("--web", action="append", default=[], metavar="WARC", help="the recorded web (may be repeated)")
        add(
            "--labels",
            default="",
            metavar="TSV",
            help="labels of its pages (default: NAME.labels.tsv beside the web)",
        )
        add("--topics-file", default="", metavar="JSON", help="topics with targets, roots and hosts")
        add("--job", default="", metavar="JOBDIR", help="draw from what this crawl fetched and its critic judged")
        add("--backlinks", default="", metavar="TSV", help="draw from these links (columns source and target)")
        add(
            "--kind",
            choices=(_WALKS, _VISITS),
            default=_WALKS,
            help="walks: random ones towards targets, from some "
            "clicks away (default); visits: from a site's root to each target, and to failures",
        )
        add("--layers", type=int, default=4, metavar="N", help="clicks from a target at which walks begin (default: 4)")
        add("--count", type=int, default=2_000, metavar="N", help="paths a topic, at most (default: 2000)")
        add("--milestones", default="", metavar="A,B", help="labels that are milestones (default: the most frequent)")
        add("--root", action="append", default=[], metavar="URL", help="where visits begin (default: the topic's)")
        add("--seed", type=int, default=0, metavar="N", help="another seed draws other paths")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or not opts.out:
            raise UsageError("name topics, and a file for the paths with --out")
        if bool(opts.backlinks) == bool(opts.web):
            raise UsageError(
                "paths are drawn from a recorded web (--web) or from links (--backlinks): give one of them"
            )
        if opts.count < 1 or opts.layers < 1:
            raise UsageError(f"--count {opts.count}, --layers {opts.layers}: give whole numbers above 0")
        from focused.papers.paths.path import write_paths

        try:
            paths = self._draw(args, opts)
            write_paths(opts.out, paths)
        except (OSError, ValueError) as error:
            raise UsageError(str(error), print_help=False) from error
        except KeyboardInterrupt:
            print("scrapy paths: stopped: nothing was written", file=sys.stderr)
            self.exitcode = 1
            return
        print(_told(paths, opts.out))

    def _draw(self, topics: list[str], opts: argparse.Namespace) -> list[Path]:
        from focused.papers.paths.draw import draw_visits, draw_walks
        from focused.papers.teaching.drawing import field_of_backlinks, wanted_examples

        if opts.backlinks:
            if opts.kind == _VISITS:
                raise ValueError("visits begin at a site's root, and a file of backlinks has none: draw walks")
            fields = [field_of_backlinks(opts.backlinks, wanted_examples(name)) for name in topics]
            return [p for f in fields for p in draw_walks(f, count=opts.count, seed=opts.seed, furthest=opts.layers)]
        paths: list[Path] = []
        for site in self._sites(topics, opts):
            if opts.kind == _VISITS:
                paths += draw_visits(site.field, site.roots, site.label_of, most=opts.count, seed=opts.seed)
            else:
                paths += draw_walks(site.field, count=opts.count, seed=opts.seed, furthest=opts.layers)
        return paths

    def _sites(self, topics: list[str], opts: argparse.Namespace) -> list[Site]:
        from focused.papers.paths.graph import read_graph
        from focused.papers.paths.topics import labels_beside, read_labels
        from focused.papers.teaching.drawing import lab_topics, site_of_job, site_of_web
        from focused.warc.web import Web

        web = Web.open(*opts.web)
        graph = read_graph(web, *opts.web)
        if opts.job:
            return [site_of_job(web, graph, opts.job, opts.root)]
        table = opts.labels or labels_beside(opts.web[0])
        labels = read_labels(table) if table else {}
        milestones = [word.strip() for word in opts.milestones.split(",") if word.strip()]
        found = lab_topics(topics, opts.topics_file, labels, opts.root)
        return [site_of_web(web, graph, topic, labels, milestones) for topic in found]


def _told(paths: list[Path], file: str) -> str:
    ends = Counter(path.end or "elsewhere" for path in paths)
    pages = len({step.url for path in paths for step in path.steps})
    told = ", ".join(f"{count} to {end}" if end != "elsewhere" else f"{count} elsewhere" for end, count in ends.items())
    lengths = sorted(len(path.steps) for path in paths)
    return f"{len(paths)} paths ({told}) of {lengths[0]} to {lengths[-1]} pages, {pages} different ones: {file}"
