"""Tables of labels, examples and links."""

from __future__ import annotations

import pytest

from focused.papers.paths.topics import read_table, read_topics


def test_a_table_has_columns_and_rows_and_knows_no_quotes(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('url\ttitle\nhttp://a/\t"A\nhttp://b/\n')
    rows = [{"url": "http://a/", "title": '"A'}, {"url": "http://b/", "title": ""}]
    assert read_table(path) == (["url", "title"], rows)


def test_an_empty_table_has_no_columns(tmp_path):
    (tmp_path / "a.tsv").touch()
    assert read_table(tmp_path / "a.tsv") == ([], [])


def test_what_is_no_table_is_told_with_its_line(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("url\ttitle\n" + "x" * 200_000)
    with pytest.raises(ValueError, match=r"a\.tsv:2: not a tab-separated table"):
        read_table(path)


def test_a_topic_may_say_what_its_user_calls_it(tmp_path):
    path = tmp_path / "a.topics.json"
    path.write_text('{"a": {"focus": [], "target_urls": [], "title": "x, y", "words": ["z"]}}')
    assert (read_topics(path)["a"].title, read_topics(path)["a"].words) == ("x, y", ["z"])
    path.write_text('{"a": {"focus": [], "target_urls": [], "words": "z"}}')
    with pytest.raises(ValueError, match=r"a\.topics\.json.*words"):
        read_topics(path)
