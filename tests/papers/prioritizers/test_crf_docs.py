"""The page on crf: every option has its row with the right default, and its example can be read."""

from __future__ import annotations

import json
import re
from inspect import signature
from pathlib import Path

from focused.papers.paths.reading import read_paths
from focused.papers.prioritizers.crf import Crf

TEXT = (Path(__file__).parents[3] / "docs" / "crf.md").read_text(encoding="utf-8")


def test_every_option_is_listed_with_its_default():
    listed = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", TEXT, re.MULTILINE))
    defaults = {name: one.default for name, one in signature(Crf).parameters.items() if name not in ("critic", "seed")}
    assert {name: json.loads(default.strip("`")) for name, default in listed.items()} == {**defaults, "headings": []}


def test_the_example_is_a_file_of_paths(tmp_path):
    file = tmp_path / "paths.jsonl"
    file.write_text(re.search(r"```json\n(.*?)```", TEXT, re.DOTALL).group(1))
    ends = [path.end for path in read_paths(file)]
    assert {"goal", "fail"} <= set(ends)
