"""The entrants of a comparison: prioritizers with options, written as ``name:option=value:…``.

Three names stand for experiments rather than for prioritizers. ``offline`` is section 3.5 of Chakrabarti, Punera,
Subramanyam (2002): a best-first crawl of the same length from the same starts, the apprentice trained on all its
lessons, then a crawl that it leads without learning any more. ``warm`` goes on learning. ``shown`` is the default
prioritizer, which begins with what it has learned from paths (`focused.papers.teaching.shown`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from focused.papers.prioritizers.observed import BestFirstObserved
from focused.papers.prioritizers.taught import TaughtPrioritizer
from focused.parts import DEFAULT_PRIORITIZER
from focused.prioritizers.base import Prioritizer
from focused.registry import find

APPRENTICE = "apprentice"
STUDIED = ("offline", "warm")
_SHOWN = "shown"


@dataclass(frozen=True)
class Entrant:
    """A prioritizer (or an experiment) and its options."""

    text: str
    name: str
    options: dict[str, Any]

    @property
    def studies(self) -> bool:
        """Does it begin with an apprentice that was trained on another crawl's lessons?"""
        return self.name in STUDIED

    @cached_property
    def kind(self) -> type[Prioritizer]:
        """The prioritizer's class. UnknownName if there is none of this name."""
        kind: type[Prioritizer] = find("prioritizer", self.table()["name"])
        return kind

    @property
    def is_shown(self) -> bool:
        """Is it the default prioritizer, taught by paths?"""
        return self.name == _SHOWN

    @property
    def kind_of_paths(self) -> str:
        """The kind of paths by which it must be taught before it can crawl; nothing if it need not be taught."""
        if self.is_shown:
            return "visits"
        return self.kind.kind_of_paths if issubclass(self.kind, TaughtPrioritizer) else ""

    def observed(self) -> Entrant:
        """The crawl that it studies: best-first's, which keeps what an apprentice with these options would see."""
        return Entrant(f"{self.text}-observed", BestFirstObserved.name, {**self.options, "combine": "first"})

    def table(self) -> dict[str, Any]:
        """The ``[prioritizer]`` table of its topic file."""
        name = APPRENTICE if self.studies else DEFAULT_PRIORITIZER if self.is_shown else self.name
        return {"name": name, **self.options}


def parse_entrant(text: str, option: str = "--prioritizers") -> Entrant:
    """``apprentice:learner=naive-bayes:d_max=3``; values that read as JSON are taken as such.

    ValueError names the ``option`` whose value it is.
    """
    name, *pairs = text.split(":")
    if not name or not all("=" in pair for pair in pairs):
        raise ValueError(f"{option}: {text!r} is neither a name nor name:option=value:…")
    return Entrant(text, name, {key: _value(value) for key, _, value in (pair.partition("=") for pair in pairs)})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
