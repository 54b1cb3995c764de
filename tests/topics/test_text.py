"""Text as users write it."""

from __future__ import annotations

import pytest

from focused.topics.text import Unreadable, to_text


def test_a_mark_that_editors_put_before_text_is_no_part_of_it():
    assert to_text(b"\xef\xbb\xbfurl", "x") == "url"


def test_what_is_not_utf_8_is_told_with_its_place():
    with pytest.raises(Unreadable, match=r"^a\.tsv:2:3: not UTF-8: byte 0xe9$"):
        to_text(b"url\nca" + "é".encode("latin-1"), "a.tsv")
