"""The topic file of a new crawl is what was given and marked, is read as a stranger's, and overwrites nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scrapy.settings import Settings

from focused.files import NotWritten
from focused.topics.examples import read_examples
from focused.topics.marked import Marked, add_examples
from focused.topics.topic import Topic, load_topic
from focused.watch.topic_file import BegunCrawl, topic_of_words, topic_to_toml
from tests.full_disk import no_file_over

SEED = "https://tea.example/"
MARKS = {f"{SEED}yes": True, f"{SEED}no": False}
TEXT = topic_to_toml("tea", ["tea", "oolong"], [SEED])
HOSTILE = [
    '"',
    "\\",
    '"""',
    "'''",
    "a\nb = 1",
    "[x]",
    "\x7f\x00\u202e",
    "é天\U0001f375",
    "# no",
    "{{ x }}",
    "tab\there",
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings({"FOCUSED_MODELS": str(tmp_path / "models")})


@pytest.fixture
def place(tmp_path: Path) -> BegunCrawl:
    return BegunCrawl(tmp_path / "jobs", "tea")


@pytest.mark.parametrize(
    ("words", "seeds", "said"),
    [
        (" ,\n", SEED, ["new crawl: words: missing: give words"]),
        ("tea", " ", ["new crawl: seeds: missing: give the address"]),
        ("", "", ["words: missing", "seeds: missing"]),
        ("tea, ?!", SEED, ["'?!' has no letter or digit: give words"]),
        ("tea", "tea.example/x", ["'tea.example/x' is not an http(s) address; did you mean 'https://tea.example/x'?"]),
        ("...", "ftp://x/ javascript:1", ["'...' has no letter", "'ftp://x/' is not", "'javascript:1' is not"]),
        ("tea", "http://0x7f.1/ http://nas.local/", ["is an inner address", "is the name of an inner host"]),
        ("tea", f"{SEED} " * 51, ["51 are too many: give at most 50"]),
        ("tea" * 50_000, SEED, ["more than 100,000 characters"]),
    ],
)
def test_each_mistake_is_told_in_a_sentence(settings: Settings, words: str, seeds: str, said: list[str]) -> None:
    with pytest.raises(ValueError, match=r"new crawl|inner") as error:
        topic_of_words("", words, seeds, settings)
    assert [part for part in said if part not in str(error.value)] == []


def test_inner_seeds_that_are_allowed_are_taken() -> None:
    inner = "http://127.0.0.1:80/"
    for name, value in (("FOCUSED_INNER_ALLOWED", "127.0.0.1"), ("FOCUSED_INNER_ADDRESSES", "allow")):
        assert topic_of_words("", "tea", inner, Settings({name: value})).seeds == ["http://127.0.0.1/"]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_was_given_is_what_the_file_says_and_nothing_else(tmp_path: Path, settings: Settings, text: str) -> None:
    topic = topic_of_words(f"n {text}", f"k {text}", SEED, settings)
    (tmp_path / "x.toml").write_text(topic_to_toml(topic.name, topic.keywords, topic.seeds), "utf-8")
    read = load_topic("x.toml", folder=tmp_path, trusted=False)
    assert (read.name, read.keywords, read.seeds) == (topic.name, topic.keywords, [SEED])
    assert (read.settings, read.critic, read.examples) == ({}, {}, "")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/x", "..", "a/b", "a\\b", "CON", "天文学", "x" * 500, ".hidden a"]
)
def test_names_become_names_of_files_in_the_folder(tmp_path: Path, name: str) -> None:
    place = BegunCrawl.of(tmp_path, Topic(name=f"{name} x"))
    assert {path.resolve().parent for path in (place.job, place.topic, place.table, place.log)} == {tmp_path.resolve()}
    assert place.name.isascii()
    assert not place.name.startswith(("-", "."))
    assert 0 < len(place.name) < 80


