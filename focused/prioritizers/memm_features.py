"""What an MEMM crawler sees of pages and of links: the features of §3.4 of Liu, Milios, Korba (2008).

Of a page that was fetched: O1, its greatest cosine to a target; O2, that of its description (title and headings: a
`Page` keeps no meta tags); Ow, the keywords on it; O3, a keyword in the address of one of its links; O4, a keyword in
its own; O5, the words of the anchor that led to it and around it; O6, the words of the anchors on it.

Of a link whose page is not there yet: the words of its anchor, near it and of its address, the cosine of the words near
it, a keyword in its address; and of the page on which it stands O1, O2, O3 and the keywords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.critics.targets import Targets
from focused.pages.evidence import ON_PAGE, Evidence, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import LEXICON, Ids
from focused.pages.url_words import url_features, url_words
from focused.prioritizers.context import append_to_each, append_to_rows
from focused.prioritizers.features import Rows, anchor_spans, anchor_words, words_near

FEATURES = ("all", "words", "sim-meta")
OF_PAGE = (
    "cosine of the page",
    "cosine of its title and headings",
    "keyword in an address on it",
    "keyword in its address",
)
OF_LINK = (*OF_PAGE[:3], "cosine of the words near the link", "keyword in the address")

_HERE = 0
_MOST_ADDRESSES = 200
_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset(
    {
        "a",
        "abbr",
        "b",
        "big",
        "br",
        "code",
        "em",
        "font",
        "i",
        "img",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "tt",
        "u",
    }
)


@dataclass(frozen=True)
class Sight:
    """Which features are looked at, for which keywords (ids of words, sorted), against which targets."""

    features: str
    keywords: Ids
    targets: Targets | None
    near: int = 4

    def of_page(self, page: Page, led_by: Ids) -> Evidence:
        """A fetched page; ``led_by`` are the features of the links that led to it."""
        ids = [np.zeros(0, np.uint32)]
        if self.features != "sim-meta":
            ids.append(mix(self.keywords_on(page), _HERE))
        if self.features != "words":
            ids += [np.unique(led_by), mix(np.unique(anchor_words(page, page.links)[1]), ON_PAGE)]
        dense = np.zeros((1, len(OF_PAGE)), np.float32)
        if self.features != "words":
            dense[0] = [*self._page_numbers(page), self._named_in([page.url])[0]]
        row = np.concatenate(ids)
        return Evidence.of(np.array([0, len(row)]), row, dense)

    def of_links(self, page: Page, links: Links) -> Evidence:
        """Links of a page."""
        n = len(links)
        rows: Rows = (np.zeros(n + 1, np.int64), np.zeros(0, np.uint32))
        if not len(page.leaves):
            return Evidence.of(*rows, np.zeros((n, len(OF_LINK)), np.float32), links.first)
        near = words_near(page, links, self.near)
        if self.features != "sim-meta":
            rows = append_to_each(*append_to_rows(*rows, *near), mix(self.keywords_on(page), ON_PAGE))
        if self.features != "words":
            rows = append_to_rows(*rows, *anchor_words(page, links))
            rows = append_to_rows(*rows, *url_features(links.urls))
        dense = np.zeros((n, len(OF_LINK)), np.float32)
        if self.features != "words":
            dense[:, :3] = self._page_numbers(page)
            dense[:, 3] = self._cosines_near(page, links)
            dense[:, 4] = self._named_in(links.urls)
        return Evidence.of(*rows, dense, links.first)

    def keywords_on(self, page: Page) -> Ids:
        """The keywords that stand on a page."""
        return self.keywords[np.isin(self.keywords, page.bag[0])]

    def _page_numbers(self, page: Page) -> tuple[float, float, bool]:
        assert self.targets is not None
        likeness = self.targets.likeness(page)
        described = float(self.targets.read([described_by(page)])[0])
        return likeness, described, bool(self._named_in(page.links.urls[:_MOST_ADDRESSES]).any())

    def _cosines_near(self, page: Page, links: Links) -> NDArray[np.float32]:
        assert self.targets is not None
        begin, end = anchor_spans(page, links)
        spans = zip(np.maximum(begin - self.near, 0).tolist(), (end + self.near).tolist(), strict=True)
        return self.targets.read([page.ids[i:j] for i, j in spans])

    def _named_in(self, urls: Sequence[str]) -> NDArray[np.bool_]:
        known = set(self.keywords.tolist())
        return np.array([any(LEXICON[word] in known for word in url_words(url)) for url in urls], np.bool_)


def described_by(page: Page) -> Ids:
    """The words of a page's title and headings."""
    spans = []
    begin = -1
    for tag, leaf in zip(page.tags, page.tag_leaves, strict=True):
        if begin >= 0 and tag not in _INLINE:
            spans.append(page.ids[page.starts[begin] : page.starts[leaf]])
            begin = -1
        if tag in _HEADINGS:
            begin = leaf
    if begin >= 0:
        spans.append(page.ids[page.starts[begin] :])
    return np.concatenate([np.zeros(0, np.uint32), *spans])
