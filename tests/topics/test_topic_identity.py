"""Names and digests of topics: the same for the same topic, and only for it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.topics.identity import fingerprint, slug
from focused.topics.topic import Topic

BIRDS = Topic(name="birds", keywords=["eagle", "Kite"], focus=["birds"])


def with_examples(folder: Path, table: str) -> Topic:
    folder.mkdir(exist_ok=True)
    (folder / "kite.html").write_text("<p>a kite", encoding="utf-8")
    path = folder / "pages.tsv"
    path.write_text(table, encoding="utf-8")
    return msgspec.structs.replace(BIRDS, examples=str(path))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("astronomy", "astronomy"), ("Classical Composers", "classical-composers"), (" rock  climbing ", "rock-climbing")],
)
def test_a_plain_name_stays_readable(name: str, expected: str) -> None:
    assert slug(Topic(name=name)) == expected


def test_names_that_lose_letters_stay_apart() -> None:
    names = ["C", "C++", "C#", "天文学", "气象学", "Málaga", "malaga", "a" * 100, "a" * 101, "AC/DC", "AC DC"]
    slugs = [slug(Topic(name=name)) for name in names]
    assert len(set(slugs)) == len(names)
    assert slugs[5].startswith("malaga-")


@given(st.text(min_size=1))
def test_a_slug_is_always_safe_for_a_folder(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(Topic(name=name + "x")))
    assert len(slug(Topic(name=name + "x"))) < 80


def test_a_fingerprint_stays_the_same_between_versions_or_all_models_are_refused() -> None:
    assert fingerprint(BIRDS) == "f33e77be899b177d"


@pytest.mark.parametrize(
    "change",
    [{"name": "bird"}, {"keywords": ["eagle"]}, {"keywords": ["eagleKite"]}, {"focus": ["birds.prey"]}],
)
def test_what_defines_a_topic_changes_its_fingerprint(change: dict[str, object]) -> None:
    assert fingerprint(msgspec.structs.replace(BIRDS, **change)) != fingerprint(BIRDS)


def test_what_does_not_define_it_does_not() -> None:
    same = msgspec.structs.replace(
        BIRDS,
        keywords=["kite", "eagle", "eagle"],
        description="Raptors.",
        seeds=["https://birds.example/"],
        settings={"DOWNLOAD_DELAY": 3},
    )
    assert fingerprint(same) == fingerprint(BIRDS)


def test_examples_count_by_content_wherever_they_lie(tmp_path: Path) -> None:
    table = "class\tfile\ttext\nbirds\tkite.html\nbirds\t\tan eagle\n"
    swapped = "class\ttext\tfile\nbirds\tan eagle\n\nbirds\t\tkite.html\n"
    one = fingerprint(with_examples(tmp_path / "one", table))
    assert fingerprint(with_examples(tmp_path / "two", swapped)) == one
    assert fingerprint(with_examples(tmp_path / "two", table.replace("an eagle", "an owl"))) != one
    changed = with_examples(tmp_path / "two", table)
    (tmp_path / "two" / "kite.html").write_text("<p>an owl", encoding="utf-8")
    assert fingerprint(changed) != one
