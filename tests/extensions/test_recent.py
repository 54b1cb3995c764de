"""The pages that came in last, of which more or fewer may be wanted while a crawl runs."""

from __future__ import annotations

from scrapy.utils.test import get_crawler

from focused.extensions.recent import RecentPages
from focused.frontier.store import PageRecord


def test_as_many_are_kept_as_are_wanted_now() -> None:
    recent, lengths = RecentPages(get_crawler(), 0), []
    for most in (0, 0, 2, 2, 2, 3, 3, 1):
        recent.keep(most)
        recent.page_judged(PageRecord(1, "http://h.example/", 0.75, 1))
        lengths.append((len(recent), recent.found))
    assert lengths == [(n, n) for n in (0, 0, 1, 2, 2, 3, 3, 1)]
