"""The vocabularies that the generated webs are written with, from ``data/words.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class WordLists:
    """The words of one topic; common ones come first."""

    title: str = ""
    nouns: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@cache
def vocabularies() -> dict[str, WordLists]:
    """The topics' vocabularies, ``common`` for the words that every text shares, ``greek`` and ``chinese``."""
    tables = tomllib.loads(files("focused.lab.demo").joinpath("data/words.toml").read_text("utf-8"))
    return {
        name: WordLists(table.pop("title", ""), **{kind: tuple(words.split()) for kind, words in table.items()})
        for name, table in tables.items()
    }
