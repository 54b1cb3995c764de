"""Short names for pluggable parts; a dotted path brings a part from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import isabstract
from typing import Any

from focused.topics.problems import instead

BASES = {"critic": "focused.critics.base.Critic", "prioritizer": "focused.prioritizers.base.Prioritizer"}
"""What the parts of each kind are derived from."""


class UnknownName(ValueError):
    """A name that stands for nothing; the message lists what there is."""


def find(kind: str, name: str, known: Mapping[str, str]) -> Any:
    """The class that a short name or a dotted path stands for."""
    if name not in known and "." not in name:
        there = f"there are {', '.join(sorted(known))}, or a dotted path"
        raise UnknownName(f"{kind} {name!r} is not known{instead(name, known, kind)} ({there})")
    try:
        found = _imported(known.get(name, name))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise UnknownName(f"{kind} {name!r} cannot be imported: {error}") from error
    _check_kind(found, kind, name)
    return found


def _imported(path: str) -> Any:
    module, _, attribute = path.rpartition(".")
    return getattr(import_module(module), attribute)


def _check_kind(found: Any, kind: str, name: str) -> None:
    base = _imported(BASES[kind])
    if not isinstance(found, type) or not issubclass(found, base) or found is base:
        raise UnknownName(f"{name!r} is not a {kind}: name a class derived from {BASES[kind]}")
    if isabstract(found):
        lacks = ", ".join(sorted(found.__abstractmethods__))  # type: ignore[attr-defined]  # what isabstract says it has
        raise UnknownName(f"{name!r} is not a whole {kind}: it lacks {lacks}")
