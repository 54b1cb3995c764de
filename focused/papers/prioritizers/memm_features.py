"""What an MEMM crawler sees of pages and of links: the features of §3.4 of Liu, Milios, Korba (2008).

Of a page that was fetched: O1, its greatest cosine to a target; O2, that of its description (title, headings, and what
its meta tags give as keywords and description) to the topic's, or to the targets where the topic has none that can be
compared; Ow, the keywords on it; O3, a keyword in the address of one of its links; O4, a keyword in its own; O5, the
words of the anchor that led to it and around it; O6, the words of the anchors on it (of all: which one will be followed
is not known).

Of a link whose page is not there yet: the words of its anchor, near it and of its address, the cosine of the words near
it, a keyword in its address; and of the page on which it stands O1, O2, O3 and the keywords.

The sets of §4.2: ``words`` is Ow alone, ``sim-meta`` all but Ow. So with ``words`` all links of a page are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from focused.arrays import starts_of
from focused.critics.targets import Targets
from focused.pages.evidence import ADDRESS, ON_PAGE, Evidence, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.pages.url_words import url_features
from focused.papers.prioritizers.context import append_to_each
from focused.papers.prioritizers.features import Rows, anchor_spans, anchor_words, words_near
from focused.prioritizers.rows import append_to_rows

OF_PAGE = (
    "cosine of the page",
    "cosine of its description",
    "keyword in an address on it",
    "keyword in its address",
)
OF_LINK = (*OF_PAGE[:3], "cosine of the words near the link", "keyword in the address")

_HERE = 0
"""The channel of words on the page itself, ON_PAGE being that of the page on which a link stands."""
_NOTHING = np.zeros(0, np.uint32)
_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({
    "a", "abbr", "b", "big", "br", "code", "em", "font", "i", "img", "small", "span", "strong", "sub", "sup", "tt", "u",
})  # fmt: skip


@dataclass(frozen=True)
class View:
    """A page as seen by itself: its keywords, and O1 to O4."""

    page: Page
    keywords: Ids
    numbers: NDArray[np.float32]


@dataclass(frozen=True)
class Sight:
    """Which features are looked at, for which keywords (ids of words), against which targets.

    ``near``: how many words are looked at before a link, and after it. ``description``: the ids of the words of the
    topic's.
    """

    features: str
    keywords: Ids
    targets: Targets | None
    near: int
    description: Ids = field(default_factory=lambda: _NOTHING)

    @cached_property
    def described(self) -> Targets:
        """What the description of a page is compared with."""
        assert self.targets is not None
        return self.targets.described_by(self.description) or self.targets

    def view(self, page: Page) -> View:
        """What is seen of a page, whoever asks."""
        numbers = np.zeros(len(OF_PAGE), np.float32)
        if self.features != "words":
            assert self.targets is not None
            named = self._named(url_features([page.url, *page.links.urls], page.lexicon))
            numbers[0] = self.targets.likeness(page)
            numbers[1] = self.described.text_likeness([described_by(page)])[0]
            numbers[2:] = named[1:].any(), named[0]
        return View(page, self.keywords[np.isin(self.keywords, page.bag[0])], numbers)

    def of_page(self, view: View) -> Evidence:
        """A fetched page, as one row, however it was reached."""
        ids = _NOTHING
        if self.features != "sim-meta":
            ids = mix(view.keywords, _HERE)
        if self.features != "words":
            on_it = mix(np.unique(anchor_words(view.page, view.page.links)[1]), ON_PAGE)
            ids = np.concatenate([ids, on_it])
        return Evidence.of(np.array([0, len(ids)]), ids, view.numbers[None])

    def on_arrival(self, seen: Evidence, led_by: Ids) -> Evidence:
        """What is seen of a page (one row) that was reached by links with these features: O5 is added."""
        if self.features == "words":
            return seen
        ids = np.concatenate([seen.ids, np.unique(led_by)])
        return Evidence.of(np.array([0, len(ids)]), ids, seen.dense)

    def of_links(self, view: View, links: Links) -> Evidence:
        """Links of a page, a row each."""
        page, n = view.page, len(links)
        rows: Rows = (np.zeros(n + 1, np.int64), _NOTHING)
        dense = np.zeros((n, len(OF_LINK)), np.float32)
        if self.features != "sim-meta":
            rows = append_to_each(*rows, mix(view.keywords, ON_PAGE))
        if self.features != "words":
            of_addresses = url_features(links.urls, page.lexicon)
            rows = append_to_rows(*rows, *anchor_words(page, links))
            rows = append_to_rows(*rows, *words_near(page, links, self.near))
            rows = append_to_rows(*rows, *of_addresses)
            dense[:, :3] = view.numbers[:3]
            dense[:, 3] = self._cosines_near(page, links)
            dense[:, 4] = self._named(of_addresses)
        return Evidence.of(*rows, dense, links.first)

    def _cosines_near(self, page: Page, links: Links) -> NDArray[np.float32]:
        assert self.targets is not None
        begin, end = anchor_spans(page, links)
        spans = zip(np.maximum(begin - self.near, 0).tolist(), (end + self.near).tolist(), strict=True)
        return self.targets.text_likeness([page.ids[i:j] for i, j in spans])

    def _named(self, addresses: Rows) -> NDArray[np.bool_]:
        """Is there a keyword in each address?"""
        starts, ids = addresses
        hits = starts_of(np.isin(ids, mix(self.keywords, ADDRESS)))[starts]
        named: NDArray[np.bool_] = np.diff(hits) > 0
        return named


def described_by(page: Page) -> Ids:
    """The words of a page's title and headings, and of its meta tags."""
    spans = [page.lexicon.text_to_ids(page.about)]
    begin = -1
    for tag, leaf in zip(page.tags, page.tag_leaves, strict=True):
        if begin >= 0 and tag not in _INLINE:
            spans.append(page.ids[page.starts[begin] : page.starts[leaf]])
            begin = -1
        if tag in _HEADINGS:
            begin = leaf
    if begin >= 0:
        spans.append(page.ids[page.starts[begin] :])
    return np.concatenate(spans)
