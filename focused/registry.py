"""Critics, prioritizers and frontiers by short name, or by dotted path.

Our own are listed in ``entry_points.txt``, from which the metadata of the distribution are made as well: so they are
the same in a clone, a wheel and an egg. Other distributions bring theirs by entry points of the same groups. A name
of ours always means ours, and an entry point that is broken does no harm to a crawl that does not ask for it.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from inspect import isabstract
from pkgutil import resolve_name
from typing import Any

from focused.extras import way_out
from focused.problems import instead

logger = logging.getLogger(__name__)

BASES = {"critic": "focused.critics.base.Critic", "prioritizer": "focused.prioritizers.base.Prioritizer"}
"""What the parts of a kind are derived from."""


class UnknownName(ValueError):
    """A name for which there is no part, or none that can be used; the message says why."""


def own(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group that come with Focused."""
    return tuple(EntryPoint(name, value, group) for name, value in _table().get(group, {}).items())


def names(kind: str) -> tuple[str, ...]:
    """The short names of a kind: ours, then those of other distributions."""
    group = _group(kind)
    return tuple(dict.fromkeys(entry.name for entry in (*own(group), *_foreign(group))))


def find(kind: str, name: str) -> Any:
    """The part that a short name or a dotted path stands for. UnknownName says why there is none."""
    entry = _entry(kind, name)
    try:
        found = entry.load()
    except Exception as error:
        why = (isinstance(error, ImportError) and way_out(error)) or error
        raise UnknownName(f"{kind} {name!r} cannot be imported: {why}{_origin(entry)}") from error
    if kind in BASES:
        _check_kind(found, kind, name, _origin(entry))
    return found


def find_known(kind: str, name: str) -> Any:
    """As `find`, for a name that was read from a file: a dotted path must be of a module that was imported before.

    Whoever writes the file could else have any module imported, also one that lies beside it.
    """
    if name not in names(kind) and name.rpartition(".")[0] not in sys.modules:
        raise UnknownName(
            f"{name!r} is not imported only because a file names it: if it is yours, name it by "
            f"-s FOCUSED_{kind.upper()}={name}"
        )
    return find(kind, name)


def check_name(kind: str, name: str) -> None:
    """UnknownName if it can be neither a short name nor a dotted path; nothing is imported."""
    if name not in names(kind) and not re.fullmatch(r"\w+(\.\w+)+", name):
        raise UnknownName(_unknown(kind, name))


def usable(kind: str) -> Iterator[tuple[str, Any]]:
    """The parts of a kind with their short names, without those that cannot be used."""
    for name in names(kind):
        try:
            yield name, find(kind, name)
        except UnknownName as error:
            logger.warning("%s", error)


@cache
def _table() -> dict[str, dict[str, str]]:
    parser = ConfigParser(delimiters="=", interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    parser.read_string(files("focused").joinpath("entry_points.txt").read_text("utf-8"))
    return {group: dict(parser[group]) for group in parser.sections()}


def _group(kind: str) -> str:
    return f"focused.{kind}s"


def _foreign(group: str) -> list[EntryPoint]:
    return [entry for entry in entry_points(group=group) if entry.dist is None or entry.dist.name != "focused"]


def _entry(kind: str, name: str) -> EntryPoint:
    group = _group(kind)
    ours = [entry for entry in own(group) if entry.name == name]
    theirs = [entry for entry in _foreign(group) if entry.name == name]
    for entry in theirs if ours else ():
        logger.warning("%s %r is Focused's own%s: name the other by its dotted path", kind, name, _origin(entry))
    if len(theirs) > 1 and not ours:
        origins = " and".join(map(_origin, theirs))
        raise UnknownName(f"{kind} {name!r} is named twice,{origins}: use the dotted path of the one that you want")
    if ours or theirs:
        return (ours or theirs)[0]
    if "." in name:
        return EntryPoint(name, ":".join(name.rsplit(".", 1)), group)
    raise UnknownName(f"{kind} {_unknown(kind, name)}")


def _unknown(kind: str, name: str) -> str:
    known = names(kind)
    there = f"available: {', '.join(sorted(known))}, or a dotted path"
    return f"{name!r} is not known{instead(name, known, kind)} ({there})"


def _origin(entry: EntryPoint) -> str:
    """Who brings an entry point that is not ours."""
    return f" (entry point '{entry.name} = {entry.value}' of {entry.dist.name!r})" if entry.dist else ""


def _check_kind(found: Any, kind: str, name: str, origin: str) -> None:
    base = resolve_name(BASES[kind])
    if not isinstance(found, type) or not issubclass(found, base) or found is base:
        raise UnknownName(f"{name!r} is not a {kind}: name a class derived from {BASES[kind]}{origin}")
    if isabstract(found):
        lacks = ", ".join(sorted(found.__abstractmethods__))  # type: ignore[attr-defined]  # what isabstract says it has
        raise UnknownName(f"{name!r} is not a whole {kind}: it lacks {lacks}{origin}")
