"""Text and tables as users write them."""

from __future__ import annotations

import pytest

from focused.topics.text import NotUtf8, read_table, to_text


def test_a_mark_that_editors_put_before_text_is_no_part_of_it():
    assert to_text(b"\xef\xbb\xbfurl", "x") == "url"


def test_what_is_not_utf_8_is_told_with_its_place():
    with pytest.raises(NotUtf8, match=r"^a\.tsv:2:3: not UTF-8: byte 0xe9$"):
        to_text(b"url\nca" + "é".encode("latin-1"), "a.tsv")


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
