"""Example tables: read whole, or refused with every bad line named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from focused.topics.examples import Example, check_focus, read_examples
from focused.topics.topic import Topic, TopicError

CORPORA = Path(os.environ.get("FOCUSED_CORPORA", Path(__file__).parents[2].parent / "shared" / "corpora"))


def topic_of(folder: Path, table: str | bytes, focus: tuple[str, ...] = ("birds",)) -> Topic:
    path = folder / "pages.tsv"
    path.write_bytes(table if isinstance(table, bytes) else table.encode())
    return Topic(name="birds", examples=str(path), focus=list(focus))


def problems_of(topic: Topic) -> list[str]:
    """The problems, each without the path before the line's number."""
    with pytest.raises(TopicError) as caught:
        read_examples(topic)
    return [problem.removeprefix(topic.examples).removeprefix(":") for problem in caught.value.problems]


def test_each_row_is_an_example_of_one_of_three_kinds(tmp_path: Path) -> None:
    (tmp_path / "kite.html").write_text("<p>a kite", encoding="utf-8")
    topic = topic_of(
        tmp_path,
        "class\turl\tfile\ttext\tuniversity\n"
        "birds.prey\tHTTPS://Birds.example/eagle#wings\t\t\tcornell\n"
        "birds.prey\t\tkite.html\t\ttexas\n"
        "\n"
        "other\t\t\tA text, \"with quotes\" and 'others'.\n",
    )
    assert read_examples(topic) == [
        Example(class_name="birds.prey", url="https://birds.example/eagle", extra={"university": "cornell"}, line=2),
        Example(class_name="birds.prey", file=str(tmp_path / "kite.html"), extra={"university": "texas"}, line=3),
        Example(class_name="other", text="A text, \"with quotes\" and 'others'.", extra={"university": ""}, line=5),
    ]


def test_an_example_tells_its_kind() -> None:
    assert Example(class_name="a", text="some words").source == ("text", "some words")
    assert Example(class_name="a", url="https://a.example/").source == ("url", "https://a.example/")


def test_byte_order_mark_and_windows_lines_are_no_part_of_the_table(tmp_path: Path) -> None:
    topic = topic_of(tmp_path, b"\xef\xbb\xbfclass\ttext\r\nbirds\tan eagle\r\n")
    assert [example.source for example in read_examples(topic)] == [("text", "an eagle")]


def test_only_line_feeds_end_a_row(tmp_path: Path) -> None:
    (example,) = read_examples(topic_of(tmp_path, "class\ttext\nbirds\tan eagle\u2028and\x85a\x1ekite\n"))
    assert example.text == "an eagle\u2028and\x85a\x1ekite"


def test_positives_alone_are_allowed(tmp_path: Path) -> None:
    topic = topic_of(tmp_path, "class\ttext\nbirds\tan eagle\nbirds\ta kite\n")
    assert [example.class_name for example in read_examples(topic)] == ["birds", "birds"]


def test_every_bad_line_is_told_at_once(tmp_path: Path) -> None:
    topic = topic_of(
        tmp_path,
        "class\turl\tfile\ttext\n"
        "\thttps://a.example/\n"
        "birds\thttps://b.example/\t\tand a text\n"
        "birds\n"
        "birds\t\tabsent.html\n"
        "birds\tftp://c.example/\n"
        "birds\ta\tb\tc\td\te\n"
        "birds..prey\thttps://d.example/\n"
        "birds\thttps://e.example/\n"
        "birds\thttps://E.example/#again\n"
        "other\thttps://e.example/\n",
    )
    assert problems_of(topic) == [
        "2: class is empty",
        "3: fill exactly one of url, file and text, not url and text",
        "4: fill exactly one of url, file and text, not none",
        "5: there is no file 'absent.html' beside the table",
        "6: 'ftp://c.example/' is not an http(s) address",
        "7: 6 columns, the header has 4",
        "8: class 'birds..prey' has an empty part",
        "10: the same url as in line 9",
        "11: the same url as in line 9, there as 'birds' and here as 'other'",
    ]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("", ["1: empty"]),
        ("class\ttext\n", [": has a header and no examples"]),
        ("class\ttext\n\n \n", [": has a header and no examples"]),
        ("Class\ttext\nbirds\tx\n", ["1: no column 'class' among 'Class', 'text'"]),
        ("class\tlink\nbirds\tx\n", ["1: no column 'url', 'file' or 'text'"]),
        ("class\ttext\ttext\nbirds\tx\n", ["1: column 'text' appears twice"]),
        ("url,class\nhttps://a.example/,birds\n", ["1: no column 'class'", "1: no column 'url'"]),
        (b"class\ttext\nbirds\tx\nbirds\t\xff\n", ["3:7: not UTF-8: byte 0xff"]),
    ],
)
def test_a_table_that_is_none_says_why(tmp_path: Path, table: str | bytes, told: list[str]) -> None:
    problems = problems_of(topic_of(tmp_path, table))
    assert len(problems) == len(told)
    for problem, start in zip(problems, told, strict=True):
        assert problem.startswith(start.removeprefix(":"))


def test_a_table_that_has_gone_is_told(tmp_path: Path) -> None:
    topic = topic_of(tmp_path, "class\ttext\nbirds\tx\n")
    Path(topic.examples).unlink()
    assert problems_of(topic) == [" there is no such file"]


def test_a_topic_without_examples_says_how_to_give_some() -> None:
    with pytest.raises(TopicError, match="key 'examples'"):
        read_examples(Topic(name="birds"))


def test_thousands_of_bad_lines_make_a_bounded_message(tmp_path: Path) -> None:
    topic = topic_of(tmp_path, "class\ttext\n" + "birds\t\n" * 5_000)
    with pytest.raises(TopicError) as caught:
        read_examples(topic)
    assert len(caught.value.problems) == 5_000
    assert str(caught.value).count("\n") < 200
    assert str(caught.value).endswith("more")


@pytest.mark.parametrize("focus", [["Science"], ["Science.Biology"], ["Science.Biology.Birds", "Arts"]])
def test_a_focus_matches_classes_and_their_prefixes(focus: list[str]) -> None:
    check_focus(focus, ["Science.Biology.Birds", "Arts"])


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("Science.Biologie", "did you mean 'Science.Biology'?"),
        ("science", "did you mean 'Science'?"),
        ("Music", "(its classes: Arts, Science, Science.Biology, Science.Biology.Birds)"),
    ],
)
def test_a_focus_that_matches_nothing_gets_a_hint(wanted: str, hint: str) -> None:
    with pytest.raises(TopicError) as caught:
        check_focus(["Arts", wanted], ["Science.Biology.Birds", "Arts"])
    (problem,) = caught.value.problems
    assert problem.startswith(f"focus: {wanted!r} matches no class")
    assert hint in problem


def test_reading_checks_the_focus(tmp_path: Path) -> None:
    (problem,) = problems_of(topic_of(tmp_path, "class\ttext\nbirds\tx\n", focus=("brids",)))
    assert "did you mean 'birds'?" in problem


@pytest.mark.parametrize(
    ("name", "focus"), [("wpcd", "Science.Biology.Birds"), ("uci", "course.home"), ("webkb", "course")]
)
def test_the_tables_of_the_corpora_are_read(name: str, focus: str) -> None:
    path = CORPORA / f"{name}.examples.tsv"
    if not path.is_file():
        pytest.skip(f"the corpora are not in {CORPORA} (set FOCUSED_CORPORA)")
    examples = read_examples(Topic(name=name, examples=str(path), focus=[focus]))
    assert len(examples) == len(path.read_text(encoding="utf-8").strip().split("\n")) - 1
