"""docs/topics.md has every key, argument and refused setting, and its worked example works."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from focused.topics.arguments import KINDS
from focused.topics.examples import read_examples
from focused.topics.keys import KEYS
from focused.topics.library import shipped_topics
from focused.topics.settings import HARMLESS, READ_BEFORE_THE_SPIDER
from focused.topics.topic import load_topic

PAGE = (Path(__file__).parents[2] / "docs" / "topics.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", text, re.M)


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
    return found


def test_every_key_of_a_topic_file_is_there_in_order() -> None:
    assert first_cells(section("The topic file")) == list(KEYS)


def test_every_argument_is_there_in_order() -> None:
    assert first_cells(section("Arguments of the spider")) == list(KINDS)


def test_the_page_on_pitfalls_names_settings_that_are_refused_and_one_that_is_not() -> None:
    pitfalls = (Path(__file__).parents[2] / "docs" / "pitfalls.md").read_text(encoding="utf-8")
    refused, _, allowed = pitfalls.partition("Scrapy reads some settings before")[2].partition("refused by name")
    assert set(re.findall(r"`([A-Z_]+)`", refused)) <= READ_BEFORE_THE_SPIDER
    assert re.findall(r"`([A-Z_]+)`", allowed.partition("\n- ")[0]) == ["SCHEDULER"]
    assert "SCHEDULER" not in READ_BEFORE_THE_SPIDER


def test_every_refused_setting_is_there() -> None:
    refused = section("The topic file").partition("refused by name")[2].partition("`LOG_FILE`")[0]
    assert re.findall(r"`([A-Z_]+)`", refused) == sorted(READ_BEFORE_THE_SPIDER)


def test_every_setting_is_there_that_a_stranger_may_set() -> None:
    allowed = section("The topic file").partition("other settings than")[2].partition(";")[0]
    assert re.findall(r"`([A-Z_]+)`", allowed) == sorted(HARMLESS)


def test_every_shipped_topic_is_there() -> None:
    assert ", ".join(shipped_topics()) in section("Three ways to name one")


def test_the_worked_example_works(tmp_path: Path) -> None:
    (tmp_path / "tea.toml").write_text(block("toml"), encoding="utf-8")
    (tmp_path / "tea.tsv").write_text(block("tsv"), encoding="utf-8")
    topic = load_topic("tea.toml", folder=tmp_path, seeds_needed=True)
    assert Counter(example.class_name for example in read_examples(topic)) == {
        "drinks.coffee": 1,
        "drinks.tea.drinking": 2,
        "drinks.tea.making": 1,
        "other": 1,
    }
