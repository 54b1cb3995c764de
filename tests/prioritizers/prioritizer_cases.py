"""Small pages, verdicts and lessons for tests of prioritizers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from focused.critics.base import Critic, Reason, Verdict
from focused.pages.evidence import Evidence
from focused.pages.page import Page, page_from_html
from focused.pages.tokens import word_to_id
from focused.prioritizers.base import Lessons, Prioritizer

URL = "http://site.example/"


class OneWordCritic(Critic):
    """Finds relevant what holds one word."""

    name = "one-word"

    def __init__(self, word: str = "penguin") -> None:
        self.id = word_to_id(word)

    def fit(self, pages, classes, focus):
        return self

    def judge(self, page):
        return Verdict(float(self.read([page.ids])[0]))

    def read(self, texts):
        return np.array([0.9 if self.id in text else 0.1 for text in texts], np.float32)

    def explain(self, page, most=10):
        return [Reason("penguin", 1.0)]


def page(body: str, url: str = URL) -> Page:
    return page_from_html(f"<body>{body}</body>", url)


def evidence_of(
    prioritizer: Prioritizer,
    body: str,
    relevance: float = 0.5,
    classes: tuple[tuple[str, float], ...] = (),
    fetched: Sequence[float] | None = None,
) -> Evidence:
    """Evidence of all the links of a page."""
    parsed = page(body)
    known = np.full(len(parsed.links), np.nan) if fetched is None else np.array(fetched)
    return prioritizer.evidence(parsed, Verdict(relevance, classes), parsed.links, fetched=known.astype(np.float32))


def lessons_of(evidence: Evidence, relevance: Sequence[float], source: float = 0.5) -> Lessons:
    """One lesson a row, each about a page of its own."""
    n = len(evidence)
    ones = np.ones(n, np.float32)
    return Lessons(evidence, np.array(relevance, np.float32), ones * np.float32(source), ones, np.ones(n, np.bool_))
