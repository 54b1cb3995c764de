"""Kinds of values that users give: in settings, as arguments of the spider, as options of critics and prioritizers.

A kind says in ``words`` what it takes, for messages and for the tables in the documentation, and converts a value,
typed or as text. Numbers, switches and choices are types with their bounds, as msgspec knows them.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, inspect

from focused.addresses import to_host, to_url
from focused.extras import VECTORS as VECTORS_PACKAGE
from focused.problems import Problems
from focused.registry import check_name
from focused.safety.addresses import AddressPolicy

Positive = Annotated[int, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Kind:
    """A kind of value. ``to_value`` converts one, or raises a ValueError that says what is wrong with it."""

    def __init__(self, words: str, to_value: Callable[[Any], Any]) -> None:
        self.words = words
        self.to_value = to_value

    def convert(self, value: Any, where: str, problems: Problems) -> Any:
        """The value, converted; None, and a problem, if it cannot be."""
        try:
            return self.to_value(value)
        except ValueError as error:
            problems.add(where, str(error))
            return None


class ListKind(Kind):
    """A list of texts; also as JSON, or as text, where a ``separator`` sets the entries apart."""

    def __init__(self, to_entry: Callable[[str], str], words: str = "", separator: str = "") -> None:
        super().__init__(words or in_words(list[str]), self._to_entries)
        self._separator = separator
        self._to_entry = to_entry

    def convert(self, value: Any, where: str, problems: Problems) -> Any:
        """The converted entries, each once; every entry that cannot be converted is a problem."""
        good: dict[str, None] = {}
        for i, entry in enumerate(super().convert(value, where, problems) or ()):
            try:
                good[self._to_entry(STRING.to_value(entry).strip())] = None
            except ValueError as error:
                problems.add(f"{where}[{i}]", str(error))
        return list(good)

    def _to_entries(self, value: Any) -> list[Any]:
        if isinstance(value, (list, tuple)):
            return list(value)
        if not self._separator:
            raise ValueError(f"{value!r} is not {self.words}")
        text = str(value).strip()
        if re.match(r'\[\s*["\]]', text):
            try:
                return msgspec.json.decode(text, type=list[str])
            except msgspec.DecodeError as error:
                raise ValueError(f"{text!r} is not a JSON list of texts: {error}") from error
        return [entry for entry in re.split(self._separator, text) if entry]


class Dry(msgspec.Struct, frozen=True):
    """The crawl has dried up when less than this share of the last ``pages`` pages is relevant."""

    share: Share
    pages: Positive = 200

    def __str__(self) -> str:
        return f"{self.share:g}/{self.pages}"


def typed(kind: Any) -> Kind:
    """The kind of a type that msgspec knows, also from text."""

    def to_value(value: Any) -> Any:
        try:
            return msgspec.convert(_number(value) if kind is not str else value, kind, strict=False)
        except msgspec.ValidationError:
            raise ValueError(f"{value!r} is not {in_words(kind)}") from None

    return Kind(in_words(kind), to_value)


def named(part: str) -> Kind:
    """The name of a part (a critic, a prioritizer, a frontier): a short one, or a dotted path."""

    def to_value(value: Any) -> str:
        name: str = STRING.to_value(value).strip()
        check_name(part, name)
        return name

    return Kind("a short name or a dotted path", to_value)


def in_words(kind: Any) -> str:
    """What a type takes, as the end of "… is not"."""
    if get_origin(kind) is Literal:  # msgspec would sort the choices
        return f"one of {', '.join(map(str, get_args(kind)))}"
    return _words(inspect.type_info(kind))


def _words(kind: inspect.Type) -> str:
    match kind:
        case inspect.UnionType(types=types):
            return " or ".join(_words(one) for one in types if not isinstance(one, inspect.NoneType))
        case inspect.IntType() | inspect.FloatType():
            return _range("a whole number" if isinstance(kind, inspect.IntType) else "a number", kind)
    return _PLAIN.get(type(kind)) or f"a value of the type {getattr(kind, 'cls', type(kind)).__name__}"


def _range(number: str, kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is not None:
        return f"{number}, {kind.ge} or more" if kind.le is None else f"{number} from {kind.ge} to {kind.le}"
    return number if kind.gt is None else f"{number} above {kind.gt}"


_PLAIN = {
    inspect.BoolType: "true or false",
    inspect.StrType: "text in quotes",
    inspect.DictType: "a table",
    inspect.ListType: 'a list such as ["one", "two"]',
    inspect.VarTupleType: 'a list such as ["one", "two"]',
}


def _number(value: Any) -> Any:
    """A number written as msgspec wants it: ``.5`` is 0.5."""
    return re.sub(r"^\.", "0.", value.strip()) if isinstance(value, str) else value


def _to_text(value: Any) -> str:
    if isinstance(value, (str, Path, int, float)) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"{value!r} is not text")


def _to_file(value: Any) -> str:
    path = os.path.expanduser(str(value))
    if not os.path.isfile(path):  # False also for what cannot be a file's name
        raise ValueError(f"there is no file {str(value)!r}")
    return os.path.realpath(path)


def _to_vectors(value: Any) -> str:
    if value == VECTORS_PACKAGE:
        return VECTORS_PACKAGE
    try:
        return _to_file(value)
    except ValueError as error:
        raise ValueError(
            f"{error}, nor is it the package {VECTORS_PACKAGE!r}: make one with `scrapy vectors`"
        ) from error


def _to_inner(text: str) -> str:
    AddressPolicy([text])
    return text


def _to_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    return text


def _to_dry(value: Any) -> Dry:
    parts = map(_number, str(value).split("/", 1))
    try:
        return msgspec.convert(dict(zip(("share", "pages"), parts, strict=False)), Dry, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"{value!r} is not SHARE/PAGES, such as '0.05/200': stop when below 0.05 of the last 200 pages are found"
        ) from error


POSITIVE, COUNT = typed(Positive), typed(Annotated[int, Meta(ge=0)])
SHARE, AMOUNT = typed(Share), typed(Annotated[float, Meta(ge=0)])
SWITCH = typed(bool)
STRING, TABLE = typed(str), typed(dict[str, Any])
TEXT = Kind("text", _to_text)
FILE = Kind("a file", _to_file)
VECTORS = Kind(f"a file of word vectors, or `{VECTORS_PACKAGE}`", _to_vectors)
DRY = Kind("`share/k`", _to_dry)
# Addresses may contain commas: one ends an address only where the next begins, or a line does.
URLS = ListKind(to_url, "addresses", r"\s*,\s*(?=https?://|\s|$)|\s+")
NAMES = ListKind(str, "names", r"[\s,]+")
HOSTS = ListKind(to_host, "host names", r"[\s,]+")
INNER = ListKind(_to_inner, "addresses, networks or names", r"[\s,]+")
# Set apart by white space alone: {1,3} has a comma, an address has no space.
PATTERNS = ListKind(_to_pattern, "regular expressions", r"\s+")
