"""Has a crawl done what it was asked for?"""

from __future__ import annotations

from scrapy.crawler import Crawler

from focused.parts import is_store_broken
from focused.report.text import clean

BAD_USE, FAILED = 2, 1
_FAILURES = {
    "archive_broken": FAILED,
    "job_refused": BAD_USE,
    "not_taught": FAILED,
    "output_broken": FAILED,
    "refused": BAD_USE,
    "start_error": FAILED,
    "store_broken": FAILED,
}


def failure_of(crawler: Crawler) -> tuple[int, str]:
    """The exit code of a crawl that has ended, and why it did not do what it was asked for; 0 and '' if it did."""
    stats = crawler.stats
    reason = stats.get_value("finish_reason")
    if reason not in _FAILURES and is_store_broken(crawler):
        # Only when it was closed.
        reason = "store_broken"
    code = _FAILURES.get(reason, 0)
    if reason == "finished" and not (stats.get_value("focused/job/pages") or stats.get_value("item_scraped_count")):
        code = FAILED
    return code, clean(str(stats.get_value("focused/stopped_by") or reason)) if code else ""
