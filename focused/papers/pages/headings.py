"""Headings of a page: the texts of ``h1`` to ``h6``, and bold text or a title that is alone in its block.

After Sajjanhar (2008), §5.3.2: "Teaching", "Courses", "Research interests" distinguish a teacher's page from others.
What the author meant as a heading is often ``<b>`` or ``<dt>`` before a line break: this counts if a block begins with
it and nothing but another block follows. It is known from the start tags alone, which pages keep; text that goes on
behind a closed block without a tag of its own hides the heading before it.
"""

from __future__ import annotations

from focused.pages.page import Page
from focused.pages.tokens import words

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TITLES = frozenset({"b", "strong", "dt", "th"})
_BLOCKS = _HEADINGS | {
    "address", "article", "blockquote", "body", "br", "caption", "center", "dd", "div", "dl", "dt", "fieldset",
    "footer", "form", "header", "hr", "img", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
_MOST_WORDS = 5
_MOST = 60


def headings(page: Page) -> list[str]:
    """The headings of a page in lower case, each once, in order. Those of many words are sentences, and left out."""
    blocks = {leaf for tag, leaf in zip(page.tags, page.tag_leaves, strict=True) if tag in _BLOCKS}
    count = len(page.leaves)
    blocks.add(count)
    found: dict[str, None] = {}
    for tag, leaf in zip(page.tags, page.tag_leaves, strict=True):
        if leaf < count and (tag in _HEADINGS or (tag in _TITLES and leaf in blocks and leaf + 1 in blocks)):
            found[as_heading(page.leaves[leaf])] = None
            if len(found) > _MOST:
                break
    found.pop("", None)
    return list(found)


def as_heading(text: str) -> str:
    """The words of a heading, so that spelling and numbers of spaces do not matter; '' if it is too long for one."""
    found = words(text[:200])
    return " ".join(found) if len(found) <= _MOST_WORDS else ""
