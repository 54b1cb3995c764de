"""What a path model sees of a page and of a link: the features of §5.3.2 of Sajjanhar's thesis (2008).

Of a page: its words, those of its title and of its address (with ``~``), its headings, and whether its tags repeat as
those of a list do. Of a link: the words of its anchor, those within ten words of it, and those of the address it leads
to. All are there or not; how often is not counted. Which of them are known is for the training to say, so headings are
features each by itself: a set of headings is learned. With a given set, one feature stands for all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import numpy as np

from focused.pages.evidence import NAMED, ON_PAGE, mix
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id, words
from focused.pages.url_words import url_features
from focused.papers.pages.headings import headings
from focused.papers.pages.repeats import repeats

_TIMES = (5, 10, 20, 40)
_SHORTEST = 3
_SHARES = (0.25, 0.5, 0.75)
_MOST_TITLE_WORDS = 20


@lru_cache(maxsize=16)  # of a page in the crawl it is asked twice, for its links and for its label
def page_features(page: Page, listed: tuple[str, ...] = ()) -> Ids:
    """The ids of the features of a page, sorted. ``listed`` are the headings that count; empty: all do."""
    named = [f"title:{word}" for word in words(page.title[:400])[:_MOST_TITLE_WORDS]]
    named += _heading_names(page, listed) + _repeat_names(page)
    # Not through the lexicon: no link's evidence holds them, so nobody asks for their names.
    ids = np.fromiter(map(word_to_id, named), np.uint32, len(named))
    return np.unique(
        np.concatenate([mix(page.bag[0], ON_PAGE), url_features([page.url], page.lexicon)[1], mix(ids, NAMED)])
    )


def _heading_names(page: Page, listed: Collection[str]) -> list[str]:
    found = headings(page)
    if listed:
        return ["heading"] if any(heading in listed for heading in found) else []
    return [f"heading:{heading}" for heading in found]


def _repeat_names(page: Page) -> list[str]:
    found = repeats(page.tags, _TIMES)
    lists = [(times, one) for times, one in zip(_TIMES, found, strict=True) if one.length >= _SHORTEST]
    share = max((one.share for _, one in lists), default=0.0)
    return [f"repeats:{times}" for times, _ in lists] + [f"repeats:{least:.0%}" for least in _SHARES if share >= least]
