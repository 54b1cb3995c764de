"""The default prioritizer learns from shown ways: each of their links is a lesson, worth what it leads to.

A link (*u*, *v*) on a way to a goal is worth `GAMMA` to the power of the clicks from *v* to the nearest goal; one that
is only on ways that failed is worth nothing. The links to one page weigh as much together as the lessons of any page of
a crawl. Which links are dead, and where pages were seen, is not learned: ways show living pages alone.

It does not help so far, and so a crawl begins with it only if it is told so: docs/paths.md has the figures.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from copy import copy

import numpy as np

from focused.pages.evidence import Evidence
from focused.papers.paths.path import FAIL, GOAL, Path
from focused.papers.paths.stops import Stop, Stops
from focused.papers.prioritizers.taught import FiguresByName, NotTaught, TeachingProgress
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused
from focused.report.text import counted
from focused.visits.visits import judge

GAMMA = 0.5
STEPS, WAYS = "steps", "ways"
"""Figures of the card: how many links have taught, on how many paths."""


def learn_ways(
    prioritizer: Focused, paths: Sequence[Path], ways: Sequence[Stops], progress: TeachingProgress
) -> tuple[Focused, FiguresByName]:
    """A prioritizer that has learned the links of some paths, whose pages are at hand; and figures.

    They are learned a page at a time, as in a crawl, but in random order.
    """
    lessons = lessons_of_ways(prioritizer, paths, ways)
    if not lessons:
        raise NotTaught("no page on the paths has the link that leads to the next one")
    learned = copy(prioritizer)
    for done, one in enumerate(random.Random(prioritizer.seed).sample(lessons, len(lessons)), 1):
        learned.learner = learned.learner.learn(one)
        progress(done, len(lessons))
    shown = sum(any(stop.link >= 0 for stop in way) for way in ways)
    return learned, {STEPS: float(sum(map(len, lessons))), WAYS: float(shown)}


def shown_to_text(figures: FiguresByName) -> str:
    """What has taught a prioritizer: 31 steps of 14 ways shown."""
    return f"{counted(int(figures[STEPS]), 'step')} of {counted(int(figures[WAYS]), 'way')} shown"


def lessons_of_ways(prioritizer: Focused, paths: Sequence[Path], ways: Sequence[Stops]) -> list[Lessons]:
    """The lessons of some paths, those of one page *v* together."""
    leading = {step.url for path in paths if path.end == GOAL for step in path.steps}
    failing = {step.url for path in paths if path.end == FAIL for step in path.steps} - leading
    links: dict[str, dict[tuple[str, int], Stop]] = {}
    worth: dict[str, float] = {}
    for path, way in zip(paths, ways, strict=True):
        for step, stop, after in zip(path.steps[1:], way, way[1:], strict=False):
            if stop.link >= 0:
                links.setdefault(after.page.url, {})[stop.page.url, stop.link] = stop
                here = 0.0 if step.url in failing else GAMMA**after.layer
                worth[after.page.url] = max(here, worth.get(after.page.url, 0.0))
    return [_lessons(prioritizer, list(ones.values()), worth[url]) for url, ones in links.items()]


def _lessons(prioritizer: Focused, links: Sequence[Stop], worth: float) -> Lessons:
    assert prioritizer.critic is not None
    parts, relevance = [], []
    for stop in links:
        verdict = judge(prioritizer.critic, stop.page)
        parts.append(prioritizer.evidence(stop.page, verdict, stop.page.links.select([stop.link])))
        relevance.append(verdict.relevance)
    return Lessons.of_page(Evidence.concat(parts), worth, np.array(relevance, np.float32))
