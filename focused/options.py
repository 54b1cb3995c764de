"""Options of critics and prioritizers, as they come from the tables ``[critic]`` and ``[prioritizer]`` of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any, TypeVar

from focused.topics.problems import did_you_mean

LARGEST_SEED = 2**32 - 1
"""scikit-learn takes no larger one."""
_Made = TypeVar("_Made")


def make(kind: type[_Made], options: Mapping[str, Any], *, table: str, file: str = "", **given: Any) -> _Made:
    """A critic or prioritizer with these options; ValueError with the option, its value and the way out.

    ``table`` and ``file`` say where the options come from. What is ``given`` is no option.
    """
    try:
        _check_names(kind, options, given)
        return kind(**options, **given)
    except (TypeError, ValueError) as error:
        # TypeError: a class of others may take a value as it comes.
        what = str(error) if isinstance(error, ValueError) else f"options of {_called(kind)}: {error}"
        raise ValueError(f"{file}: [{table}] {what}" if file and options else what) from error


def _check_names(kind: type, options: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    parameters = signature(kind).parameters
    known = [name for name, one in parameters.items() if one.kind is not Parameter.VAR_KEYWORD and name not in given]
    open_ended = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    for name, value in options.items():
        if name not in known and not open_ended:
            hint = did_you_mean(name, known)
            raise ValueError(
                f"{name}={written(value)} is no option of {_called(kind)}{hint} (there are {', '.join(known)})"
            )


def written(value: object) -> str:
    """A value as it is written in a topic file."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _called(kind: type) -> str:
    return str(getattr(kind, "name", kind.__name__))


def check_number(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    """ValueError unless a number (not a truth value) between two bounds."""
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        raise ValueError(f"{name}={value!r}: give a {'whole ' if whole else ''}number from {least} to {most}")


def check_seed(value: Any) -> None:
    """ValueError unless random numbers can be drawn from it."""
    check_number("seed", value, 0, LARGEST_SEED, whole=True)


def check_switch(name: str, value: Any) -> None:
    """ValueError unless true or false."""
    if value is not True and value is not False:
        raise ValueError(f"{name}={value!r}: give true or false")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """ValueError unless one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: choose one of {', '.join(choices)}")


def check_texts(name: str, value: Any) -> None:
    """ValueError unless a list of texts; one text alone is none."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise ValueError(f'{name}={value!r}: give a list such as ["one", "two"]')
