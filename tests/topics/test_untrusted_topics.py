"""With FOCUSED_TOPICS_TRUSTED off, a topic file can neither run code, nor reach further, nor be read for ever."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.settings import Settings

from focused.defaults import SETTINGS
from focused.topics.examples import read_examples
from focused.topics.library import MOST_UNTRUSTED
from focused.topics.settings import HARMLESS, apply_settings
from focused.topics.topic import Topic, TopicError, load_topic

PLAIN = 'name = "birds"\nkeywords = ["bird"]\nseeds = ["http://a.example/"]\n'
EXAMPLES = 'name = "birds"\nfocus = ["birds"]\nexamples = "{}"\nseeds = ["http://a.example/"]\n'
TABLE = "class\tfile\nbirds\t{}\n"


def load(folder: Path, text: str, *, trusted: bool = False) -> Topic:
    (folder / "birds.toml").write_text(text)
    topic = load_topic(str(folder / "birds.toml"), trusted=trusted)
    if topic.examples:
        read_examples(topic)
    return topic


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "topics").mkdir()
    return tmp_path / "topics"


@pytest.mark.parametrize(
    "lines",
    [
        '[settings]\nITEM_PIPELINES = {"os.system" = 1}',
        "[settings]\nFOCUSED_STOP_PAGES = 0",
        "[settings]\nFOCUSED_TOPICS_TRUSTED = true",
        '[settings]\nFOCUSED_INNER_ADDRESSES = "allow"',
        '[settings]\nFOCUSED_ARCHIVE = "/tmp"',
        '[critic]\nname = "os.system"',
        '[prioritizer]\nname = "evil.Prioritizer"',
    ],
)
def test_what_would_run_code_or_reach_further_is_refused(folder: Path, lines: str) -> None:
    with pytest.raises(TopicError) as refused:
        load(folder, PLAIN + lines)
    (line,) = [line for line in refused.value.problems if "not trusted" in line]
    assert line.startswith(str(folder / "birds.toml"))
    assert "FOCUSED_TOPICS_TRUSTED=True" in line
    assert load(folder, PLAIN + '[settings]\nFOCUSED_PATIENCE = 0.3\n[prioritizer]\nname = "focused"').settings


def test_nothing_harmless_reaches_further() -> None:
    assert SETTINGS.keys() >= HARMLESS
    assert not [name for name in HARMLESS if name.startswith(("FOCUSED_SCOPE", "FOCUSED_STOP", "FOCUSED_INNER"))]


def _outside(path: Path) -> None:
    secret = path.parent.parent / "secret"
    secret.write_text("class\ttext\nbirds\ta secret\n")
    path.symlink_to(secret)


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, MOST_UNTRUSTED + 1)


STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link that leads out": (_outside, "outside the topic's folder"),
    "a pipe": (os.mkfifo, "not a plain file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "outside the topic's folder"),
    "large": (_large, "larger than 16 MB"),
    "a folder": (lambda path: path.mkdir(), "not a plain file"),
}


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("which", ["the topic", "the examples", "an example"])
def test_a_file_that_is_not_the_strangers_own_or_has_no_end(folder: Path, strange: str, which: str) -> None:
    make, reason = STRANGE[strange]
    name = {"the topic": "birds.toml", "the examples": "birds.tsv", "an example": "bird.html"}[which]
    make(folder / name)
    if which == "an example":
        (folder / "birds.tsv").write_text(TABLE.format(name))
        reason = "there is no file" if strange in {"a pipe", "a device", "a folder"} else reason
    if which != "the topic":
        (folder / "birds.toml").write_text(EXAMPLES.format("birds.tsv"))
    with pytest.raises(TopicError) as refused:
        read_examples(load_topic(str(folder / "birds.toml"), trusted=False))
    assert reason in str(refused.value)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("given", ["../secret.tsv", "{}/secret.tsv"])
def test_a_path_that_leads_out(folder: Path, given: str) -> None:
    (folder.parent / "secret.tsv").write_text("class\ttext\nbirds\ta bird\nother\ta stone\n")
    text = EXAMPLES.format(given.format(folder.parent))
    with pytest.raises(TopicError, match="outside the topic's folder"):
        load(folder, text)
    assert load(folder, text, trusted=True).is_trusted


def test_what_is_beside_the_topic_is_read(folder: Path) -> None:
    (folder / "bird.html").write_text("<p>a bird")
    (folder / "birds.tsv").write_text(TABLE.format("bird.html"))
    assert not load(folder, EXAMPLES.format("birds.tsv")).is_trusted
    assert load_topic("university-courses", trusted=False).examples, "a shipped topic is nobody's upload"


def test_a_stranger_may_narrow_where_a_crawl_goes_and_not_widen_it(folder: Path) -> None:
    topic = load(folder, PLAIN + 'allowed_hosts = ["b.example"]\n')
    for _ in range(2):
        settings = Settings()
        apply_settings(topic, settings)
        apply_settings(topic, settings)
    with pytest.raises(ValueError, match=r"allowed_hosts: b\.example: .* cannot add to FOCUSED_SCOPE_ALLOWED_HOSTS"):
        apply_settings(topic, Settings({"FOCUSED_SCOPE_ALLOWED_HOSTS": ["a.example"]}))
