"""The spider's arguments (``-a name=value``), as one typed model.

They arrive as strings, from the command line or from scrapyd. All bad values are told at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from focused.registry import find, names
from focused.topics.checks import to_hosts, to_urls, unknown_name
from focused.topics.limits import Count, Dry, Share, read_dry, whole
from focused.topics.problems import Problems, ProblemsError, did_you_mean

_Reader = Callable[[str, Any, Problems], Any]


class ArgumentsError(ProblemsError):
    """Arguments that cannot be used; the message lists every mistake, ``problems`` has them one by one."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a crawl was asked for. Addresses and hosts are normalised, ``apprentice`` is an absolute path.

    ``pages``, ``found``, ``dry``, ``per_host`` and ``depth`` are limits, None for no limit; ``private`` holds the
    arguments that others add for themselves (scrapyd's ``_job``).
    """

    topic: str
    seeds: tuple[str, ...] = ()
    critic: str = ""
    prioritizer: str = ""
    apprentice: str = ""
    relevant: Share = 0.0
    pages: Count | None = None
    found: Count | None = None
    dry: Dry | None = None
    per_host: Count | None = None
    depth: Count | None = None
    allow_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    private: dict[str, str] = {}


def parse_arguments(kwargs: Mapping[str, Any]) -> Arguments:
    """The arguments, typed; ArgumentsError lists all that is wrong with them."""
    problems = Problems()
    values: dict[str, Any] = {"private": {name: str(kwargs[name]) for name in kwargs if name.startswith("_")}}
    for name, value in kwargs.items():
        if name in _READERS:
            values[name] = _read(name, value, problems)
        elif not name.startswith("_"):
            problems.add(name, f"unknown argument{did_you_mean(name, _READERS)} (there are {', '.join(_READERS)})")
    if "topic" not in kwargs:
        problems.add("topic", "missing: give -a topic=NAME, a topic file, or words with -a seeds=https://…")
    _check_together(values, problems)
    problems.raise_as(ArgumentsError)
    return Arguments(**values)


def _read(name: str, value: Any, problems: Problems) -> Any:
    if isinstance(value, str) and not value.strip():
        problems.add(name, "is empty: give a value or leave it out")
        return None
    return _READERS[name](name, value, problems)


def _check_together(values: Mapping[str, Any], problems: Problems) -> None:
    for host in set(values.get("allow_hosts") or ()) & set(values.get("deny_hosts") or ()):
        problems.add("deny_hosts", f"{host!r} is in allow_hosts, too")
    if "apprentice" in values and not _may_learn(values.get("prioritizer")):
        problems.add(
            "apprentice", f"{values['prioritizer']!r} does not learn on the job: name the one that saved the file"
        )


def _may_learn(prioritizer: str | None) -> bool:
    """What is not named here, and what is not ours, is seen later."""
    return prioritizer not in names("prioritizer") or bool(find("prioritizer", prioritizer).learns)


def _part(name: str, value: Any, problems: Problems) -> str:
    chosen = str(value).strip()
    what = unknown_name(chosen, name)
    if what:
        problems.add(name, what)
    return chosen


def _file(name: str, value: Any, problems: Problems) -> str:
    try:
        path = Path(str(value)).expanduser().resolve(strict=True)
        there = path.is_file()
    except (OSError, RuntimeError, ValueError):  # no such file, no such user, a character that no name can have
        there = False
    if not there:
        problems.add(name, f"there is no file {str(value)!r}")
        return str(value)
    return str(path)


def _number(kind: Any) -> _Reader:
    def read(name: str, value: Any, problems: Problems) -> Any:
        try:
            return msgspec.convert(whole(str(value).strip()), kind, strict=False)
        except msgspec.ValidationError:
            problems.add(name, f"{value!r} is not {kind.__metadata__[0].description}")
            return None

    return read


def _urls(name: str, value: Any, problems: Problems) -> tuple[str, ...]:
    # Addresses may contain commas: one ends an address only where the next begins, or a line does.
    return tuple(to_urls(_to_list(name, value, r"\s*,\s*(?=https?://|\s|$)|\s+", problems), name, problems))


def _hosts(name: str, value: Any, problems: Problems) -> tuple[str, ...]:
    return tuple(to_hosts(_to_list(name, value, r"[\s,]+", problems), name, problems))


def _patterns(name: str, value: Any, problems: Problems) -> tuple[str, ...]:
    """Regular expressions, set apart by white space alone: ``{1,3}`` has a comma, an address has no space."""
    patterns = _to_list(name, value, r"\s+", problems)
    for i, pattern in enumerate(patterns):
        try:
            re.compile(pattern)
        except re.error as error:
            problems.add(f"{name}[{i}]", f"{pattern!r} is not a regular expression: {error}")
    return tuple(patterns)


def _to_list(name: str, value: Any, separator: str, problems: Problems) -> list[str]:
    """The entries of a JSON list, or of a text with separators."""
    if isinstance(value, (list, tuple)):
        return [str(entry) for entry in value]
    text = str(value).strip()
    if re.match(r'\[\s*["\]]', text):
        try:
            return msgspec.convert(json.loads(text), list[str])
        except (json.JSONDecodeError, msgspec.ValidationError) as error:
            problems.add(name, f"{text!r} is not a JSON list of texts: {error}")
            return []
    return [entry for entry in re.split(separator, text) if entry]


_READERS: dict[str, _Reader] = {
    "topic": lambda _name, value, _problems: str(value).strip(),
    "seeds": _urls,
    "critic": _part,
    "prioritizer": _part,
    "apprentice": _file,
    "relevant": _number(Share),
    "pages": _number(Count),
    "found": _number(Count),
    "dry": read_dry,
    "per_host": _number(Count),
    "depth": _number(Count),
    "allow_hosts": _hosts,
    "deny_hosts": _hosts,
    "allow": _patterns,
    "deny": _patterns,
}
