"""``python -m focused.lab.demo``: the demonstration, with its figures at the end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from focused.lab.demo.run import DemoCrawl, DemonstrationFailed, prepare
from focused.lab.demo.webs import WEBS
from focused.parts import DEFAULT_PRIORITIZER

BASELINE = "breadth-first"

_CAPTION = """\
{} pages of this web are targets, by its labels. Counted at the server, without robots.txt.
Requests exceed pages because redirects, dead links and files that are not HTML also cost requests.
A crawl itself reports more relevant pages ("found") than targets: it relies on its critic, and counts the
example pages, which are not targets."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; the exit code says whether the default prioritizer was better."""
    options = _parser().parse_args(arguments)
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"A generated web, crawled twice for {options.pages} pages. Files go to {options.out}.")
    crawls = []
    try:
        stage = prepare(options.out, options.web)
        for prioritizer in (BASELINE, DEFAULT_PRIORITIZER):
            console.print(f"\n{prioritizer}:")
            crawls.append(stage.crawl(prioritizer, pages=options.pages))
    except DemonstrationFailed as error:
        print(f"demonstration: {error}", file=sys.stderr)
        return 1
    console.print()
    console.print(_table(crawls))
    console.print(f"Report: {crawls[-1].report}")
    return _verdict(*crawls)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m focused.lab.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder for the web and the crawls")
    parser.add_argument("--web", choices=sorted(WEBS), default="demo", help="which generated web")
    parser.add_argument("--pages", type=int, default=300, help="pages that each crawl may fetch")
    return parser


def _table(crawls: Sequence[DemoCrawl]) -> Table:
    table = Table(caption=_CAPTION.format(len(crawls[0].targets)), caption_justify="left")
    table.add_column("prioritizer")
    for heading in ("pages", "requests", "targets found", "harvest"):
        table.add_column(heading, justify="right")
    for crawl in crawls:
        counts = (crawl.pages, crawl.requests, crawl.found)
        table.add_row(crawl.prioritizer, *map(str, counts), f"{crawl.harvest:.2f}")
    return table


def _verdict(baseline: DemoCrawl, ours: DemoCrawl) -> int:
    if ours.found > baseline.found and ours.report.exists():
        return 0
    print(
        f"demonstration: {ours.prioritizer} should find more than {baseline.found} targets (found {ours.found}) "
        f"and leave a report",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