def test_marks_become_the_examples_that_the_command_would_write(place: BegunCrawl, settings: Settings) -> None:
    files = place.files_of(TEXT, MARKS, settings)
    place.write(files)
    by_hand = place.folder / "hand" / place.topic.name
    by_hand.parent.mkdir()
    by_hand.write_text(TEXT)
    add_examples(str(by_hand), [Marked(url, is_wanted) for url, is_wanted in MARKS.items()])
    assert place.topic.read_text() == by_hand.read_text()
    assert place.table.read_text() == by_hand.with_suffix(".tsv").read_text()
    topic = load_topic(str(place.topic), trusted=False)
    assert [(one.url, one.class_name) for one in read_examples(topic)] == [
        (f"{SEED}yes", "wanted"),
        (f"{SEED}no", "unwanted"),
    ]
    # Edited again, and with other marks.
    again = place.files_of(f"# mine\n{files.toml}", {f"{SEED}other": True}, settings)
    assert again.toml == f"# mine\n{files.toml}"
    assert again.table == f"class\turl\nwanted\t{SEED}other\n"
    assert place.files_of(TEXT, {}, settings).table == ""


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("[settings]\nITEM_PIPELINES = {'os.system' = 1}", "tea.topic.toml: settings.ITEM_PIPELINES: not allowed in a"),
        ("[settings]\nLOG_FILE = '/etc/x'", "settings.LOG_FILE: not allowed"),
        ("[critic]\nname = 'os.system'", "critic.name: 'os.system' is not allowed"),
        ("[critic]\nstrength = -1", "strength=-1: give a number"),
        ("[prioritizer]\nname = 'os.system'", "prioritizer.name: 'os.system' is not allowed"),
        ("examples = '/etc/passwd'\nfocus = ['x']", "it is outside the topic's folder"),
        ("examples = '../x.tsv'\nfocus = ['x']", "'../x.tsv' cannot be read: it is outside"),
        ("examples = 'tea.topic.tsv'\nfocus = ['stars']", "focus: 'stars' matches no class of"),
        ("colour = 1", "tea.topic.toml: colour: unknown key"),
        ("x = = 1", "tea.topic.toml:9:5: not TOML"),
        ("x = " + "[" * 5_000, "nested too deeply"),
        ("# " + "x" * 200_000, "it has more than 100,000 characters"),
    ],
)
def test_a_text_that_was_edited_may_say_no_more_than_a_strangers(
    place: BegunCrawl, settings: Settings, added: str, said: str
) -> None:
    with pytest.raises(ValueError, match=r"\w") as error:
        place.files_of(f"{TEXT}{added}\n", MARKS, settings)
    assert said in str(error.value)
    assert "/tmp" not in str(error.value).replace(str(place.folder), ""), "where it was tried is nobody's business"
    assert "TRUSTED" not in str(error.value), "that is no way out here"
    assert not place.folder.exists()


def test_seeds_that_were_edited_go_through_the_guard_and_marks_need_a_yes(
    place: BegunCrawl, settings: Settings
) -> None:
    with pytest.raises(ValueError, match="is an inner address"):
        place.files_of(topic_to_toml("tea", ["tea"], ["http://10.0.0.1/"]), {}, settings)
    with pytest.raises(ValueError, match="seeds: missing"):
        place.files_of('name = "tea"\nkeywords = ["tea"]\n', {}, settings)
    with pytest.raises(ValueError, match="mark one that is wanted with yes as well"):
        place.files_of(TEXT, {SEED: False}, settings)


@pytest.mark.parametrize("which", ["job", "topic", "table", "log"])
@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_nothing_that_is_there_is_overwritten(place: BegunCrawl, settings: Settings, which: str, kind: str) -> None:
    files = place.files_of(TEXT, MARKS, settings)
    there: Path = getattr(place, which)
    there.parent.mkdir()
    {"file": lambda: there.write_text("mine"), "folder": there.mkdir}.get(kind, lambda: there.symlink_to("nowhere"))()
    with pytest.raises(ValueError, match="is there already: give the new crawl another name"):
        place.check_free(settings)
    if which in {"topic", "table"}:
        # It has come in between.
        with pytest.raises(ValueError, match="is there already"):
            place.write(files)
        assert os.listdir(place.folder) == [there.name]


def test_a_trained_critic_of_this_name_is_not_taken_over(place: BegunCrawl, settings: Settings, tmp_path: Path) -> None:
    place.check_free(settings)
    (tmp_path / "models" / "tea").mkdir(parents=True)
    with pytest.raises(ValueError, match="models/tea' is there already"):
        place.check_free(settings)


@pytest.mark.parametrize("room", [0, 80])
def test_a_full_disk_is_told_and_leaves_nothing(place: BegunCrawl, settings: Settings, room: int) -> None:
    files = place.files_of(TEXT, MARKS, settings)
    assert len(files.table) < 80 < len(files.toml)
    with no_file_over(room), pytest.raises(NotWritten, match=r"cannot be written .*: make room and try again"):
        place.write(files)
    assert os.listdir(place.folder) == []
    place.write(files)
    with no_file_over(room), pytest.raises(NotWritten):
        place.files_of(TEXT, MARKS, settings)
