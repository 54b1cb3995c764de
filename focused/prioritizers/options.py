"""Options of a prioritizer, as they come from a topic's ``[prioritizer]`` table."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from focused.critics.base import Critic
from focused.prioritizers.base import Prioritizer


def build(kind: type[Prioritizer], options: Mapping[str, Any], *, critic: Critic | None = None) -> Prioritizer:
    """A prioritizer of this kind; ValueError with the option, its value and the way out."""
    parameters = signature(kind).parameters
    open_ended = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    known = [name for name, one in parameters.items() if one.kind is not Parameter.VAR_KEYWORD and name != "critic"]
    for name, value in options.items():
        if name not in known and not open_ended:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"{name}={value!r} is no option of {kind.name}: {hint}there are {', '.join(known)}")
    try:
        return kind(critic=critic, **options)
    except TypeError as error:
        # Options handed on to another class, which does not know them.
        raise ValueError(f"options of {kind.name}: {error}") from error


def check_made_alike(saved: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """ValueError if what was learned was learned with other options."""
    for name, value in now.items():
        if saved.get(name) != value:
            raise ValueError(
                f"it was made with {name}={saved.get(name)!r}, not {value!r}: "
                f"set {name} in [prioritizer] to that, or begin without it"
            )


def check_number(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    """ValueError unless a number (not a truth value) between two bounds."""
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        raise ValueError(f"{name}={value!r}: give a {'whole ' if whole else ''}number from {least} to {most}")


def check_switch(name: str, value: Any) -> None:
    """ValueError unless true or false."""
    if value is not True and value is not False:
        raise ValueError(f"{name}={value!r}: give true or false")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """ValueError unless one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: choose one of {', '.join(choices)}")
