"""Teaching an MEMM: one model for pages that were fetched, one for links; figures on what was held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.pages.tokens import LEXICON, Ids
from focused.papers.paths.stops import Stops
from focused.papers.prioritizers.ground import LEAST_STEPS, Ground, figures_of, prior_of
from focused.papers.prioritizers.maxent import MaxEnt, fit
from focused.papers.prioritizers.memm_features import Sight
from focused.papers.prioritizers.memm_lessons import LayerLessons, choose_keywords, gather
from focused.papers.prioritizers.states import Floats, step, uniform
from focused.papers.prioritizers.taught import FiguresByName, SaidOfTopic, TeachingProgress, Ticker

Mask = NDArray[np.bool_]
_ITERATIONS = 50
_FITS = 4


@dataclass(frozen=True)
class Models:
    """What an MEMM crawler has learned."""

    keywords: Ids
    description: Ids
    page: MaxEnt
    link: MaxEnt

    @cached_property
    def known(self) -> Ids:
        """The features that either model has weights for."""
        return np.union1d(self.page.known, self.link.known)


@dataclass(frozen=True)
class MemmTeaching:
    """How an MEMM is taught; see `Memm` for the options."""

    keywords: int
    strength: float
    beside: float
    inference: str

    def run(
        self,
        paths: Sequence[Stops],
        critic: Critic | None,
        said: SaidOfTopic,
        sight: Sight,
        progress: TeachingProgress,
    ) -> tuple[Models, FiguresByName]:
        """The models, and how well such did that had not seen a fifth of it all. NotTaught if that cannot be."""
        ground = Ground.of(paths)
        ground.check(LEAST_STEPS)
        tick = Ticker(progress, len(ground.pages) + _FITS * _ITERATIONS)
        keywords = choose_keywords(ground, critic, self.keywords, said.keywords)
        description = LEXICON.text_to_ids(said.description)
        lessons = gather(ground, replace(sight, keywords=keywords, description=description), self.beside, tick)
        figures = {name: float(len(one.steps)) for name, one in zip(("arrivals", "links"), lessons, strict=True)}
        rest = [~one.held_out for one in lessons]
        if all(some.any() and not some.all() for some in rest):
            models = Models(keywords, description, *self._fit(lessons, rest, tick))
            figures |= self._of_pages(ground, lessons[0], models) | self._of_links(ground, lessons, models)
        every = [np.ones(len(one.steps), np.bool_) for one in lessons]
        return Models(keywords, description, *self._fit(lessons, every, tick)), figures

    def _fit(self, lessons: Sequence[LayerLessons], chosen: Sequence[Mask], tick: Ticker) -> list[MaxEnt]:
        return [
            fit(
                one.samples.select(some & (one.samples.weight > 0)),
                one.known(), strength=self.strength, iterations=_ITERATIONS, tick=tick,
            )
            for one, some in zip(lessons, chosen, strict=True)
        ]  # fmt: skip

    def _of_pages(self, ground: Ground, lessons: LayerLessons, models: Models) -> FiguresByName:
        """Follows each path; what is said of pages held out counts."""
        seen = np.flatnonzero(~lessons.held_out)
        rows, beliefs = self._along(ground, lessons, models)
        layers, held_out = lessons.samples.state[rows], lessons.held_out[rows]
        prior = prior_of(lessons.samples.state[seen], lessons.samples.weight[seen])
        return figures_of("pages", beliefs[held_out], layers[held_out], np.ones(held_out.sum()), prior)

    def _along(self, ground: Ground, lessons: LayerLessons, models: Models) -> tuple[NDArray[np.int64], Floats]:
        """The lesson of each stop on each path, and what is believed there."""
        on_arrival = models.page.transitions(models.page.says(lessons.samples.seen))
        row_of = {way: row for row, way in enumerate(lessons.steps)}
        rows, beliefs = [], []
        for path in ground.paths:
            belief = uniform()
            for way in path:
                rows.append(row_of[way])
                belief = step(belief, on_arrival[rows[-1]], self.inference)
                beliefs.append(belief)
        return np.array(rows), np.array(beliefs)

    def _of_links(self, ground: Ground, lessons: Sequence[LayerLessons], models: Models) -> FiguresByName:
        """What is said of links held out, from what is believed of their pages at the last visit."""
        arrivals, links = lessons
        rows, beliefs = self._along(ground, arrivals, models)
        of_page = np.tile(uniform(), (len(ground.pages), 1))
        of_page[[arrivals.steps[row][2] for row in rows.tolist()]] = beliefs
        before = of_page[[u for u, _, _ in links.steps]]
        told = step(before, models.link.transitions(models.link.says(links.samples.seen)), self.inference)
        state, weight, out = links.samples.state, links.samples.weight, links.held_out
        return figures_of("links", told[out], state[out], weight[out], prior_of(state[~out], weight[~out]))
