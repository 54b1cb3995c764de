"""The page on the classics: every one has its section, every option its row with the right default."""

from __future__ import annotations

import json
import re
from inspect import signature
from pathlib import Path

import pytest

from focused.registry import find

TEXT = (Path(__file__).parents[3] / "docs" / "classics.md").read_text(encoding="utf-8")
CLASSICS = ("cosine", "fish-search", "shark-search", "context-graph", "q-learning")
INHERITED = {"critic", "combine", "seed"}


@pytest.mark.parametrize("name", CLASSICS)
def test_every_option_is_listed_with_its_default(name):
    section = TEXT.split(f"\n## {name}\n")[1].split("\n## ")[0]
    listed = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE))
    parameters = signature(find("prioritizer", name)).parameters
    defaults = {option: one.default for option, one in parameters.items() if option not in INHERITED}
    assert set(listed) - {"combine"} == set(defaults)
    for option, default in defaults.items():
        assert (
            listed[option] == "decided by the paths"
            if default is None
            else json.loads(listed[option].strip("`")) == default
        )


@pytest.mark.parametrize("name", CLASSICS)
def test_how_links_are_combined_by_default_is_told_where_it_is_not_the_usual(name):
    default = signature(find("prioritizer", name)).parameters["combine"].default
    section = TEXT.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert ('| `combine` | `"max"` |' in section) == (default == "max")
