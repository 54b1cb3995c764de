"""Labelled paths, as a user writes them or `scrapy paths` draws them: one JSON object a line.

    {"steps": [{"url": "http://u.example/"}, {"url": "http://u.example/cs", "label": "department"},
               {"url": "http://u.example/~ann"}, {"url": "http://u.example/~ann/cs1", "label": "goal"}]}

Each step is a page that is reached by a link on the page before. ``label`` is the page's milestone, or ``goal`` or
``fail`` at the end of a path; pages without one stand on the way to the next that has one. ``layer`` is how many
clicks the page is away from the nearest target; where that is not given, it is the shortest way along the paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as File

import msgspec

from focused.files import write_whole
from focused.problems import ProblemsError

GOAL, FAIL = "goal", "fail"
ENDS = (GOAL, FAIL)
PREFIX = "to "
"""Before a label: the state of pages without a label on the way to one (section 3.3 of the thesis)."""


class PathsError(ProblemsError):
    """Paths that cannot be used; the message lists every mistake with its line."""


class Step(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A page on a path. ``layer`` -1: not known."""

    url: str
    label: str = ""
    layer: int = -1


class Path(msgspec.Struct, forbid_unknown_fields=True):
    """The pages of a path, from the first to the last."""

    steps: list[Step]

    @property
    def end(self) -> str:
        """``goal``, ``fail``, or nothing."""
        label = self.steps[-1].label
        return label if label in ENDS else ""

    def states(self) -> list[str]:
        """The label of each page; of one without, the prefix state of the next label on the path."""
        states: list[str] = []
        coming = FAIL
        for step in reversed(self.steps):
            coming = step.label or coming
            states.append(step.label or PREFIX + coming)
        return states[::-1]


def layers_of(paths: Iterable[Path], furthest: int) -> dict[str, int]:
    """How far each page is from a target, at most ``furthest``: as given, else by the shortest way to a goal."""
    layers: dict[str, int] = {}
    for path in paths:
        for left, step in enumerate(reversed(path.steps)):
            counted = left if path.end == GOAL else furthest
            layer = min(step.layer if step.layer >= 0 else counted, furthest)
            layers[step.url] = min(layer, layers.get(step.url, furthest))
    return layers


def write_paths(file: str | File, paths: Iterable[Path]) -> None:
    """Write paths, a line each."""
    with write_whole(File(file)) as out:
        for path in paths:
            out.write(msgspec.json.encode(path) + b"\n")
