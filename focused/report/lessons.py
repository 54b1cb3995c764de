"""The lessons of a crawl, put together again from its records: what another learner could learn from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from focused.arrays import save_arrays
from focused.prioritizers.base import Lessons
from focused.registry import usable
from focused.report.reader import CrawlReader
from focused.scheduling.starts import untaught_prioritizer


class NothingLearned(ValueError):
    """A crawl from which nothing can be learned; the message says how to come by one."""


def read_lessons(reader: CrawlReader) -> Iterator[Lessons]:
    """The lessons of each page, in the order in which the pages were judged. A duplicate teaches R = 0."""
    table = reader.page_table()
    relevance = dict(zip(table.link.tolist(), table.relevance.tolist(), strict=True))
    for link, is_new in zip(table.link.tolist(), table.is_new.tolist(), strict=True):
        evidence = reader.evidence_of(link)
        if evidence is not None:
            sources = [relevance.get(source, 0.0) for source in evidence.source.tolist()]
            yield Lessons.of_page(evidence, relevance[link] if is_new else 0.0, np.array(sources, np.float32))


def study_lessons(reader: CrawlReader) -> tuple[bytes, int]:
    """What a learner knows that has studied all lessons of a crawl together, and how many there were.

    NothingLearned if the crawl has none, or kept no evidence for such a learner.
    """
    prioritizer = untaught_prioritizer(reader.about())
    if not prioritizer.studies:
        others = [repr(name) for name, kind in usable("prioritizer") if kind.studies]
        raise NothingLearned(
            f"a crawl with the prioritizer {prioritizer.name!r} keeps no evidence that can be studied afterwards; "
            f"crawls with {' and '.join(others)} do"
        )
    lessons = list(read_lessons(reader))
    if not lessons:
        raise NothingLearned("this crawl has no lessons: no link to a page that was fetched has kept its evidence")
    together = Lessons.concat(lessons)
    return save_arrays(prioritizer.studied(together)), len(together)
