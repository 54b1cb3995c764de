"""Where a crawl is kept, as it is named on a command line: a JOBDIR, or a Redis server and a crawl on it."""

from __future__ import annotations

import argparse

from scrapy.exceptions import UsageError


def add_crawl_option(parser: argparse.ArgumentParser) -> None:
    """``--crawl NAME``."""
    parser.add_argument("--crawl", metavar="NAME", help="which crawl, where there are several on a Redis server")


def is_in_redis(place: str, crawl: str | None) -> bool:
    """Is it a server? UsageError where a crawl is named in a JOBDIR."""
    if "://" in place:
        return True
    if crawl is not None:
        raise UsageError(f"--crawl {crawl}: a JOBDIR holds one crawl only")
    return False
