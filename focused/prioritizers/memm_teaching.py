"""Teaching an MEMM: one model for pages that were fetched, one for links; figures on pages held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.pages.evidence import Evidence
from focused.pages.tokens import Ids
from focused.paths.stops import Stops
from focused.prioritizers.ground import NO_PAGE, Ground, figures_of, prior_of
from focused.prioritizers.maxent import MaxEnt, fit
from focused.prioritizers.memm_features import Sight
from focused.prioritizers.memm_lessons import Lessons, choose_keywords, gather
from focused.prioritizers.states import Floats, step, uniform
from focused.prioritizers.taught import Figures, Progress

_ITERATIONS = 50
_FITS = 4
_PAGES_AT_ONCE = 20


@dataclass(frozen=True)
class Models:
    """What an MEMM crawler has learned."""

    keywords: Ids
    page: MaxEnt
    link: MaxEnt

    def pruned(self, links: Evidence) -> Evidence:
        """Evidence of links without the features of which neither model knows anything."""
        kept = np.isin(links.ids, np.union1d(self.page.known, self.link.known))
        starts = np.concatenate([[0], np.cumsum(kept)])[links.starts]
        return Evidence.of(starts, links.ids[kept], links.dense, links.leaf)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything as arrays."""
        return {"keywords": self.keywords, **self.page.state("page"), **self.link.state("link")}

    @classmethod
    def restore(cls, state: Mapping[str, NDArray[Any]]) -> Self:
        """What `state` gave."""
        return cls(state["keywords"], MaxEnt.restore(state, "page"), MaxEnt.restore(state, "link"))


class _Ticker:
    """Counts the steps of a training; a fit that converges early leaves some out."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, steps: int = 1) -> None:
        self._done = min(self._done + steps, self._total)
        self._progress(self._done, self._total)


@dataclass(frozen=True)
class Teaching:
    """How an MEMM is taught; see `Memm` for the options."""

    keywords: int
    strength: float
    beside: float
    inference: str

    def run(
        self, paths: Sequence[Stops], critic: Critic | None, sight: Sight, progress: Progress
    ) -> tuple[Models, Figures]:
        """The models, and how well such did that had not seen one page in five. NotTaught says why nothing is learned."""
        ground = Ground.of(paths)
        ticker = _Ticker(progress, len(ground.pages) + _FITS * _ITERATIONS)
        sighted = replace(sight, keywords=choose_keywords(ground, critic, self.keywords))
        lessons = gather(ground, sighted, self.beside, ticker)
        held_out = ground.held_out()
        figures: Figures = {}
        if held_out.any() and not held_out.all():
            models = self._fit(sighted.keywords, lessons, held_out, ticker)
            figures = self._figures(ground, lessons, models)
        models = self._fit(sighted.keywords, lessons, np.zeros(len(held_out), np.bool_), ticker)
        known = {"pages": len(ground.pages), "arrivals": len(lessons[0].samples), "links": len(lessons[1].samples)}
        return models, {**{name: float(count) for name, count in known.items()}, **figures}

    def _fit(
        self, keywords: Ids, lessons: tuple[Lessons, Lessons], held_out: NDArray[np.bool_], ticker: _Ticker
    ) -> Models:
        fitted = []
        for one in lessons:
            unseen = (one.pages != NO_PAGE) & held_out[one.pages]
            chosen = ~unseen & (one.samples.weight > 0)
            samples = one.samples.take(chosen)
            fitted.append(fit(samples, one.known(), strength=self.strength, iterations=_ITERATIONS, tick=ticker))
        return Models(keywords, *fitted)

    def _figures(self, ground: Ground, lessons: tuple[Lessons, Lessons], models: Models) -> Figures:
        """Each path is gone along; what is told of pages held out counts."""
        of_pages, of_links = lessons
        on_arrival = models.page.transitions(of_pages.samples.seen)
        by_link = models.link.transitions(of_links.samples.seen)
        held_out = ground.held_out()
        pages: list[tuple[Floats, int]] = []
        links: list[tuple[Floats, int]] = []
        for path in ground.paths:
            belief = uniform()
            for way in path:
                if held_out[way[2]] and way in of_links.row_of:
                    foretold = step(belief, by_link[of_links.row_of[way]], self.inference)
                    links.append((foretold, ground.layers[way[2]]))
                belief = step(belief, on_arrival[of_pages.row_of[way]], self.inference)
                if held_out[way[2]]:
                    pages.append((belief, ground.layers[way[2]]))
        prior = prior_of([ground.layers[v] for path in ground.paths for _, _, v in path if not held_out[v]])
        return {**figures_of("pages", pages, prior), **figures_of("links", links, prior)}
