"""How well a CRF tells pages on paths of sites that it has not seen.

    scrapy paths course@texas course@washington --kind visits --topics-file C/webkb.topics.json --web C/webkb.warc.gz \\
        --labels C/webkb.examples.tsv --out taught.jsonl
    scrapy paths course@cornell … --out tested.jsonl
    python -m bench.crf C/webkb.warc.gz taught.jsonl tested.jsonl [reward=paths sinks=true …]

Prints precision and recall of goal pages, the means of both over all states that occur, and the share of pages in their
right state. Pages are labelled one after another, as in a crawl: what comes later on the path is not known.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator

from focused.critics.base import Verdict
from focused.pages.page import PageLimits
from focused.papers.paths.path import GOAL
from focused.papers.paths.reading import read_paths
from focused.papers.paths.stops import Stops
from focused.papers.prioritizers.crf import Crf
from focused.papers.teaching.paths import addresses_of, stops_of
from focused.teaching.gathering import pages_of_web
from focused.warc.web import Web

NOTHING_JUDGED = Verdict(0.0)


def stops(web: Web, file: str) -> list[Stops]:
    """The paths of a file, with their pages."""
    paths = read_paths(file)
    return stops_of(paths, pages_of_web(addresses_of(paths), web, PageLimits()))


def told(crf: Crf, path: Stops) -> Iterator[tuple[str, str]]:
    """The state of each page on a path, and what the CRF says, in the order of fetching."""
    arrived_by = None
    for stop in path:
        yield stop.state, crf.state_of(stop.page, arrived_by)
        if stop.link < 0:
            return
        arrived_by = crf.evidence(stop.page, NOTHING_JUDGED, stop.page.links.select([stop.link]), arrived_by=arrived_by)


def share(part: int, whole: int) -> float:
    """A share, of nothing 0."""
    return part / whole if whole else 0.0


def main() -> None:
    """Teach, test, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web")
    parser.add_argument("taught")
    parser.add_argument("tested")
    parser.add_argument("options", nargs="*", metavar="OPTION=VALUE")
    args = parser.parse_args()
    web = Web.open(args.web)
    options = dict(text.split("=", 1) for text in args.options)
    crf = Crf(**{name: json.loads(v) if v[:1] in "tf0123456789[" else v for name, v in options.items()})
    crf.teach(stops(web, args.taught))
    pairs = Counter(pair for path in stops(web, args.tested) for pair in told(crf, path))
    true, said = Counter[str](), Counter[str]()
    for (truth, word), count in pairs.items():
        true[truth] += count
        said[word] += count
    precision = {state: share(pairs[state, state], said[state]) for state in said}
    recall = {state: share(pairs[state, state], true[state]) for state in true}
    right = sum(count for (truth, word), count in pairs.items() if truth == word)
    print(
        f"goal pages   precision {precision.get(GOAL, 0):.3f}  recall {recall.get(GOAL, 0):.3f}  ({true[GOAL]} pages)"
    )
    print(
        f"all states   precision {sum(precision.values()) / len(precision):.3f}  "
        f"recall {sum(recall.values()) / len(recall):.3f}  right {share(right, true.total()):.3f}  ({len(true)} states)"
    )


if __name__ == "__main__":
    main()
