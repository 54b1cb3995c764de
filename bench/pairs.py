"""One prioritizer against every other, on the same topic from the same starting pages.

    python -m bench.pairs out/uci out/far out/on --of focused

For each comparison (a folder that was given to scrapy compare as --out; several with the same web and start are taken
together) and each other row: the mean of the difference of shares of `bound`, over the crawls that both made, its
standard error, and on how many topics the one is better, equal and worse. A difference means something when it is well
above its standard error.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import isclose
from pathlib import Path
from statistics import fmean, stdev

from focused.lab.measure import share_of
from focused.lab.plan import Results, read_results

Shares = dict[tuple[str, tuple[str, ...]], float]
"""By topic and starting pages."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR")
    parser.add_argument("--of", default="focused")
    told = parser.parse_args()
    for web, rows in by_web([read_results(folder) for folder in told.folders]).items():
        print(f"\n{told.of} on {web}, mean share {fmean(rows[told.of].values()):.3f} of {len(rows[told.of])} crawls")
        for other in sorted(rows.keys() - {told.of, "bound"}, key=lambda row: -fmean(rows[row].values())):
            print(f"  {other:32} {_line(rows[told.of], rows[other])}")


def by_web(every: Sequence[Results]) -> dict[str, dict[str, Shares]]:
    """Shares of all rows, by web and kind of start."""
    webs: dict[str, dict[str, Shares]] = defaultdict(lambda: defaultdict(dict))
    for results in every:
        name = f"{Path(results.plan.web[0]).name.split('.')[0]} {results.plan.start}"
        for row, key, share in _shares(results):
            webs[name][row][key] = share
    return webs


def _shares(results: Results) -> Iterator[tuple[str, tuple[str, tuple[str, ...]], float]]:
    bounds = {(run.topic, run.start): run.figures for run in results.runs if run.row == "bound"}
    for run in results.runs:
        bound = bounds.get((run.topic, run.start))
        share = share_of(run.figures, bound) if bound else None
        if share is not None and run.start is not None:
            yield run.row, (run.topic, tuple(results.starts[run.topic][run.start])), share


def _line(one: Shares, other: Shares) -> str:
    both = sorted(one.keys() & other.keys())
    if not both:
        return "no crawl in common"
    differences = [one[key] - other[key] for key in both]
    error = stdev(differences) / len(both) ** 0.5 if len(both) > 1 else 0.0
    topics: dict[str, list[float]] = defaultdict(list)
    for (topic, _), difference in zip(both, differences, strict=True):
        topics[topic].append(difference)
    counts = " / ".join(map(str, better_equal_worse([fmean(ones) for ones in topics.values()])))
    return f"{fmean(differences):+.3f} ±{error:.3f} in {len(both)} crawls; topics better / equal / worse: {counts}"


def better_equal_worse(differences: Sequence[float]) -> tuple[int, int, int]:
    """How many differences are above, at and below nothing; the last digits of a sum do not count."""
    equal = [isclose(one, 0, abs_tol=1e-9) for one in differences]
    better = sum(one > 0 and not is_equal for one, is_equal in zip(differences, equal, strict=True))
    return better, sum(equal), len(differences) - better - sum(equal)


if __name__ == "__main__":
    main()
