"""The page on lexical profiles: its tables have every option, with its default."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

import pytest

from focused.papers.critics.lexical import LexicalCritic
from focused.papers.prioritizers.lexical import Lexical

TEXT = (Path(__file__).parents[3] / "docs" / "lexical.md").read_text(encoding="utf-8")
TOLD_IN_WORDS = {"a": None, "b": None, "c": None, "languages": ()}


@pytest.mark.parametrize(("title", "kind"), [("## The critic", LexicalCritic), ("## The prioritizer", Lexical)])
def test_every_option_is_listed_with_its_default(title, kind):
    section = TEXT.split(title)[1].split("\n## ")[0]
    listed = {}
    for names, defaults in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.+?) \|", section, re.MULTILINE):
        found = re.findall(r"`(\w+)`", names)
        values = defaults.split(", ") if len(found) == len(defaults.split(", ")) else [defaults] * len(found)
        listed |= dict(zip(found, values, strict=True))
    defaults = {name: one.default for name, one in signature(kind).parameters.items() if name != "critic"}
    assert listed.keys() == defaults.keys()
    for name, default in defaults.items():
        if name in TOLD_IN_WORDS:
            assert default == TOLD_IN_WORDS[name]
        else:
            told = f'"{default}"' if isinstance(default, str) else str(default).lower()
            assert listed[name].strip("`") == told, name
