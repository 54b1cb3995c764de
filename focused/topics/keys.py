"""The keys of a topic file: what each takes, and what must be there together. All mistakes are found at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from focused.addresses import to_host, to_url
from focused.defaults import CRITIC_NAME, PRIORITIZER_NAME
from focused.pages.tokens import words
from focused.problems import Problems, did_you_mean
from focused.registry import own
from focused.schema import TABLE, Kind, ListKind, typed
from focused.topics.settings import check_topic_settings


def _to_words(text: str) -> str:
    if not words(text):
        raise ValueError(f"{text!r} has no letter or digit: give words")
    return text


class _PartTable(Kind):
    """A table whose ``name`` chooses a critic or prioritizer. Its other keys are options, checked when one is made."""

    def __init__(self, name: Kind) -> None:
        super().__init__(TABLE.words, TABLE.to_value)
        self._name = name

    def convert(self, value: Any, where: str, problems: Problems) -> Any:
        table = super().convert(value, where, problems)
        if table and "name" in table:
            self._name.convert(table["name"], f"{where}.name", problems)
        return table


class _SettingsTable(Kind):
    """Scrapy's settings and ours."""

    def convert(self, value: Any, where: str, problems: Problems) -> Any:
        table = super().convert(value, where, problems)
        check_topic_settings(table or {}, where, problems)
        return table


KEYS = {
    #: The name of the topic; its folder under `models/` is named after it
    "name": Kind("text in quotes", lambda value: _to_words(typed(str).to_value(value))),
    #: For human readers: what belongs to the topic and what does not
    "description": typed(str),
    #: Words and phrases, in any language, that wanted pages use
    "keywords": ListKind(_to_words),
    #: The http(s) addresses to start from; `-a seeds=` replaces them
    "seeds": ListKind(to_url),
    #: A table of example pages, beside the topic file (see below)
    "examples": typed(str),
    #: The classes that are wanted. A prefix includes its subtree: `Science.Biology` includes `Science.Biology.Birds`
    "focus": ListKind(_to_words),
    #: Crawl only these hosts and their subdomains; `-a allow_hosts=` adds to them
    "allowed_hosts": ListKind(to_host),
    #: `name` chooses the [critic](critics.md), which judges pages; the other keys are its options
    "critic": _PartTable(CRITIC_NAME),
    #: `name` chooses the [prioritizer](prioritizers.md), which judges links; the other keys are its options
    "prioritizer": _PartTable(PRIORITIZER_NAME),
    #: Scrapy's settings and ours, for this topic
    "settings": _SettingsTable(TABLE.words, TABLE.to_value),
}


def convert_keys(table: Mapping[str, Any], label: str, problems: Problems) -> dict[str, Any]:
    """The values of a topic file, converted; ``label`` is how the user knows the file."""
    for key in (key for key in table if key not in KEYS):
        what = "settings belong under [settings]" if key.isupper() else f"unknown key{did_you_mean(key, KEYS)}"
        problems.add(f"{label}: {key}", what)
    for key, what in _missing(table):
        problems.add(f"{label}: {key}", what)
    return {key: kind.convert(table[key], f"{label}: {key}", problems) for key, kind in KEYS.items() if key in table}


def _missing(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A critic learns from examples and a focus, or reads keywords; one brought by the user may need neither."""
    examples, focus, keywords, critic = (table.get(key) for key in ("examples", "focus", "keywords", "critic"))
    name = critic.get("name", "") if isinstance(critic, dict) else ""
    brought = bool(name) and name not in {entry.name for entry in own("focused.critics")}
    missing = [] if "name" in table else [("name", "missing")]
    if examples and not focus:
        missing.append(("focus", "missing: with examples, name the classes that are wanted"))
    if focus and not examples and not brought:
        missing.append(("focus", "needs examples: it names classes of the examples file"))
    if not examples and not keywords and not brought:
        missing.append(("keywords", "missing: a topic without examples is described by its keywords"))
    return missing
