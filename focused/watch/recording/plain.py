"""A page of a stranger's as plain HTML of ours: its text and its links, and nothing that does anything.

Nothing is taken out of the page; a new one is written, of a few elements that only arrange text. Their text is
escaped, and the only attributes are numbers and directions that are checked, and addresses of ours: the links that the
crawler sees on the page lead to their numbers. Images are shown by their words, styles not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from lxml import etree

from focused.pages.urls import LONGEST, joiner_of

_WORDS = """
    abbr address article aside b blockquote caption cite code dd del div dl dt em figcaption figure footer h1 h2 h3 h4
    h5 h6 header i ins kbd li main mark nav ol p pre q s samp section small span strong sub sup table tbody td tfoot th
    thead time tr tt u ul var
"""
_KEPT = frozenset(_WORDS.split())
_EMPTY = frozenset({"br", "hr"})
_SKIPPED = frozenset({"script", "style", "template", "title"})
_FRAMES = frozenset({"frame", "iframe"})
_BLOCKS = frozenset({"center", "fieldset", "form", "option"})
_NUMBERS = ("colspan", "rowspan")
_MOST_SPANNED = 1_000
MOST_CHARACTERS = 4_000_000
"""What is longer is cut there; the page says so."""
_CUT = "<hr><p>The page is longer: the rest is left out here.</p>"


def plain_html(root: Any, url: str, links: Iterable[str]) -> str:
    """What is in the body of our page, for the tree of another; the address of link *n* is ``n``."""
    numbers = {link: number for number, link in enumerate(links)}
    base = next((one.get("href") or "" for one in root.iter("base")), "")
    joiner = joiner_of(url, base)

    def number_of(href: str | None) -> int | None:
        return numbers.get(joiner.join(href)) if href is not None and len(href) <= LONGEST else None

    return _PlainWriter(number_of).write(root)


class _PlainWriter:
    def __init__(self, number_of: Callable[[str | None], int | None]) -> None:
        self._number_of = number_of
        self._parts: list[str] = []
        self._size = 0

    def write(self, root: Any) -> str:
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if self._size > MOST_CHARACTERS:
                # The browser closes what is open.
                self._parts.append(_CUT)
                break
            if event == "start":
                if element.tag in _SKIPPED or element.tag in _FRAMES:
                    walk.skip_subtree()
                self._begin(element)
            elif event == "end":
                self._end(element.tag)
            if event != "start" and element is not root:
                self._text(element.tail)
        return "".join(self._parts)

    def _add(self, part: str) -> None:
        self._parts.append(part)
        self._size += len(part)

    def _text(self, text: str | None) -> None:
        if text:
            self._add(escape(text))

    def _begin(self, element: Any) -> None:
        tag = element.tag
        if tag in _SKIPPED:
            return
        if tag in {"a", "area"} or tag in _FRAMES:
            self._link(element)
        elif tag == "img":
            # An image may be all that a link has.
            self._add(f"[{escape((element.get('alt') or '').strip() or 'image')}]")
        elif tag in _KEPT or tag in _EMPTY:
            self._add(f"<{tag}{''.join(_attributes(element))}>")
        elif tag in _BLOCKS:
            self._add("<div>")
        if tag not in _FRAMES:
            self._text(element.text)

    def _link(self, element: Any) -> None:
        is_frame = element.tag in _FRAMES
        number = self._number_of(element.get("src" if is_frame else "href"))
        self._add("<a>" if number is None else f'<a href="{number}">')
        if is_frame:
            self._add("[frame]</a>")
        elif element.tag == "area":
            self._add(f"[{escape((element.get('alt') or '').strip() or 'area')}]")

    def _end(self, tag: str) -> None:
        if tag in _KEPT:
            self._add(f"</{tag}>")
        elif tag in {"a", "area"}:
            self._add("</a>")
        elif tag in _BLOCKS:
            self._add("</div>")


def _attributes(element: Any) -> Iterable[str]:
    for name in _NUMBERS:
        value = element.get(name) or ""
        if value.isascii() and value.isdecimal() and len(value) < 5 and int(value) <= _MOST_SPANNED:
            yield f' {name}="{value}"'
    if (element.get("dir") or "").lower() in {"ltr", "rtl"}:
        yield f' dir="{element.get("dir").lower()}"'
