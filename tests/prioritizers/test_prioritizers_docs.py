"""The page on prioritizers: its example works, its tables are complete."""

from __future__ import annotations

import json
import re
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focused.papers.prioritizers.apprentice import Apprentice
from focused.parts import DEFAULT_PRIORITIZER
from focused.prioritizers.focused import Focused
from focused.prioritizers.options import build
from focused.registry import names
from tests.prioritizers.prioritizer_cases import evidence_of, lessons_of

DOCS = Path(__file__).parent.parent.parent / "docs"
TEXT = (DOCS / "prioritizers.md").read_text(encoding="utf-8")
BODY = "<a href=/a>a</a><a href=/b>many words in this one</a>"


@pytest.fixture(scope="module")
def example():
    text = (DOCS / "write-a-prioritizer.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1], names)
    return names["LongAnchors"]


def first_cells(title):
    section = TEXT.split(title)[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_every_prioritizer_is_listed():
    assert first_cells("# Prioritizers: judges of links")[: len(names("prioritizer"))] == list(names("prioritizer"))


@pytest.mark.parametrize(
    ("title", "prioritizer"), [("## The default: focused", Focused), ("## The apprentice", Apprentice)]
)
def test_every_option_is_listed_with_its_default(title, prioritizer):
    section = TEXT.split(f"{title}\n")[1].split("\n## ")[0]
    listed = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", section, re.MULTILINE))
    parameters = {name: one.default for name, one in signature(prioritizer).parameters.items() if name != "critic"}
    assert {name: json.loads(default.strip("`")) for name, default in listed.items()} == parameters


def test_the_default_is_named():
    assert f"else it is `{DEFAULT_PRIORITIZER}`" in TEXT
    assert f"\n## The default: {DEFAULT_PRIORITIZER}\n" in TEXT


def test_the_example_scores(example):
    prioritizer = build(example, {"enough": 10})
    assert np.allclose(prioritizer.score(evidence_of(prioritizer, BODY)), [0.1, 0.5])


def test_the_example_learns_and_comes_back(example):
    prioritizer: Any = build(example, {})
    taught = prioritizer.learn(lessons_of(evidence_of(prioritizer, BODY), [0.1, 0.9]))
    back: Any = build(example, {})
    back.restore(taught.state())
    assert back.enough == taught.enough == prioritizer.enough
    assert prioritizer.learn(lessons_of(evidence_of(prioritizer, BODY), [0.1, 0.1])) is None


def test_the_example_refuses_bad_options(example):
    with pytest.raises(ValueError, match="enough=0"):
        build(example, {"enough": 0})
