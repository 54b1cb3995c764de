"""Options of critics and prioritizers, as they come from the tables ``[critic]`` and ``[prioritizer]`` of a topic.

An option is a keyword of the constructor, and its annotation says what it takes: ``bool``, ``Literal["a", "b"]``,
``Annotated[int, Meta(ge=0, le=9)]``. Whatever msgspec knows is checked here, before anything is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from focused.problems import ProblemsError, did_you_mean
from focused.schema import in_words

Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
"""scikit-learn takes no larger one."""
_Made = TypeVar("_Made")


def make(kind: type[_Made], options: Mapping[str, Any], *, table: str, file: str = "", **given: Any) -> _Made:
    """A critic or prioritizer with these options; ValueError with each bad option, its value and the way out.

    ``table`` and ``file`` say where the options come from. What is ``given`` is not an option.
    """
    where = f"{file}: [{table}] " if file and options else ""
    problems = [f"{where}{what}" for what in _problems(kind, options, given)]
    if problems:
        raise ProblemsError(problems)
    try:
        return kind(**options, **given)
    except (TypeError, ValueError) as error:
        # TypeError: a class of others may take a value as it comes.
        what = str(error) if isinstance(error, ValueError) else f"options of {_name_of(kind)}: {error}"
        raise ValueError(f"{where}{what}") from error


def _problems(kind: type, options: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    parameters = signature(kind).parameters
    known = [name for name, one in parameters.items() if one.kind is not Parameter.VAR_KEYWORD and name not in given]
    open_ended = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    types = types_of_options(kind)
    for name, value in options.items():
        if name not in known and not open_ended:
            hint = did_you_mean(name, known)
            yield f"{name}={written(value)} is not an option of {_name_of(kind)}{hint} (known: {', '.join(known)})"
        elif name in types and not _fits(value, types[name]):
            yield f"{name}={value!r}: give {in_words(types[name])}"


def types_of_options(kind: type) -> dict[str, Any]:
    """The annotated types of a constructor's keywords, its own and those that it hands on to its base."""
    types: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if "__init__" in vars(base):
            try:
                types |= get_type_hints(vars(base)["__init__"], include_extras=True)
            except NameError:  # a class of others may annotate with what only type checkers import
                continue
    return types


def _fits(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def written(value: object) -> str:
    """A value as it is written in a topic file."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _name_of(kind: type) -> str:
    return str(getattr(kind, "name", kind.__name__))
