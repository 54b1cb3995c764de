"""How well, and how fast, the critics judge the pages of a recorded web.

    python -m bench.critics --web WEB.warc.gz --examples EXAMPLES.tsv --topics TOPICS.json

Each critic is taught from the example pages, once per topic, and judges every other page of the web. A topic that
has ``@`` in its name (``course@cornell``) is taught without the examples whose third column says ``cornell``, and
judges only those. Printed are means over the topics: precision, recall and F1 of R ≥ 0.5, average precision of R,
the share of all relevance that went to pages off the topic, and the milliseconds of one verdict.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType
from sklearn.metrics import average_precision_score

from focused.critics.base import RELEVANT, Critic
from focused.lab.entrants import parse_entrant
from focused.options import make
from focused.pages.page import Page, page_from_html
from focused.registry import find

READ_TEXTS = {"lexical"}
COLUMNS = ("precision", "recall", "F1", "AP", "R off", "ms")


def main() -> None:
    options = _options()
    try:
        schools = {spec: _School(spec, options.positives) for spec in options.critics}
    except ValueError as error:
        sys.exit(f"bench.critics: {error}")
    rows = _table(options.examples)
    texts = any(school.kind.name in READ_TEXTS for school in schools.values())
    pages = dict(_pages(options.web, {row["url"] for row in rows}, texts=texts))
    rows = [row for row in rows if row["url"] in pages]
    topics = json.loads(options.topics.read_text())
    chosen = [name for name in topics if not options.topic or name in options.topic]
    print(f"{len(pages)} pages, {len(rows)} examples, {len(chosen)} topics")
    print(f"{'critic':<42}", *(f"{column:>9}" for column in COLUMNS))
    for spec, school in schools.items():
        figures = [_measure(school, pages, rows, name, topics[name]) for name in chosen]
        if options.each:
            for name, row in zip(chosen, figures, strict=True):
                _line(f"  {name}", row)
        _line(spec, np.mean(figures, axis=0))


def _line(name: str, figures: Any) -> None:
    print(f"{name:<42}", *(f"{figure:9.3f}" for figure in figures), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--topics", type=Path, required=True)
    parser.add_argument("--topic", action="append", help="only this topic (may be repeated)")
    parser.add_argument("--each", action="store_true", help="a line for every topic, too")
    parser.add_argument("--positives", action="store_true", help="teach with the wanted classes only")
    parser.add_argument(
        "critics", metavar="CRITIC", nargs="*", default=["naive-bayes", "logistic"], help="NAME or NAME:OPTION=VALUE:…"
    )
    return parser.parse_args()


def _pages(web: Path, examples: set[str], *, texts: bool) -> Iterator[tuple[str, Page]]:
    with web.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            if record.http_headers.status_code == 200:
                url = record.headers["WARC-Target-URI"]
                page = page_from_html(record.reader.read(), url)
                if not texts and url not in examples:  # most critics read only the ids of what is no example
                    page.leaves = []
                yield url, page


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


class _School:
    """A critic's class and options, to be taught anew for each topic."""

    def __init__(self, spec: str, positives: bool) -> None:
        entrant = parse_entrant(spec, "CRITIC")
        self.kind = find("critic", entrant.name)
        self.options = entrant.options
        self.positives = positives
        self.make()

    def make(self) -> Critic:
        """The critic, not taught yet. ValueError names what is wrong with its options."""
        critic: Critic = make(self.kind, self.options, table="critic")
        return critic

    def teach(self, pages: dict[str, Page], rows: list[dict[str, str]], focus: list[str]) -> Critic:
        if self.positives:
            rows = [row for row in rows if any(f"{row['class']}.".startswith(f"{one}.") for one in focus)]
        return self.make().fit([pages[row["url"]] for row in rows], [row["class"] for row in rows], focus)


def _measure(
    taught: _School, pages: dict[str, Page], rows: list[dict[str, str]], name: str, topic: dict[str, Any]
) -> list[float]:
    held_out = name.partition("@")[2]
    learned = [row for row in rows if not held_out or held_out not in row.values()]
    if held_out:
        judged = [row["url"] for row in rows if held_out in row.values()]
    else:
        judged = sorted(pages.keys() - {row["url"] for row in rows})
    critic = taught.teach(pages, learned, topic["focus"])
    targets = set(topic["target_urls"])
    truth = np.array([url in targets for url in judged])
    for url in judged:
        _ = pages[url].bag
    started = time.process_time()
    relevance = np.array([critic.judge(pages[url]).relevance for url in judged])
    spent = (time.process_time() - started) / len(judged) * 1000
    return [*_figures(truth, relevance), spent]


def _figures(truth: Any, relevance: Any) -> list[float]:
    said = relevance >= RELEVANT
    hits = float((truth & said).sum())
    precision, recall = hits / max(said.sum(), 1), hits / max(truth.sum(), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    off = float(relevance[~truth].sum() / max(relevance.sum(), 1e-9))
    return [precision, recall, f1, average_precision_score(truth, relevance), off]


if __name__ == "__main__":
    main()
