"""The topics that come with the package are sound, also inside a zipped egg."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from focused.pages.tokens import words
from focused.topics.examples import read_examples
from focused.topics.identity import fingerprint, slug
from focused.topics.library import shipped_topics
from focused.topics.topic import load_topic

PACKAGE = Path(__file__).parents[2] / "focused"
NAMES = [
    "astronomy",
    "chess",
    "classical-composers",
    "fly-fishing",
    "ice-hockey",
    "meteorology",
    "obesity",
    "university-courses",
]


def test_eight_topics_are_shipped() -> None:
    assert shipped_topics() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_topic_is_ready_to_crawl(name: str) -> None:
    topic = load_topic(name, seeds_needed=True)
    assert slug(topic) == name
    assert 15 <= len(topic.keywords) <= 40
    assert 3 <= len(topic.seeds) <= 6
    assert all(seed.startswith("https://") for seed in topic.seeds)
    assert len(words(topic.description)) > 20
    assert topic.path is None
    keywords = [tuple(words(keyword)) for keyword in topic.keywords]
    assert len(set(keywords)) == len(keywords)


def test_the_worked_example_has_enough_texts_of_each_class() -> None:
    topic = load_topic("university-courses")
    examples = read_examples(topic)
    classes = Counter(example.class_name for example in examples)
    assert classes == {"course.home": 16, "course.material": 16, "other": 18}
    assert all(len(words(example.text)) > 40 for example in examples)
    assert topic.focus == ["course"]


def test_the_shipped_topics_are_read_from_a_zipped_egg(tmp_path: Path) -> None:
    egg = tmp_path / "focused.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in [*PACKAGE.rglob("*.py"), *PACKAGE.glob("topics/shipped/*"), PACKAGE / "entry_points.txt"]:
            if path.is_file():
                archive.write(path, Path("focused") / path.relative_to(PACKAGE))
    code = (
        "from focused.topics import library, topic, identity\n"
        "print(library.__file__)\n"
        "for name in library.shipped_topics(): print(name, identity.fingerprint(topic.load_topic(name)))"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(egg)},
        capture_output=True,
        text=True,
        check=True,
        timeout=280,
    )
    file, *lines = run.stdout.splitlines()
    assert file.startswith(str(egg))
    assert lines == [f"{name} {fingerprint(load_topic(name))}" for name in NAMES]
