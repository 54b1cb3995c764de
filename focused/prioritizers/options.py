"""How prioritizers are made, and what goes with options that something was learned with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.options import make, written
from focused.prioritizers.base import Prioritizer


def build(
    kind: type[Prioritizer], options: Mapping[str, Any], *, critic: Critic | None = None, file: str = ""
) -> Prioritizer:
    """A prioritizer of this kind; ValueError with the option, its value and the way out.

    ``file`` is the topic file that the options are from.
    """
    return make(kind, options, table="prioritizer", file=file, critic=critic)


def check_made_alike(
    state: Mapping[str, NDArray[Any]],
    name: str,
    now: Mapping[str, Any],
    *,
    before: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """ValueError unless a state was saved by the prioritizer of this name, with the same options.

    ``before``: what options were that states did not name at first.
    """
    saved = json.loads(str(state["made_for"])) if "made_for" in state else {}
    if not isinstance(saved, dict):
        raise ValueError(f"'made_for' is {saved!r}, not its options")  # noqa: TRY004  # whoever restores expects it
    if "learner" in saved:
        saved.setdefault("prioritizer", "apprentice")  # which did not say so at first
    if saved.get("prioritizer") != name:
        other = repr(saved["prioritizer"]) if "prioritizer" in saved else "another"
        raise ValueError(f"it was saved by {other}, not by {name!r}: name the prioritizer that saved it")
    if saved.get("format") != now["format"]:
        raise ValueError("it was made by another version of this project")
    saved = {**before, **saved}
    others = [name for name, value in now.items() if saved.get(name) != value]
    if others:
        were, are = (", ".join(f"{name}={written(of.get(name))}" for name in others) for of in (saved, now))
        raise ValueError(f"it was made with {were}, not {are}: set {' and '.join(others)} in [prioritizer] to that")
