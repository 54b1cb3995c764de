"""Levels of a taxonomy: the path from the classes that are wanted up to the root.

Level 1 are the classes in focus, level 2 their parents, and so on up to level n; what lies on no level is level n + 1,
irrelevant. With ``siblings`` the other branches below a parent stand in for it: `Science.Biology.Dinosaurs` is level 2
for the birds. Without, a level's examples are those of exactly its class, as in Greenwood's thesis.

A page's relevance is read off its level. Level 1 is the upper half of the scale, irrelevant what is below 0.1, and what
lies between is cut into equal bands for the other levels, so that R falls with the distance. Where in its band a page
stands is its grade. (Irrelevant pages are most of a web: with a larger band, most of all relevance would be theirs.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from focused.papers.critics.profiles import Floats, Ints
from focused.topics.focus import in_focus

IRRELEVANT = "irrelevant"
FRACTION = 0.25
"""How far apart the clearest and the least clear of one level are. Three such steps are less than one whole level."""
_IRRELEVANT = 0.1
_HIGHEST, _LOWEST = 0.98, 0.02
"""Grades stay off the borders of a band: level 2 must not reach the 0.5 from which a page counts as found."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The path to the classes in ``focus``, seen from a taxonomy with these class ``names``."""

    focus: tuple[str, ...]
    siblings: bool

    @property
    def n(self) -> int:
        """How many levels there are, with and without examples."""
        return max(name.count(".") for name in self.focus) + 1

    def of_class(self, name: str) -> int:
        """The level of one class, from 1 to n + 1."""
        if in_focus(name, self.focus):
            return 1
        for level in range(2, self.n + 1):
            parents = [".".join(parts[: 1 - level]) for one in self.focus if len(parts := one.split(".")) >= level]
            if name in parents or (self.siblings and in_focus(name, parents)):
                return level
        return self.n + 1


def level_name(level: int, n: int) -> str:
    """What a level is called in verdicts."""
    return IRRELEVANT if level > n else f"level {level}"


def level_of_name(name: str, n: int) -> int:
    """The level that is called so; n + 1 for any other name."""
    number = name.removeprefix("level ")
    return min(int(number), n + 1) if number.isdigit() else n + 1


def relevance_of(level: int, grade: float, n: int) -> float:
    """R of a page at a level; ``grade`` from 0 to 1 is how near it is to the next better one."""
    if level > n:
        return _IRRELEVANT * min(max(grade, 0.0), _HIGHEST) ** 2
    low, width = _band(level, n)
    return low + width * min(max(grade, _LOWEST), _HIGHEST)


def level_of(relevance: float, n: int) -> tuple[int, float]:
    """The level and the grade that a relevance stands for: the inverse of `relevance_of`."""
    level = next((level for level in range(1, n + 1) if relevance > _band(level, n)[0]), n + 1)
    if level > n:
        return level, float(np.sqrt(max(relevance, 0.0) / _IRRELEVANT))
    low, width = _band(level, n)
    return level, (relevance - low) / width


def _band(level: int, n: int) -> tuple[float, float]:
    """Where the relevance of a level begins, and how far it reaches; not for irrelevant."""
    if level == 1:
        return 0.5, 0.5
    width = (0.5 - _IRRELEVANT) / (n - 1)
    return 0.5 - width * (level - 1), width


def place_of(level: Ints, grade: Floats, n: int) -> Floats:
    """Levels with a fraction, small where the grade is high. Off the path all are alike.

    There the grade is noise, and a crawl that goes by it stays in the first trap whose words are a little like the
    topic's (measured: a tree of 400 pages of results on uci, from which nothing led anywhere).
    """
    fraction: Floats = level + FRACTION * np.where(level <= n, 1 - grade, 1.0)
    return fraction
