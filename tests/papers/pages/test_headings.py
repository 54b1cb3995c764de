"""What a page's author meant as headings."""

from __future__ import annotations

import pytest

from focused.pages.page import page_from_html
from focused.papers.pages.headings import as_heading, headings


def of(body):
    return headings(page_from_html(f"<body>{body}</body>", "http://h/"))


@pytest.mark.parametrize("tag", ["h1", "h3", "h6"])
def test_headings_by_tag(tag):
    assert of(f"<p>me</p><{tag}>Research  Interests:</{tag}>text") == ["research interests"]


def test_the_text_of_a_heading_may_stand_in_a_link():
    assert of("<h2><a href=/t><font>Teaching</font></a></h2>") == ["teaching"]


@pytest.mark.parametrize(
    "body",
    [
        "<p><b>Courses</b></p><p>CS1</p>",
        "<b>Courses</b><br>CS1",
        "<dl><dt>Courses<dd>CS1</dl>",
        "<table><tr><th>Courses<td>CS1</table>",
        "<ul><li><strong>Courses</strong></ul>",
    ],
)
def test_what_stands_bold_or_as_a_title_alone_in_its_block_is_one(body):
    assert of(body) == ["courses"]


@pytest.mark.parametrize("body", ["<p><b>Courses</b> are fun</p>", "<p>my <b>courses</b><p>x", "<p>Courses<p>x"])
def test_bold_words_in_a_sentence_are_none(body):
    assert of(body) == []


def test_each_counts_once_and_in_order():
    assert of("<h1>Teaching</h1><h2>Address</h2><h3>TEACHING</h3>") == ["teaching", "address"]


def test_a_sentence_is_no_heading_and_an_image_speaks_by_its_text():
    assert of("<h1>Welcome to the home page of the department</h1>") == []
    assert of("<h1><img src=x alt='Courses'></h1><h2></h2><h2> <!-- --> </h2>") == ["courses"]


def test_spelling_of_headings():
    assert as_heading("  Research\nINTERESTS: ") == "research interests"
    assert as_heading("one two three four five six") == ""
