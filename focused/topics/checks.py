"""Checks of a topic file's keys, one by one: msgspec alone would stop at the first mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from focused.defaults import CRITIC_NAME, PRIORITIZER_NAME
from focused.pages.tokens import words
from focused.schema import in_words
from focused.topics.problems import Problems, did_you_mean
from focused.topics.settings import check_topic_settings


def well_typed(table: Mapping[str, Any], keys: Mapping[str, Any], label: str, problems: Problems) -> dict[str, Any]:
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
    return f"{value!r} is not {in_words(kind)}"


def check_content(values: Mapping[str, Any], table: Mapping[str, Any], label: str, problems: Problems) -> None:
    """Note what is empty, missing, or does not go together; ``table`` is the file with its misfits."""
    places = [("name", values.get("name", "a name"))]
    places += [(f"{key}[{i}]", entry) for key in ("keywords", "focus") for i, entry in enumerate(values.get(key, []))]
    for place, text in places:
        if not words(text):
            problems.add(f"{label}: {place}", f"{text!r} has no letter or digit")
    for key, kind in (("critic", CRITIC_NAME), ("prioritizer", PRIORITIZER_NAME)):
        name = values.get(key, {}).get("name", "")
        if not isinstance(name, str):
            problems.add(f"{label}: {key}.name", _not_a(name, str))
        elif name:
            kind.convert(name, f"{label}: {key}.name", problems)
    check_topic_settings(values.get("settings", {}), label, problems)
    _check_teaching(table, label, problems)


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
