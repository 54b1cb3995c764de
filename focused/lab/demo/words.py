"""The vocabularies that the generated webs are written with, from ``data/words.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class WordLists:
    """The words of one topic; common ones come first."""

    name: str
    title: str
    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...]


@cache
def vocabularies() -> dict[str, WordLists]:
    """The topics' vocabularies, and ``common`` for the words that every text shares."""
    tables = _tables()
    return {
        name: WordLists(
            name=name,
            title=table.get("title", ""),
            nouns=_split(table["nouns"]),
            adjectives=_split(table["adjectives"]),
            verbs=_split(table["verbs"]),
            names=_split(table.get("names") or table["connectives"]),
        )
        for name, table in tables.items()
        if name != "scripts"
    }


@cache
def script_words(script: str) -> tuple[str, ...]:
    """Words about stars in another script: ``greek`` or ``chinese``."""
    return _split(_tables()["scripts"][script])


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("focused.lab.demo").joinpath("data/words.toml").read_text("utf-8"))


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())
