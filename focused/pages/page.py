"""A fetched page, parsed once: leaves, words, links.

Leaves are numbered as in section 2.2.1 of Chakrabarti, Punera, Subramanyam (WWW 2002): all leaves of the tag tree
consecutively from left to right, those without text too. The leaves under the ``<a href>`` that makes a link are
at offset 0 from it, leaves to the left at -1, -2..., to the right at +1, +2...

What counts as a leaf here: a run of text, or an element without children and without text (``<br>``, ``<img>``,
an empty cell). Blank runs between tags are the author's indentation, not leaves; scripts, styles and comments are
not rendered and are left out. The words of an image are its ``alt`` text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focused.pages import guard
from focused.pages.crumbs import DEEPEST, Crumbs
from focused.pages.tokens import LEXICON, Ids, Lexicon, unspaced, words
from focused.pages.urls import LONGEST, join, joiner_of

if TYPE_CHECKING:
    from focused.critics.base import Verdict

_SKIPPED = frozenset({"script", "style", "template"})
_FRAMES = frozenset({"frame", "iframe"})
_FEW_WORDS = 20
_CHARACTERS_A_WORD, _CHARACTERS_AN_UNSPACED_WORD = 20, 2
_LONGEST_TITLE = 10_000
_LONGEST_ABOUT = 2_000
_ABOUT = frozenset({"keywords", "description"})


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The most that is taken from one page; what is left out is counted in ``Page.left_out``."""

    links: int = 2_000
    leaves: int = 20_000
    words: int = 100_000


@dataclass(slots=True)
class Links:
    """The links of one page, column by column; leaves ``first[i]`` to ``last[i]`` are the text of link *i*.

    ``paths[i]`` is the id of the names of the elements around the link, ``ends[i]`` that of the last two.
    """

    urls: list[str]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    paths: Ids
    ends: Ids

    def __len__(self) -> int:
        return len(self.urls)

    def select(self, rows: NDArray[np.int64] | list[int]) -> Links:
        """Some of the links, in the order given."""
        rest = (self.first[rows], self.last[rows], self.paths[rows], self.ends[rows])
        return Links([self.urls[i] for i in rows], *rest)


@dataclass(eq=False)
class Page:
    """A page *u*: its leaves from left to right, the ids of their words, and its links.

    Words of leaf *i* are ``ids[starts[i]:starts[i + 1]]``. ``verdict`` is filled in by whoever judges it first.
    ``tags`` are its start tags in order, ``tag_leaves`` the number of leaves before each. ``lexicon`` gives the ids of
    words, and is that of the crawl that fetched the page. ``about`` is what its meta tags give as keywords and
    description; it is not among its words.
    """

    url: str
    title: str
    leaves: list[str]
    ids: Ids
    starts: NDArray[np.int64]
    links: Links
    left_out: dict[str, int] = field(default_factory=dict)
    verdict: Verdict | None = None
    tags: list[str] = field(default_factory=list)
    tag_leaves: list[int] = field(default_factory=list)
    lexicon: Lexicon = field(default_factory=lambda: LEXICON, repr=False)
    about: str = ""

    @property
    def text(self) -> str:
        """The text of the page, one line per leaf."""
        return "\n".join(leaf for leaf in self.leaves if leaf)

    def anchor(self, link: int) -> str:
        """The text at offset 0 of one link."""
        return self.text_of(int(self.links.first[link]), int(self.links.last[link]) + 1)

    def text_of(self, first: int, end: int) -> str:
        """The text of some leaves, in one line."""
        return " ".join(" ".join(self.leaves[first:end]).split())

    @classmethod
    def of_text(cls, text: str, url: str = "") -> Page:
        """A page that consists of a single text."""
        nowhere = np.zeros(0, np.uint32)
        links = Links([], np.zeros(0, np.int32), np.zeros(0, np.int32), nowhere, nowhere)
        return cls(url, "", [text], *LEXICON.leaves_to_ids([text]), links)

    @cached_property
    def bag(self) -> tuple[Ids, NDArray[np.int64]]:
        """The distinct ids of the page's words, sorted, and how often each occurs."""
        return np.unique(self.ids, return_counts=True)

    @property
    def is_short(self) -> bool:
        """Whether it has so few words that unrelated pages may share them."""
        return len(self.ids) < _FEW_WORDS

    @cached_property
    def digest(self) -> int:
        """A number shared by pages with the same content: the same words and, for short pages, the same links.

        Short pages that differ only in the addresses of their links share its upper half.
        """
        words = self.ids.tobytes()
        if not self.is_short:
            return _number(words, 8) >> 1
        shape = _number(words + _bytes("\n".join(self.tags)), 4) >> 1
        return shape << 32 | _number(_bytes("\n".join(self.links.urls)), 4)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _number(data: bytes, size: int) -> int:
    return int.from_bytes(blake2b(data, digest_size=size).digest(), "big")


