"""Checks of a topic file's keys, one by one: msgspec alone would stop at the first mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from focused.pages.tokens import words
from focused.registry import names
from focused.topics.addresses import BadAddress, to_host, to_url
from focused.topics.problems import Problems, did_you_mean, instead
from focused.topics.settings import check_settings

_IN_WORDS = {str: "text in quotes", list[str]: 'a list such as ["one", "two"]', dict[str, Any]: "a table"}


def typed(table: Mapping[str, Any], keys: Mapping[str, Any], label: str, problems: Problems) -> dict[str, Any]:
    """The values whose keys are known and whose types are right; the others are noted as mistakes."""
    if "name" not in table:
        problems.add(f"{label}: name", "missing")
    values = {}
    for key, value in table.items():
        wrong = _misfits(key, value, keys)
        for place, what in wrong:
            problems.add(f"{label}: {place}", what)
        if not wrong:
            values[key] = value
    return values


def _misfits(key: str, value: object, keys: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where a value is wrong, and why."""
    if key not in keys:
        what = "settings belong under [settings]" if key.isupper() else f"unknown key{did_you_mean(key, keys)}"
        return [(key, what)]
    if keys[key] == list[str] and isinstance(value, list):
        return [(f"{key}[{i}]", _not_a(entry, str)) for i, entry in enumerate(value) if not isinstance(entry, str)]
    try:
        msgspec.convert(value, keys[key])
    except msgspec.ValidationError:
        return [(key, _not_a(value, keys[key]))]
    return []


def _not_a(value: object, kind: Any) -> str:
    return f"{value!r} is not {_IN_WORDS[kind]}"


def to_urls(texts: Sequence[str], where: str, problems: Problems) -> list[str]:
    """Addresses, normalised, each once."""
    return _converted(to_url, texts, where, problems)


def to_hosts(texts: Sequence[str], where: str, problems: Problems) -> list[str]:
    """Host names, normalised, each once."""
    return _converted(to_host, texts, where, problems)


def _converted(to: Callable[[str], str], texts: Sequence[str], where: str, problems: Problems) -> list[str]:
    good: dict[str, None] = {}
    for i, text in enumerate(texts):
        try:
            good[to(text.strip())] = None
        except BadAddress as error:
            problems.add(f"{where}[{i}]", str(error))
    return list(good)


def check_content(values: Mapping[str, Any], table: Mapping[str, Any], label: str, problems: Problems) -> None:
    """Note what is empty, missing, or does not go together; ``table`` is the file with its misfits."""
    places = [("name", values.get("name", "a name"))]
    places += [(f"{key}[{i}]", entry) for key in ("keywords", "focus") for i, entry in enumerate(values.get(key, []))]
    for place, text in places:
        if not words(text):
            problems.add(f"{label}: {place}", f"{text!r} has no letter or digit")
    for key in ("critic", "prioritizer"):
        name = values.get(key, {}).get("name")
        what = "" if name is None else unknown_name(name, key)
        if what:
            problems.add(f"{label}: {key}.name", what)
    check_settings(values.get("settings", {}), label, problems)
    _check_teaching(table, label, problems)


def unknown_name(name: object, kind: str) -> str:
    """Why a name stands for no critic or prioritizer (its ``kind``); nothing if it is a short name or a dotted path."""
    if not isinstance(name, str):
        return _not_a(name, str)
    known = names(kind)
    if name in known or re.fullmatch(r"\w+(\.\w+)+", name):
        return ""
    return f"{name!r} is not known{instead(name, known, kind)} (there are {', '.join(known)}, or a dotted path)"


def _check_teaching(table: Mapping[str, Any], label: str, problems: Problems) -> None:
    """A critic learns from examples and a focus, or reads keywords; one brought by the user may need neither."""
    examples, focus, keywords, critic = (table.get(key) for key in ("examples", "focus", "keywords", "critic"))
    brought = isinstance(critic, dict) and "." in str(critic.get("name", ""))
    if examples and not focus:
        problems.add(f"{label}: focus", "missing: with examples, name the classes that are wanted")
    if focus and not examples and not brought:
        problems.add(f"{label}: focus", "needs examples: it names classes of the examples file")
    if not examples and not keywords and not brought:
        problems.add(f"{label}: keywords", "missing: a topic without examples is told by its keywords")
