"""The sketch of a crawl that defaults are chosen with learns as a real one does."""

from __future__ import annotations

import numpy as np
import pytest

from bench.simulate import Crawl, Task, Web
from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.pages.page import page_from_html
from focused.prioritizers.base import LATE_WEIGHT, Lessons, Prioritizer

PAGES = 30


class Noting(Prioritizer):
    """Writes down what it is to learn."""

    name = "noting"
    learns = True
    learns_every = 1
    late_lessons = 2

    def __init__(self):
        super().__init__()
        self.batches: list[Lessons] = []

    def evidence(self, page, verdict, links, **known):
        return Evidence.of(np.zeros(len(links) + 1, np.int64), np.zeros(0, np.uint32), np.zeros((len(links), 0)))

    def score(self, evidence):
        return np.full(len(evidence), 0.5, np.float32)

    def learn(self, lessons):
        self.batches.append(lessons)


def crawled() -> Noting:
    """Has led a crawl of pages that each have a link to the next, and one to the first."""
    urls = [f"http://h.example/{number}" for number in range(PAGES)]
    pages = {
        url: page_from_html(f"<a href=/{number + 1}>on</a><a href=/0>home</a>", url) for number, url in enumerate(urls)
    }
    verdicts = {url: Verdict(0.5) for url in urls}
    prioritizer = Noting()
    Crawl(Web("web", pages, {}), Task("task", urls[:1], set(), None, verdicts, set()), prioritizer).run(PAGES)
    return prioritizer


def test_it_learns_when_a_crawl_would_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focused.prioritizers.trainer._SHARE", 10)
    # No link led to the first page. After each of the next 18, then, up to the 29th, after two, a tenth of all so far.
    assert len(crawled().batches) == 18 + 5


def test_late_lessons_are_as_many_and_weigh_as_much_as_in_a_crawl() -> None:
    weights = np.concatenate([batch.weight for batch in crawled().batches]).tolist()
    assert sorted(set(weights)) == [LATE_WEIGHT, 1.0]
    assert weights.count(LATE_WEIGHT) == Noting.late_lessons
