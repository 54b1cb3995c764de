"""What a table of word vectors costs: to read, to keep, and for each page.

    python -m bench.vectors TABLE --web WEB.warc.gz --words "space, astronomy"

TABLE is what FOCUSED_VECTORS takes. Printed are the seconds and the peak of memory while the table is read, what stays
of it, and the milliseconds of a verdict of the critic `combined` without it and with it, on pages of a recorded web.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from itertools import islice

from focused.critics.combined import CombinedCritic
from focused.critics.near import near_words
from focused.pages.page import Page
from focused.papers.paths.graph import read_page
from focused.warc.web import Web

PAGES = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--web", required=True)
    parser.add_argument("--words", required=True)
    options = parser.parse_args()
    plain, helped = (CombinedCritic(keywords=options.words.split(",")) for _ in range(2))
    before, started = _peak(), time.process_time()
    helped.use_vectors(options.table)
    spent, peak = time.process_time() - started, _peak() - before
    near = near_words(options.table, helped._phrases, helped.language.codes)
    assert near is not None
    print(f"read in {spent:.1f} s, {peak:.0f} MB more at most; kept: {len(pickle.dumps(near)) / 1e3:.0f} KB")
    print(f"{len(near.ids)} words are near {options.words!r}")
    web = Web.open(options.web)
    pages = [read_page(web, row) for row in islice(web.pages(), PAGES)]
    print(f"{len(pages)} pages, ms a verdict: {_ms(plain, pages):.3f} without, {_ms(helped, pages):.3f} with")


def _ms(critic: CombinedCritic, pages: list[Page]) -> float:
    for page in pages:
        _ = page.bag
    started = time.process_time()
    for page in pages:
        critic.judge(page)
    return (time.process_time() - started) / len(pages) * 1000


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
