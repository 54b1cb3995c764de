"""The weights a, b, c with which the prioritizer `lexical` adds up its levels, found on a crawl that is over.

After Greenwood's thesis, §3.2.5 and figure 3.2: all combinations at a precision are tried, and the one whose order of
the links that the crawl followed has the lowest order score wins. The thesis sorts one fixed queue of all links
(``by="order"``), finds that this does worse than the product, and proposes to hand the links out page by page, as a
crawl does (§5.2.5): that is ``by="replay"``.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from focused.papers.prioritizers.lexical import Lexical
from focused.papers.prioritizers.taught import FiguresByName, TaughtCard, TeachingProgress, save_taught
from focused.papers.teaching.crawled import Crawled, Floats, read_crawled
from focused.scheduling.starts import read_about
from focused.teaching.plan import CannotTeach
from focused.topics.identity import slug
from focused.topics.topic import Topic

WEIGHTS = ("a", "b", "c")
"""Of context, content and page."""
_FINEST = 0.005


def teach_weights(
    topic: Topic,
    connection: sqlite3.Connection,
    models: Path,
    *,
    by: str = "order",
    precision: float = 0.1,
    progress: TeachingProgress = lambda *_: None,
) -> TaughtCard:
    """Find the weights on a job of the topic, and write them where its next crawl finds them."""
    of = read_about(connection)["topic"]["name"]
    if of != topic.name:
        raise CannotTeach(f"this job is one of topic {of!r}, not {topic.name!r}: name a job of the same topic")
    figures = find_weights(read_crawled(connection), by=by, precision=precision, progress=progress)
    prioritizer = Lexical(combination="linear")
    prioritizer.restore({"weights": np.array([figures[name] for name in WEIGHTS])})
    card = TaughtCard(
        topic=topic.name,
        prioritizer=prioritizer.name,
        options={"by": by, "precision": precision},
        figures=figures,
    )
    save_taught(models / slug(topic), prioritizer, card)
    return card


def find_weights(
    crawled: Crawled, *, by: str = "order", precision: float = 0.1, progress: TeachingProgress = lambda *_: None
) -> FiguresByName:
    """The combination with the lowest order score, of equal ones the most even; and order scores (low is good)."""
    tried = combinations(precision)
    put_in_order = crawled.by_queue if by == "order" else crawled.by_replay
    fitness = []
    for number, weights in enumerate(tried):
        fitness.append(crawled.order_score(put_in_order(-(crawled.places @ weights))))
        progress(number + 1, len(tried))
    best = min(range(len(tried)), key=lambda i: (fitness[i], float(np.square(tried[i]).sum())))
    return {
        **dict(zip(WEIGHTS, tried[best].tolist(), strict=True)),
        "order score": fitness[best],
        "even weights": crawled.order_score(put_in_order(-crawled.places.sum(axis=1))),
        "product": crawled.order_score(put_in_order(-np.log(crawled.places).sum(axis=1))),
        "as crawled": crawled.order_score(np.arange(len(crawled.level))),
        "links": float(len(crawled.places)),
    }


def combinations(precision: float) -> list[Floats]:
    """All a, b, c in steps of the precision that sum to 1, a and b above 0. CannotTeach if it is no such step."""
    steps = round(1 / precision) if _FINEST <= precision <= 0.5 else 0
    if not steps or abs(steps * precision - 1) > 1e-9:
        raise CannotTeach(f"precision {precision!r}: give a step from {_FINEST} to 0.5 that divides 1, such as 0.1")
    whole = [(a, b, steps - a - b) for a in range(1, steps) for b in range(1, steps - a + 1)]
    return [np.array(weights) / steps for weights in whole]
