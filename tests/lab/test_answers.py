"""The labels of a recorded web play the teacher of a comparison."""

from __future__ import annotations

from contextlib import closing

import pytest

from focused.frontier.records import read_records
from focused.lab.labels import LabelTeacher
from focused.topics.topic import Topic
from focused.visits.questions import Question
from tests.lab.test_compare import compare
from tests.lab.test_given import titled  # noqa: F401  (a fixture)
from tests.small_web import address

CRAWL = {"prioritizers": ["best-first"], "fast": True, "given": "words", "limits": ()}


def test_the_labels_say_yes_and_no_however_an_address_is_spelled():
    teacher = LabelTeacher(["http://a.example/x"])
    pages = [Question(url, "", "") for url in ("http://a.example/x", "https://A.example/x", "http://a.example/y")]
    assert teacher(pages, Topic(name="x")) == [True, True, False]


def test_a_crawl_asks_the_labels(small_web, titled, tmp_path):  # noqa: F811  (a fixture)
    compare(small_web, tmp_path, topics_file=titled, answers=7, **CRAWL)
    with closing(read_records(tmp_path / "crawls" / "stars" / "best-first-0" / "job")) as records:
        said = dict(records.execute("SELECT url, said FROM answers JOIN pages USING (link)").fetchall())
    on_topic = {address(number) for number in small_web.on_topic}
    assert len(said) == 7
    assert said == {url: "yes" if url.replace("https:", "http:") in on_topic else "no" for url in said}
    assert set(said.values()) == {"yes", "no"}
    with pytest.raises(ValueError, match="made with answers 7, not 0"):
        compare(small_web, tmp_path, topics_file=titled, resume=True, **CRAWL)
