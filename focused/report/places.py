"""Where a crawl is kept, as it is named on a command line: a JOBDIR, or a Redis server and a crawl on it."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from scrapy.exceptions import UsageError


def add_crawl_option(parser: argparse.ArgumentParser) -> None:
    """``--crawl NAME``."""
    parser.add_argument("--crawl", metavar="NAME", help="which crawl, where there are several on a Redis server")


def is_in_redis(place: str, crawl: str | None) -> bool:
    """Is it a server? UsageError where its address lacks redis://, and where a crawl is named in a JOBDIR."""
    if "://" in place:
        return True
    if re.fullmatch(r"[\w.-]+:\d{1,5}(/\d*)?", place) and not Path(place).exists():
        raise UsageError(f"there is no job in {place!r} (for a crawl in Redis: redis://{place})", print_help=False)
    if crawl is not None:
        raise UsageError(f"--crawl {crawl}: a JOBDIR holds one crawl only")
    return False
