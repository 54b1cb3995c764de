"""Several comparisons as one table in Markdown: every prioritizer on every web.

    scrapy compare all --web C/wpcd.warc.gz … --start far --starts 3 --fast --out out/wpcd-far
    python -m bench.leaderboard out/wpcd-on out/wpcd-far out/uci-root out/webkb-root

Each comparison has its columns, named after its web and its start. *Share* is what was found at the budgets, as a share
of what `bound` found there; *R-prec.* is the share of targets among the first N pages, N = number of targets; *CPU ms*
is that of the crawling process, a page. All are means over topics, with the standard deviation over the sets of
starting pages where there are several. A second table has the targets found at the budgets. Rows stand in the order of
their mean share, over the comparisons that they took part in; crawls on paper, which know what no crawler can know,
come last. Where crawls are missing, a cell says how many there are: such a mean cannot be compared with the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from focused.lab.plan import MeasuredCrawl, Results, read_results
from focused.lab.present import Column, columns, mean_and_spread, notes, rows_of, to_cell

SHOWN = {"share": ".3f", "R-prec.": ".3f", "CPU ms": ".1f"}


@dataclass(frozen=True)
class Board:
    """One comparison, and what it is called."""

    name: str
    results: Results

    def runs(self, row: str) -> list[MeasuredCrawl]:
        return [run for run in self.results.runs if run.row == row]

    @property
    def wanted(self) -> int:
        """How many crawls a row has when none is missing."""
        return self.results.crawls_wanted(self.results.starts)

    def cell(self, row: str, column: Column, form: str) -> str:
        _, value, _ = column
        runs = self.runs(row)
        mean, spread, _ = mean_and_spread(runs, value)
        if mean is None:
            return ""
        missing = f" ({len(runs)} of {self.wanted})" if len(runs) < self.wanted else ""
        return to_cell(mean, spread, form) + missing

    def figures(self) -> list[Column]:
        """Share, R-precision and CPU."""
        by_name = {column[0]: column for column in columns(self.results)}
        return [by_name[name] for name in SHOWN]

    def budgets(self) -> list[Column]:
        """Targets found at each budget."""
        return [column for column in columns(self.results) if column[0].startswith("at ")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="what was given to scrapy compare as --out")
    try:
        boards = read_boards(parser.parse_args().folders)
    except ValueError as error:
        sys.exit(f"leaderboard: {error}")
    print("\n".join(leaderboard(boards)))


def read_boards(folders: Sequence[str]) -> list[Board]:
    """The comparisons in some folders; two of the same web and start are told apart by their folders."""
    found = [(folder, read_results(folder)) for folder in folders]
    names = [f"{Path(results.plan.web[0]).name.split('.')[0]} {results.plan.start}" for _, results in found]
    return [
        Board(f"{name} ({folder})" if names.count(name) > 1 else name, results)
        for name, (folder, results) in zip(names, found, strict=True)
    ]


def leaderboard(boards: Sequence[Board]) -> Iterable[str]:
    """The lines of the tables, and who could not be taught."""
    rows = order(boards)
    yield from _table(rows, [(board, column, SHOWN[column[0]]) for board in boards for column in board.figures()])
    yield from ("", "Targets found:", "")
    yield from _table(rows, [(board, column, ".1f") for board in boards for column in board.budgets()])
    told = [f"- {board.name}: {note}" for board in boards for note in notes(board.results)]
    if told:
        yield from ("", *told)


def order(boards: Sequence[Board]) -> list[str]:
    """All rows, the best mean share first; crawls on paper after the real ones."""
    names = list(dict.fromkeys(row for board in boards for row in rows_of(board.results)))
    on_paper = {limit for board in boards for limit in board.results.plan.limits}

    def place(row: str) -> tuple[bool, float]:
        shares = [mean_and_spread(board.runs(row), lambda run: run.share)[0] for board in boards]
        known = [share for share in shares if share is not None]
        return row in on_paper, -fmean(known) if known else 0.0

    return sorted(names, key=place)


def _table(rows: Sequence[str], shown: Sequence[tuple[Board, Column, str]]) -> Iterable[str]:
    yield "| | " + " | ".join(f"{board.name}: {column[0]}" for board, column, _ in shown) + " |"
    yield "|---" * (len(shown) + 1) + "|"
    for row in rows:
        yield f"| `{row}` | " + " | ".join(board.cell(row, column, form) for board, column, form in shown) + " |"


if __name__ == "__main__":
    main()
