"""Marks become examples of a topic: nothing else of its files changes, and twice is the same as once."""

from __future__ import annotations

from pathlib import Path

import pytest

from focused.topics.examples import read_examples
from focused.topics.marked import Marked, add_examples
from focused.topics.topic import TopicError, load_topic

YES, NO = Marked("http://h.example/yes", True), Marked("http://h.example/no", False)
WORDS = '# mine\nname = "tea"\nkeywords = [\n  "tea", # one\n  "[oolong]",\n]\ndescription = """\n[not a table]\n"""'
TABLE = "\n\n# polite\n[settings]\nDOWNLOAD_DELAY = 2\n"
KEYS = 'examples = "tea.tsv"\nfocus = ["wanted"]\n'


def write(folder: Path, text: str, table: str = "") -> str:
    (folder / "tea.toml").write_text(text)
    if table:
        (folder / "tea.tsv").write_text(table, newline="")
    return str(folder / "tea.toml")


def classes(file: str) -> dict[str, str]:
    return {one.url: one.class_name for one in read_examples(load_topic(file)) if one.url}


@pytest.mark.parametrize("end", ["", "\n", TABLE])
def test_a_topic_of_words_gets_a_table_and_keeps_its_comments(tmp_path: Path, end: str) -> None:
    file = write(tmp_path, WORDS + end)
    added = add_examples(file, [YES, NO])
    assert (added.added, added.changed) == (2, 0)
    text = (tmp_path / "tea.toml").read_text()
    assert text.replace(KEYS, "").split() == (WORDS + end).split()
    assert classes(file) == {YES.url: "wanted", NO.url: "unwanted"}
    assert load_topic(file).settings == ({"DOWNLOAD_DELAY": 2} if end == TABLE else {})
    assert add_examples(file, [YES, NO]).added == 0
    assert (tmp_path / "tea.toml").read_text() == text


@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_rows_are_added_to_a_table_that_stays_as_it_is(tmp_path: Path, line: str) -> None:
    rows = ["class\tside\turl\ttext", "tea.green\teast\thttp://h.example/a", "coffee\t\t\tBeans, roasted", ""]
    text = f'{WORDS}\nexamples = "tea.tsv"\nfocus = ["tea"]\n'
    file = write(tmp_path, text, line.join([*rows, ""]))
    marked = [YES, NO, Marked("http://h.example/b", True, "tea.black"), Marked("http://h.example/a", True, "tea.white")]
    added = add_examples(file, marked)
    assert (added.added, added.changed) == (3, 1)
    assert (tmp_path / "tea.toml").read_text() == text
    assert classes(file) == {
        "http://h.example/a": "tea.white",
        YES.url: "tea.green",
        NO.url: "coffee",
        "http://h.example/b": "tea.black",
    }
    new = (tmp_path / "tea.tsv").read_bytes().decode().split(line)
    assert new[1] == "tea.white\teast\thttp://h.example/a"
    assert new[2:4] == rows[2:4]


def test_a_table_of_texts_gets_a_column_of_addresses(tmp_path: Path) -> None:
    file = write(tmp_path, f'{WORDS}\nexamples = "tea.tsv"\nfocus = ["tea"]\n', "class\ttext\ntea\tLeaves\n")
    add_examples(file, [YES])
    assert (tmp_path / "tea.tsv").read_text() == "class\ttext\turl\ntea\tLeaves\ntea\t\thttp://h.example/yes\n"


def test_a_mark_that_contradicts_an_example_changes_it(tmp_path: Path) -> None:
    rows = f"class\turl\ntea\t{YES.url}\ntea\thttp://h.example/a\ncoffee\t{NO.url}\n"
    file = write(tmp_path, f'{WORDS}\nexamples = "tea.tsv"\nfocus = ["tea"]\n', rows)
    assert add_examples(file, [YES, NO]).changed == 0
    assert add_examples(file, [Marked(YES.url, False)]).changed == 1
    assert classes(file) == {YES.url: "coffee", "http://h.example/a": "tea", NO.url: "coffee"}
    with pytest.raises(TopicError, match="no example of 'tea' would be there: mark a page of it with yes as well"):
        add_examples(file, [Marked("http://h.example/a", False)])
    assert classes(file)["http://h.example/a"] == "tea"


def test_an_example_of_a_narrower_class_stays(tmp_path: Path) -> None:
    rows = f"class\turl\ntea.green\thttp://h.example/a\ntea.black\t{YES.url}\n"
    file = write(tmp_path, f'{WORDS}\nexamples = "tea.tsv"\nfocus = ["tea"]\n', rows)
    assert add_examples(file, [YES]) == add_examples(file, [YES])
    assert classes(file)[YES.url] == "tea.black", "it says as much"


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        (Marked(YES.url, True, "coffee"), "is marked as wanted and of class 'coffee', which the focus contradicts"),
        (Marked(YES.url, False, "tea.black"), "is marked as not wanted and of class 'tea.black'"),
    ],
)
def test_a_class_that_contradicts_the_mark_is_refused(tmp_path: Path, marked: Marked, said: str) -> None:
    rows = "class\turl\ntea\thttp://h.example/a\ncoffee\thttp://h.example/b\n"
    file = write(tmp_path, f'{WORDS}\nexamples = "tea.tsv"\nfocus = ["tea"]\n', rows)
    with pytest.raises(TopicError, match=said):
        add_examples(file, [marked])
    assert (tmp_path / "tea.tsv").read_text() == rows


def test_what_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="no example of 'wanted' would be there"):
        add_examples(write(tmp_path, WORDS), [NO])
    file = write(tmp_path, WORDS, "class\turl\n")
    with pytest.raises(TopicError, match=r"tea\.tsv exists, and .* does not name it"):
        add_examples(file, [YES])
    with pytest.raises(TopicError, match="give a topic file of your own"):
        add_examples("astronomy", [YES])
