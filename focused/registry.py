"""Short names for pluggable parts; a dotted path brings a part from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class UnknownName(ValueError):
    """A name that stands for nothing; the message lists what there is."""


def find(kind: str, name: str, known: Mapping[str, str]) -> Any:
    """The class that a short name or a dotted path stands for."""
    path = known.get(name, name)
    module, _, attribute = path.rpartition(".")
    if not module:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UnknownName(f"{kind} {name!r} is not known: {hint}there are {', '.join(sorted(known))}, or a dotted path")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"{kind} {name!r} cannot be imported: {error}") from error
