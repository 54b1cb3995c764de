"""From paths to a taught prioritizer: gather the pages on them, teach, write the models folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as Folder
from typing import Any

from scrapy.settings import BaseSettings

from focused.critics.choose import critic_for
from focused.defaults import read
from focused.pages.fetched import Fetched
from focused.papers.paths.path import Path
from focused.papers.paths.stops import Stops, resolve
from focused.papers.prioritizers.taught import (
    FiguresByName,
    NotTaught,
    SaidOfTopic,
    TaughtCard,
    TaughtPrioritizer,
    TeachingProgress,
    save_taught,
)
from focused.papers.teaching.shown import learn_ways, shown_to_text
from focused.parts import choose_prioritizer
from focused.prioritizers.base import Prioritizer
from focused.prioritizers.focused import Focused
from focused.prioritizers.options import build
from focused.registry import find, usable
from focused.teaching.plan import CannotTeach
from focused.topics.identity import slug
from focused.topics.topic import Topic
from focused.warc.web import normal_form

_LEAST_SHARE = 0.5
FEW_PATHS = 20
"""A model taught by fewer paths knows them by heart, and little else."""


@dataclass(frozen=True)
class PathTeaching:
    """A prioritizer that is to be taught for a topic, its critic beside it."""

    topic: Topic
    prioritizer: TaughtPrioritizer[Any] | Focused
    options: dict[str, Any]
    models: Folder

    @classmethod
    def plan(cls, topic: Topic, settings: BaseSettings) -> PathTeaching:
        """What the settings ask for, checked. CannotTeach or ModelRefused say what is wrong."""
        name, options = choose_prioritizer(topic, settings)
        kind = find("prioritizer", name)
        if not issubclass(kind, TaughtPrioritizer | Focused):
            others = [other for other, kind in usable("prioritizer") if issubclass(kind, TaughtPrioritizer | Focused)]
            raise CannotTeach(f"prioritizer {name!r} is not taught by paths; these are: {', '.join(others)}")
        models = Folder(read(settings, "FOCUSED_MODELS"))
        vectors = read(settings, "FOCUSED_VECTORS")
        critic = critic_for(topic, models, read(settings, "FOCUSED_CRITIC"), vectors=vectors)
        prioritizer = build(kind, options, critic=critic, file=topic.file)
        assert isinstance(prioritizer, TaughtPrioritizer | Focused)
        if isinstance(prioritizer, TaughtPrioritizer):
            prioritizer.said = SaidOfTopic(topic.keywords, topic.description)
        return cls(topic, prioritizer, options, models)

    def teach(
        self, paths: Sequence[Path], fetched: Fetched, told: dict[str, Any], progress: TeachingProgress
    ) -> TaughtCard:
        """Teach, and write what was learned and its card; ``told`` says on the card where the paths came from."""
        stops = stops_of(paths, fetched)
        try:
            taught, figures = self._teach(paths, stops, fetched, progress)
        except NotTaught as error:
            if not fetched.failures:
                raise
            # What the paths lack may stand on the pages that are missing.
            missing, wanted = len(fetched.failures), len(addresses_of(paths))
            raise CannotTeach(
                f"{missing} of the {wanted} pages on the paths are missing: {fetched.missing()}; "
                f"what is left of the paths cannot teach: {error}"
            ) from error
        card = TaughtCard(
            topic=self.topic.name,
            prioritizer=self.prioritizer.name,
            options=self.options,
            paths={
                **told,
                "paths": len(stops),
                "pages": len({stop.page.url for path in stops for stop in path}),
                "states": dict(sorted(Counter(stop.state for path in stops for stop in path).items())),
                "unreachable": fetched.reasons(),
            },
            figures=figures,
        )
        save_taught(self.file.parent, taught, card, shown=shown_to_text(figures) if self.is_shown else "")
        return card

    @property
    def is_shown(self) -> bool:
        """Does the prioritizer learn on the job, too? Then a crawl begins with this only if it is told so."""
        return isinstance(self.prioritizer, Focused)

    @property
    def file(self) -> Folder:
        """Where what was learned is written."""
        return self.models / slug(self.topic) / f"{self.prioritizer.name}.npz"

    def _teach(
        self, paths: Sequence[Path], stops: Sequence[Stops], fetched: Fetched, progress: TeachingProgress
    ) -> tuple[Prioritizer, FiguresByName]:
        """A prioritizer that was taught, and figures for its card."""
        if isinstance(self.prioritizer, TaughtPrioritizer):
            return self.prioritizer, self.prioritizer.teach(stops, progress)
        return learn_ways(self.prioritizer, paths, resolve(paths, fetched.pages.get, normal_form), progress)


def addresses_of(paths: Sequence[Path]) -> list[str]:
    """The pages on some paths, each once."""
    return list(dict.fromkeys(step.url for path in paths for step in path.steps))


def stops_of(paths: Sequence[Path], fetched: Fetched) -> list[Stops]:
    """The paths with their pages. CannotTeach if most are not there."""
    wanted, had = len(addresses_of(paths)), len(fetched.pages)
    if had < wanted * _LEAST_SHARE:
        raise CannotTeach(
            f"only {had} of the {wanted} pages on the paths could be had: {fetched.missing()}; is --web the web that "
            "they were drawn from?"
        )
    return [one for one in resolve(paths, fetched.pages.get, normal_form) if one]