class Text:
    """A few words of a page, such as a link's: their ids, and, only if it is asked for, the text."""

    __slots__ = ("_begin", "_page", "ids")

    def __init__(self, page: Page, begin: int, end: int) -> None:
        self._page, self._begin = page, begin
        self.ids = page.ids[begin:end]

    @classmethod
    def of(cls, text: str) -> Text:
        """A text by itself."""
        page = Page.of_text(text)
        return cls(page, 0, len(page.ids))

    @property
    def text(self) -> str:
        """The text of the leaves that hold the words; of a leaf that is cut, the words alone."""
        page, begin, end = self._page, self._begin, self._begin + len(self.ids)
        if begin == end:
            return ""
        first, last = np.searchsorted(page.starts, [begin, end - 1], side="right").tolist()
        if page.starts[first - 1] == begin and page.starts[last] == end:
            return page.text_of(first - 1, last)
        skipped = int(begin - page.starts[first - 1])
        return " ".join(words(" ".join(page.leaves[first - 1 : last]))[skipped : skipped + end - begin])


def texts_of(page: Page, begin: NDArray[np.int64], end: NDArray[np.int64]) -> list[Text]:
    """The words of a page from each beginning to the end beside it."""
    return [Text(page, i, j) for i, j in zip(begin.tolist(), end.tolist(), strict=True)]


def parse_page(
    root: Any,
    url: str,
    limits: PageLimits = PageLimits(),
    *,
    lexicon: Lexicon = LEXICON,
    left_out: Mapping[str, int] = MappingProxyType({}),
) -> Page:
    """Turn an lxml tree into a `Page`, in one walk; ``left_out`` says what the tree does not hold of it."""
    walk = _Walk(limits, left_out)
    walk.run(root)
    leaves = walk.leaves
    cut = _cut(leaves, limits.words)
    ids, starts = lexicon.leaves_to_ids(leaves)
    if cut or len(ids) > limits.words:
        walk.left_out["words"] = max(len(ids) - limits.words, 0) + cut // _CHARACTERS_A_WORD
        ids = ids[: limits.words]
        starts = np.minimum(starts, limits.words)
    return Page(
        url=url,
        title=" ".join(walk.title.split()),
        leaves=leaves,
        ids=ids,
        starts=starts,
        links=walk.resolved_links(url),
        left_out=walk.left_out,
        tags=walk.tags,
        tag_leaves=walk.tag_leaves,
        lexicon=lexicon,
        about="\n".join(walk.about),
    )


