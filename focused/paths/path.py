"""Labelled paths, as a user writes them or `scrapy paths` draws them: one JSON object a line.

    {"steps": [{"url": "http://u.example/"}, {"url": "http://u.example/cs", "label": "department"},
               {"url": "http://u.example/~ann"}, {"url": "http://u.example/~ann/cs1", "label": "goal"}]}

Each step is a page that is reached by a link on the page before. ``label`` is the page's milestone, or ``goal`` or
``fail`` at the end of a path; pages without one stand on the way to the next that has one. ``layer`` is how many
clicks the page is away from the nearest target; where it is not told, the shortest way along the paths counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path as File

import msgspec

from focused.files import write_whole
from focused.topics.problems import MOST_LISTED, Problems, ProblemsError, did_you_mean

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
    """How far each page is from a target, at most ``furthest``: as told, else by the shortest way to a goal."""
    layers: dict[str, int] = {}
    for path in paths:
        for left, step in enumerate(reversed(path.steps)):
            counted = left if path.end == GOAL else furthest
            layer = min(step.layer if step.layer >= 0 else counted, furthest)
            layers[step.url] = min(layer, layers.get(step.url, furthest))
    return layers


def read_paths(file: str | File, *, labels: Sequence[str] = ()) -> list[Path]:
    """The paths of a file; PathsError lists all that is wrong. Only the ``labels`` given are known, if any are."""
    problems = Problems()
    paths = []
    try:
        lines = File(file).read_bytes().splitlines()
    except OSError as error:
        raise PathsError([f"{file}: cannot be read: {error.strerror or error}"]) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            path = _read_line(line, f"{file}:{number}", labels, problems)
            paths.append(path)
    if not paths and not problems.found:
        problems.add(str(file), "holds no path")
    problems.raise_as(PathsError)
    return [path for path in paths if path is not None]


def write_paths(file: str | File, paths: Iterable[Path]) -> None:
    """Write paths, a line each."""
    with write_whole(File(file)) as out:
        for path in paths:
            out.write(msgspec.json.encode(path) + b"\n")


def _read_line(line: bytes, where: str, labels: Sequence[str], problems: Problems) -> Path | None:
    try:
        path = msgspec.json.decode(line, type=Path)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problems.add(where, str(error))
        return None
    _check(path, where, labels, problems)
    return path


def _check(path: Path, where: str, labels: Sequence[str], problems: Problems) -> None:
    if not path.steps:
        problems.add(where, "has no steps")
    for i, step in enumerate(path.steps):
        at = f"{where}: steps[{i}]"
        if not step.url.startswith(("http://", "https://")):
            problems.add(at, f"url {step.url!r} is no address for http")
        if step.label in ENDS and i < len(path.steps) - 1:
            problems.add(at, f"label {step.label!r} may only stand at the end of a path")
        if step.label.lower() in ENDS and step.label not in ENDS:
            problems.add(at, f"label {step.label!r}: write {step.label.lower()!r}")
        if step.label.startswith(PREFIX):
            problems.add(at, f"label {step.label!r} begins as the states of pages without a label do: leave it out")
        if labels and step.label and step.label not in (*labels, *ENDS):
            problems.add(
                at,
                f"label {step.label!r} is not known{did_you_mean(step.label, labels)} "
                f"(there are {', '.join([*labels, *ENDS][:MOST_LISTED])})",
            )