def _cut(leaves: list[str], words: int) -> int:
    """Empty the leaves that are too much text to be looked at; how many characters that were."""
    length = sum(map(len, leaves))
    if length <= words * _CHARACTERS_AN_UNSPACED_WORD:
        return 0
    room = words * _CHARACTERS_A_WORD
    for i, leaf in enumerate(leaves):
        kept = leaf[:room]
        more = unspaced(kept) * (_CHARACTERS_A_WORD // _CHARACTERS_AN_UNSPACED_WORD - 1)
        if more > room - len(kept):
            kept = kept[: room * _CHARACTERS_AN_UNSPACED_WORD // _CHARACTERS_A_WORD]
        leaves[i] = kept
        room = max(room - len(kept) - more, 0)
    return length - sum(map(len, leaves))


def page_from_html(html: str | bytes, url: str, limits: PageLimits = PageLimits()) -> Page:
    """Parse HTML that did not come through Scrapy (a file, an example's text)."""
    if isinstance(html, str):
        root, left_out = guard.parse(html.encode("utf-8", "surrogatepass"))
    else:
        root, left_out = guard.parse(html, encoding=None)
    return parse_page(root, url, limits, left_out=left_out)


class _Walk:
    """One pass over the tree, from left to right."""

    def __init__(self, limits: PageLimits, left_out: Mapping[str, int]) -> None:
        self.limits = limits
        self.leaves: list[str] = []
        self.tags: list[str] = []
        self.tag_leaves: list[int] = []
        self.title = ""
        self.about: list[str] = []
        self.base = ""
        self.left_out = dict(left_out)
        self._hrefs: list[str] = []
        self._first: list[int] = []
        self._last: list[int] = []
        self._paths: list[int] = []
        self._ends: list[int] = []
        self._crumbs = Crumbs()

    def run(self, root: Any) -> None:  # noqa: PLR0912, PLR0915  # the hot loop of the crawler: calls would double its cost
        leaves = self.leaves
        add_tag, add_tag_leaf = self.tags.append, self.tag_leaves.append
        open_links: list[tuple[Any, int]] = []
        stack: list[tuple[Any, Any]] = []
        most_leaves = self.limits.leaves
        children = iter((root,))
        parent = None
        while True:
            element = next(children, None)
            if element is None:
                if parent is None:
                    break
                if open_links and open_links[-1][0] is parent:
                    self._close_link(open_links.pop()[1])
                tail = parent.tail
                parent, children = stack.pop()
                if tail and not tail.isspace() and parent is not None:
                    leaves.append(tail)
                continue
            if len(leaves) >= most_leaves:
                self.left_out["leaves"] = 1
                break
            tag = element.tag
            if not isinstance(tag, str) or tag in _SKIPPED:
                tail = element.tail
                if tail and not tail.isspace() and parent is not None:
                    leaves.append(tail)
                continue
            add_tag(tag)
            add_tag_leaf(len(leaves))
            link = self._open_link(tag, element, len(leaves))
            if link is not None:
                open_links.append((element, link))
                self._place(stack, parent)
            text = element.text
            if text and not text.isspace():
                leaves.append(text)
                if tag == "title" and not self.title:
                    self.title = text[:_LONGEST_TITLE]
                    self._leave_out("title", len(text) - len(self.title))
            elif not len(element):
                if tag not in {"html", "head", "body", "title", "meta", "link", "base"}:
                    leaves.append((element.get("alt") or "") if tag in {"img", "area"} else "")
                elif tag == "meta":
                    self._take_about(element.get("name"), element.get("content"))
            stack.append((parent, children))
            parent, children = element, iter(element)
        for _, link in open_links:
            self._last[link] = max(len(leaves) - 1, self._first[link])
        if len(leaves) > most_leaves:
            # Many elements have ended at once.
            del leaves[most_leaves:]
            self.left_out["leaves"] = 1
        # What follows </html> is a tree of its own to the parser.
        self._leave_out("after_html", sum(1 for other in root.itersiblings() for _ in other.iter("*")))

    def _close_link(self, link: int) -> None:
        if self._first[link] == len(self.leaves):
            # Nothing in it is rendered. Without a leaf, its neighbour's text would be taken for its own.
            self.leaves.append("")
        self._last[link] = len(self.leaves) - 1

    def _open_link(self, tag: str, element: Any, leaf: int) -> int | None:
        if tag in {"a", "area"}:
            href = element.get("href")
        elif tag in _FRAMES:
            href = element.get("src")
        else:
            if tag == "base" and not self.base:
                self.base = element.get("href") or ""
                if len(self.base) > LONGEST:
                    self._leave_out("addresses", 1)
                    self.base = ""
            return None
        if href is None:
            return None
        if len(self._hrefs) >= self.limits.links:
            self._leave_out("links", 1)
            return None
        self._hrefs.append(href)
        self._first.append(leaf)
        self._last.append(leaf)
        return len(self._hrefs) - 1

    def _take_about(self, name: str | None, content: str | None) -> None:
        if name and content and name[:_LONGEST_ABOUT].strip().lower() in _ABOUT:
            kept = content[: max(_LONGEST_ABOUT - sum(map(len, self.about)), 0)]
            if kept:
                self.about.append(kept)
            self._leave_out("meta", len(content) - len(kept))

    def _leave_out(self, what: str, count: int) -> None:
        if count:
            self.left_out[what] = self.left_out.get(what, 0) + count

    def _place(self, stack: list[tuple[Any, Any]], parent: Any) -> None:
        # The first on the stack is what is above the root: nothing.
        around = (*stack[: DEEPEST + 1], (parent, None))
        path, end = self._crumbs.of([above for above, _ in around if above is not None])
        self._paths.append(path)
        self._ends.append(end)

    def resolved_links(self, url: str) -> Links:
        base = join(url, self.base)
        joiner = joiner_of(url, self.base)
        targets = [joiner.join(href) if len(href) <= LONGEST else href for href in self._hrefs]
        kept = [row for row, target in enumerate(targets) if target and len(target) <= LONGEST]
        self._leave_out("addresses", sum(len(target) > LONGEST for target in targets) + (len(base) > LONGEST))
        first = np.array(self._first, np.int32)[kept]
        # A link on a page cut short may have more leaves than were kept.
        last = np.minimum(np.array(self._last, np.int32)[kept], max(len(self.leaves) - 1, 0))
        paths, ends = (np.array(ids, np.uint32)[kept] for ids in (self._paths, self._ends))
        return Links([targets[row] for row in kept], first, last, paths, ends)
